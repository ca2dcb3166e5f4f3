-- The records, each once.
CREATE VIEW IF NOT EXISTS {{.Database}}.records_unique{{.OnCluster}} AS
SELECT * FROM {{.Database}}.records FINAL
