-- What servers declare of themselves: taxonomy and default of the option.
CREATE TABLE IF NOT EXISTS {{.Database}}.capabilities{{.Local}}{{.OnCluster}}
(
    server           LowCardinality(String),
    version          String,
    environment      LowCardinality(String),
    deployment       LowCardinality(String),
    contract_version Nullable(Int64),
    error_kinds      Array(LowCardinality(String)),
    declared_default Nullable(Bool),
    tools            Array(LowCardinality(String)),
    at               DateTime64(3, 'UTC'),
    recorded_at      DateTime64(3, 'UTC')
)
ENGINE = {{.Replicated}}ReplacingMergeTree
ORDER BY (server, version, deployment, environment, at)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
