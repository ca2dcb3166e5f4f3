-- errors_by_minute of an hour of arrival, by hour of the event.
-- Keys of the hour that are no longer found get zeros.
INSERT INTO {{.Database}}.errors_by_hour
    (hour, arrived, lead, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, shape, error_kind, error_code, legacy_error_kind, http_status, retryable, valid, off_taxonomy, opaque, errors, unreadable, cut, weighted_errors, version)
SELECT hour, {{.Hour}}, lead, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, shape, error_kind, error_code, legacy_error_kind, http_status, retryable, valid, off_taxonomy, opaque,
    sum(s.errors), sum(s.unreadable), sum(s.cut), sum(s.weighted_errors), {{.Version}}
FROM
(
    SELECT toStartOfHour(m.minute) AS hour, toUInt32(greatest(dateDiff('second', m.arrived, m.minute), 0)) AS lead, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, shape, error_kind, error_code, legacy_error_kind, http_status, retryable, valid, off_taxonomy, opaque, errors, unreadable, cut, weighted_errors
    FROM {{.Database}}.errors_by_minute AS m FINAL
    WHERE m.arrived >= {{.Hour}} AND m.arrived < {{.HourEnd}}
    UNION ALL
    SELECT hour, lead, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, shape, error_kind, error_code, legacy_error_kind, http_status, retryable, valid, off_taxonomy, opaque, toUInt64(0) AS errors, toUInt64(0) AS unreadable, toUInt64(0) AS cut, toUInt64(0) AS weighted_errors
    FROM {{.Database}}.errors_by_hour
    WHERE arrived = {{.Hour}}
) AS s
GROUP BY hour, lead, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, shape, error_kind, error_code, legacy_error_kind, http_status, retryable, valid, off_taxonomy, opaque
