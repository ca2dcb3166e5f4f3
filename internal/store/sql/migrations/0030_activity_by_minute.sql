-- Tool calls, each once, whatever the tool and the outcome: what tells when a
-- server was at work, in far fewer rows than activity_by_minute.
-- Sealed from records: read with sum(...) and FINAL, or through activity_by_minute_unique.
CREATE TABLE IF NOT EXISTS {{.Database}}.activity_by_minute{{.Local}}{{.OnCluster}}
(
    minute            DateTime('UTC')         CODEC(DoubleDelta, ZSTD(1)),
    arrived           DateTime('UTC')         CODEC(DoubleDelta, ZSTD(1)),
    server            LowCardinality(String),
    server_family     LowCardinality(String),
    server_version    LowCardinality(String),
    environment       LowCardinality(String),
    deployment        LowCardinality(String),
    deployment_source LowCardinality(String),
    instance          LowCardinality(String),
    option            Enum8('undeclared' = 0, 'on' = 1, 'off' = 2),
    strict            Enum8('undeclared' = 0, 'on' = 1, 'off' = 2),
    replay_id         LowCardinality(String),
    calls             UInt64 CODEC(T64, ZSTD(1)),
    version           DateTime64(6, 'UTC')    CODEC(ZSTD(1)),
    INDEX by_arrival arrived TYPE minmax GRANULARITY 1
)
ENGINE = {{.Replicated}}ReplacingMergeTree(version)
PARTITION BY toYYYYMM(arrived)
ORDER BY (server, environment, minute, arrived, server_family, server_version, deployment, deployment_source, instance, option, strict, replay_id)
TTL arrived + INTERVAL {{.RollupDays}} DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
