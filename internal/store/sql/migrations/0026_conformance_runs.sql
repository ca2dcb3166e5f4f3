-- Runs of the contract's conformance suite. items maps item number to pass,
-- fail or not_tested.
CREATE TABLE IF NOT EXISTS {{.Database}}.conformance_runs{{.Local}}{{.OnCluster}}
(
    server        LowCardinality(String),
    version       String,
    suite_version String,
    items         Map(String, LowCardinality(String)),
    payloads      UInt64,
    conforming    UInt64,
    violating     UInt64,
    unrecognized  UInt64,
    source        LowCardinality(String),
    at            DateTime64(3, 'UTC'),
    recorded_at   DateTime64(3, 'UTC')
)
ENGINE = {{.Replicated}}ReplacingMergeTree
ORDER BY (server, version, at, suite_version, source)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
