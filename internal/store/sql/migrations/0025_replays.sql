-- Declarations of backdated shipping (D16).
CREATE TABLE IF NOT EXISTS {{.Database}}.replays{{.Local}}{{.OnCluster}}
(
    replay_id   String,
    from        DateTime64(3, 'UTC'),
    to          DateTime64(3, 'UTC'),
    by          String,
    note        String,
    at          DateTime64(3, 'UTC'),
    recorded_at DateTime64(3, 'UTC')
)
ENGINE = {{.Replicated}}MergeTree
ORDER BY (replay_id, recorded_at)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
