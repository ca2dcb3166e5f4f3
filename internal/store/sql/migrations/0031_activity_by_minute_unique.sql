-- activity_by_minute, each key once.
CREATE VIEW IF NOT EXISTS {{.Database}}.activity_by_minute_unique{{.OnCluster}} AS
SELECT * FROM {{.Database}}.activity_by_minute FINAL
