-- When rows last came for a slice of arrival. A slice written after its last
-- seal began is sealed again.
CREATE TABLE IF NOT EXISTS {{.Database}}.slice_writes{{.Local}}{{.OnCluster}}
(
    slice      DateTime('UTC'),
    journal_id UUID,
    wrote_at   DateTime64(6, 'UTC')
)
ENGINE = {{.Replicated}}ReplacingMergeTree(wrote_at)
PARTITION BY toYYYYMM(slice)
ORDER BY (slice, journal_id)
TTL slice + INTERVAL {{.RecordsDays}} DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
