-- What calls_by_minute tells, by hour: settled hours of arrival from calls_by_hour, the
-- others from the minutes. Each key once.
CREATE VIEW IF NOT EXISTS {{.Database}}.calls_hourly{{.OnCluster}} AS
WITH (SELECT through FROM {{.Database}}.hours_settled) AS settled
SELECT hour, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, outcome, mistake, calls, weighted_calls, duration_ns_sum, duration_count
FROM {{.Database}}.calls_by_hour FINAL
WHERE arrived < settled
UNION ALL
SELECT toStartOfHour(m.minute) AS hour, m.arrived AS arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, outcome, mistake, calls, weighted_calls, duration_ns_sum, duration_count
FROM {{.Database}}.calls_by_minute AS m FINAL
WHERE m.arrived >= settled
