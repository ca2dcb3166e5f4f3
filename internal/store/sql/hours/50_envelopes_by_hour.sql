-- errors_by_minute of an hour of arrival, by hour of the event.
-- Keys of the hour that are no longer found get zeros.
INSERT INTO {{.Database}}.envelopes_by_hour
    (hour, arrived, lead, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, envelopes, unreadable, cut, version)
SELECT hour, {{.Hour}}, lead, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id,
    sum(s.envelopes), sum(s.unreadable), sum(s.cut), {{.Version}}
FROM
(
    SELECT toStartOfHour(m.minute) AS hour, toUInt32(greatest(dateDiff('second', m.arrived, m.minute), 0)) AS lead, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id,
        if(shape = 'mcp_envelope_v1', m.errors, 0) AS envelopes, m.unreadable AS unreadable, m.cut AS cut
    FROM {{.Database}}.errors_by_minute AS m FINAL
    WHERE m.arrived >= {{.Hour}} AND m.arrived < {{.HourEnd}}
    UNION ALL
    SELECT hour, lead, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id,
        toUInt64(0) AS envelopes, toUInt64(0) AS unreadable, toUInt64(0) AS cut
    FROM {{.Database}}.envelopes_by_hour
    WHERE arrived = {{.Hour}}
) AS s
GROUP BY hour, lead, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id
