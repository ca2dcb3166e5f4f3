-- calls_by_minute of an hour of arrival, by hour of the event.
-- Keys of the hour that are no longer found get zeros.
INSERT INTO {{.Database}}.calls_by_hour
    (hour, arrived, lead, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, outcome, mistake, calls, weighted_calls, duration_ns_sum, duration_count, version)
SELECT hour, {{.Hour}}, lead, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, outcome, mistake,
    sum(s.calls), sum(s.weighted_calls), sum(s.duration_ns_sum), sum(s.duration_count), {{.Version}}
FROM
(
    SELECT toStartOfHour(m.minute) AS hour, toUInt32(greatest(dateDiff('second', m.arrived, m.minute), 0)) AS lead, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, outcome, mistake, calls, weighted_calls, duration_ns_sum, duration_count
    FROM {{.Database}}.calls_by_minute AS m FINAL
    WHERE m.arrived >= {{.Hour}} AND m.arrived < {{.HourEnd}}
    UNION ALL
    SELECT hour, lead, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, outcome, mistake, toUInt64(0) AS calls, toUInt64(0) AS weighted_calls, toUInt64(0) AS duration_ns_sum, toUInt64(0) AS duration_count
    FROM {{.Database}}.calls_by_hour
    WHERE arrived = {{.Hour}}
) AS s
GROUP BY hour, lead, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, outcome, mistake
