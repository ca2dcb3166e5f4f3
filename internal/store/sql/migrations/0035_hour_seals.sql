-- The last seal of each hour of arrival: when it began to read.
CREATE TABLE IF NOT EXISTS {{.Database}}.hour_seals{{.Local}}{{.OnCluster}}
(
    hour    DateTime('UTC'),
    version DateTime64(6, 'UTC')
)
ENGINE = {{.Replicated}}ReplacingMergeTree(version)
PARTITION BY toYYYYMM(hour)
ORDER BY hour
TTL hour + INTERVAL {{.RollupDays}} DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
