-- activity_by_minute by hour: one row for each stretch of minutes from first to last
-- without a silence over 15 minutes between two of them.
CREATE TABLE IF NOT EXISTS {{.Database}}.activity_by_hour{{.Local}}{{.OnCluster}}
(
    hour              DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
    arrived           DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
    lead              UInt32 CODEC(ZSTD(1)),
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
    first             DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
    last              DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
    calls             UInt64 CODEC(T64, ZSTD(1)),
    version           DateTime64(6, 'UTC') CODEC(ZSTD(1))
)
ENGINE = {{.Replicated}}ReplacingMergeTree(version)
PARTITION BY toYYYYMM(arrived)
ORDER BY (server, environment, hour, arrived, lead, server_family, server_version, deployment, deployment_source, instance, option, strict, replay_id, first)
TTL arrived + INTERVAL {{.RollupDays}} DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
