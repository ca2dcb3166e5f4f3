-- That somebody looked for complaints: without a review, none is no evidence.
CREATE TABLE IF NOT EXISTS {{.Database}}.complaint_reviews{{.Local}}{{.OnCluster}}
(
    server      LowCardinality(String),
    by          String,
    note        String,
    at          DateTime64(3, 'UTC'),
    recorded_at DateTime64(3, 'UTC')
)
ENGINE = {{.Replicated}}MergeTree
ORDER BY (server, recorded_at)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
