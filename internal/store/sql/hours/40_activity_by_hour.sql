-- activity_by_minute of an hour of arrival, in stretches of minutes that are joined by
-- silences of at most JoinGap minutes. Keys that are no longer found get zeros.
INSERT INTO {{.Database}}.activity_by_hour
    (hour, arrived, lead, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, first, last, calls, version)
SELECT hour, {{.Hour}}, lead, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, first, max(s.last), sum(s.calls), {{.Version}}
FROM
(
    SELECT hour, lead, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, stretch[1].1 AS first, stretch[-1].1 AS last, arraySum(x -> x.2, stretch) AS calls
    FROM
    (
        SELECT toStartOfHour(m.minute) AS hour, toUInt32(greatest(dateDiff('second', m.arrived, m.minute), 0)) AS lead, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id,
            arraySort(groupArray((m.minute, m.calls))) AS minutes,
            arrayJoin(arraySplit((x, silence) -> silence > 60 * ({{.JoinGap}} + 1), minutes, arrayDifference(arrayMap(x -> toUnixTimestamp(x.1), minutes)))) AS stretch
        FROM {{.Database}}.activity_by_minute AS m FINAL
        WHERE m.calls > 0 AND m.arrived >= {{.Hour}} AND m.arrived < {{.HourEnd}}
        GROUP BY hour, lead, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id
    )
    UNION ALL
    SELECT hour, lead, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, first, last, toUInt64(0) AS calls
    FROM {{.Database}}.activity_by_hour
    WHERE arrived = {{.Hour}}
) AS s
GROUP BY hour, lead, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, first
