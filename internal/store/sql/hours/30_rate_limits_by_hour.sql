-- rate_limits_by_minute of an hour of arrival, by hour of the event.
-- Keys of the hour that are no longer found get zeros.
INSERT INTO {{.Database}}.rate_limits_by_hour
    (hour, arrived, lead, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, records, least_remaining, at_zero, retry_after_count, retry_after_ms_sum, retry_after_ms_max, version)
SELECT hour, {{.Hour}}, lead, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool,
    sum(s.records), min(s.least_remaining), sum(s.at_zero), sum(s.retry_after_count), sum(s.retry_after_ms_sum), max(s.retry_after_ms_max), {{.Version}}
FROM
(
    SELECT toStartOfHour(m.minute) AS hour, toUInt32(greatest(dateDiff('second', m.arrived, m.minute), 0)) AS lead, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, records, least_remaining, at_zero, retry_after_count, retry_after_ms_sum, retry_after_ms_max
    FROM {{.Database}}.rate_limits_by_minute AS m FINAL
    WHERE m.arrived >= {{.Hour}} AND m.arrived < {{.HourEnd}}
    UNION ALL
    SELECT hour, lead, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, toUInt64(0) AS records, CAST(NULL, 'Nullable(Float64)') AS least_remaining, toUInt64(0) AS at_zero, toUInt64(0) AS retry_after_count, toUInt64(0) AS retry_after_ms_sum, toUInt64(0) AS retry_after_ms_max
    FROM {{.Database}}.rate_limits_by_hour
    WHERE arrived = {{.Hour}}
) AS s
GROUP BY hour, lead, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool
