-- blocks_by_minute, each key once.
CREATE VIEW IF NOT EXISTS {{.Database}}.blocks_by_minute_unique{{.OnCluster}} AS
SELECT * FROM {{.Database}}.blocks_by_minute FINAL
