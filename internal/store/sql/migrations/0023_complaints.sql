-- Complaints of agents' users: one row an event (open, resolve, reopen), with
-- when it took effect (at) and when it was entered (recorded_at).
CREATE TABLE IF NOT EXISTS {{.Database}}.complaints{{.Local}}{{.OnCluster}}
(
    id          String,
    server      LowCardinality(String),
    kind        LowCardinality(String),
    action      LowCardinality(String),
    ref         String,
    note        String,
    by          String,
    fixed_in    String,
    not_ours    Bool,
    at          DateTime64(3, 'UTC'),
    recorded_at DateTime64(3, 'UTC')
)
ENGINE = {{.Replicated}}MergeTree
ORDER BY (server, id, recorded_at)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
