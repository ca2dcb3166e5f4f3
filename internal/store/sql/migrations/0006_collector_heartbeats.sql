-- The newest heartbeat of each collector and minute. It comes through the
-- collector's journal, so a stored heartbeat proves that all the collector took
-- before inserted_through is stored.
CREATE TABLE IF NOT EXISTS {{.Database}}.collector_heartbeats{{.Local}}{{.OnCluster}}
(
    journal_id         UUID,
    collector          LowCardinality(String),
    minute             DateTime('UTC'),
    at                 DateTime64(3, 'UTC'),
    inserted_through   DateTime64(3, 'UTC'),
    backlog_records    UInt64,
    backlog_age_ms     UInt64,
    parked_batches     UInt64,
    refused_requests   UInt64,
    accepted_records   UInt64,
    inserted_records   UInt64,
    rejected_records   UInt64,
    parked_records     UInt64,
    ignored_records    UInt64,
    retired            Bool
)
ENGINE = {{.Replicated}}ReplacingMergeTree(at)
PARTITION BY toYYYYMM(minute)
ORDER BY (journal_id, minute)
TTL minute + INTERVAL {{.RollupDays}} DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
