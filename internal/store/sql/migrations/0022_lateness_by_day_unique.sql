-- Lateness by instance and day of arrival, from the sealed slices.
CREATE VIEW IF NOT EXISTS {{.Database}}.lateness_by_day_unique{{.OnCluster}} AS
SELECT
    toStartOfDay(arrived) AS day, server, environment, deployment, instance, replay_id,
    sum(l.records) AS records, sum(l.late) AS late, sum(l.ahead) AS ahead,
    minIf(l.least_ms, l.records > 0) AS least_ms, maxIf(l.greatest_ms, l.records > 0) AS greatest_ms
FROM {{.Database}}.lateness_by_day AS l FINAL
GROUP BY day, server, environment, deployment, instance, replay_id
