-- Which migrations have been applied, and by which release.
CREATE TABLE IF NOT EXISTS {{.Database}}.schema_migrations{{.Local}}{{.OnCluster}}
(
    version    UInt32,
    name       String,
    release    String,
    applied_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = {{.Replicated}}ReplacingMergeTree(applied_at)
ORDER BY version
