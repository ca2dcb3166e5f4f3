-- The last seal of each slice: when it began to read, and what it counted.
CREATE TABLE IF NOT EXISTS {{.Database}}.slice_seals{{.Local}}{{.OnCluster}}
(
    slice     DateTime('UTC'),
    version   DateTime64(6, 'UTC'),
    collector UUID,
    records   UInt64,
    calls     UInt64
)
ENGINE = {{.Replicated}}ReplacingMergeTree(version)
PARTITION BY toYYYYMM(slice)
ORDER BY slice
TTL slice + INTERVAL {{.RollupDays}} DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
