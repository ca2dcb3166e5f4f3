-- rate_limits_by_minute, each key once.
CREATE VIEW IF NOT EXISTS {{.Database}}.rate_limits_by_minute_unique{{.OnCluster}} AS
SELECT * FROM {{.Database}}.rate_limits_by_minute FINAL
