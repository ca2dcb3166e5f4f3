-- What errors_by_minute tells, by hour: settled hours of arrival from errors_by_hour, the
-- others from the minutes. Each key once.
CREATE VIEW IF NOT EXISTS {{.Database}}.errors_hourly{{.OnCluster}} AS
WITH (SELECT through FROM {{.Database}}.hours_settled) AS settled
SELECT hour, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, shape, error_kind, error_code, legacy_error_kind, http_status, retryable, valid, off_taxonomy, opaque, errors, unreadable, cut, weighted_errors
FROM {{.Database}}.errors_by_hour FINAL
WHERE arrived < settled
UNION ALL
SELECT toStartOfHour(m.minute) AS hour, m.arrived AS arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, shape, error_kind, error_code, legacy_error_kind, http_status, retryable, valid, off_taxonomy, opaque, errors, unreadable, cut, weighted_errors
FROM {{.Database}}.errors_by_minute AS m FINAL
WHERE m.arrived >= settled
