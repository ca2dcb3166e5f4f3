-- lateness_by_day by hour of arrival.
CREATE TABLE IF NOT EXISTS {{.Database}}.lateness_by_hour{{.Local}}{{.OnCluster}}
(
    arrived           DateTime('UTC')         CODEC(DoubleDelta, ZSTD(1)),
    server            LowCardinality(String),
    environment       LowCardinality(String),
    deployment        LowCardinality(String),
    instance          LowCardinality(String),
    replay_id         LowCardinality(String),
    records           UInt64                  CODEC(T64, ZSTD(1)),
    late              UInt64                  CODEC(T64, ZSTD(1)),
    ahead             UInt64                  CODEC(T64, ZSTD(1)),
    least_ms          Int64                   CODEC(T64, ZSTD(1)),
    greatest_ms       Int64                   CODEC(T64, ZSTD(1)),
    version           DateTime64(6, 'UTC')    CODEC(ZSTD(1))
)
ENGINE = {{.Replicated}}ReplacingMergeTree(version)
PARTITION BY toYYYYMM(arrived)
ORDER BY (server, environment, arrived, deployment, instance, replay_id)
TTL arrived + INTERVAL {{.RollupDays}} DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
