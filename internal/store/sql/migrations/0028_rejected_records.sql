-- Records that the store or the policy refused, each with its original text, and
-- as the Native block of one row, in base64, that `collector rejected replay` inserts.
CREATE TABLE IF NOT EXISTS {{.Database}}.rejected_records{{.Local}}{{.OnCluster}}
(
    id          UUID,
    server      LowCardinality(String),
    reason      LowCardinality(String),
    detail      String,
    original    String CODEC(ZSTD(3)),
    block       String CODEC(ZSTD(3)),
    state       LowCardinality(String),
    note        String,
    received_at DateTime64(3, 'UTC'),
    changed_at  DateTime64(6, 'UTC')
)
ENGINE = {{.Replicated}}ReplacingMergeTree(changed_at)
ORDER BY id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
