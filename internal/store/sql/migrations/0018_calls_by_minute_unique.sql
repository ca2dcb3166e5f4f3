-- calls_by_minute, each key once.
CREATE VIEW IF NOT EXISTS {{.Database}}.calls_by_minute_unique{{.OnCluster}} AS
SELECT * FROM {{.Database}}.calls_by_minute FINAL
