CREATE DATABASE IF NOT EXISTS soakgate ON CLUSTER 'soak'
;

-- Which migrations have been applied, and by which release.
CREATE TABLE IF NOT EXISTS soakgate.schema_migrations_local ON CLUSTER 'soak'
(
    version    UInt32,
    name       String,
    release    String,
    applied_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplicatedReplacingMergeTree(applied_at)
ORDER BY version
;

CREATE TABLE IF NOT EXISTS soakgate.schema_migrations ON CLUSTER 'soak' AS soakgate.schema_migrations_local
ENGINE = Distributed('soak', 'soakgate', 'schema_migrations_local', version)
;

-- One row a record. The earliest arrival of a record id survives: merges keep
-- the row with the greatest arrival_rank. The sorting key has only what the
-- record id fixes, so that every delivery of a record has the same key.
-- Read with FINAL, or through records_unique. What only tells where a record came
-- from expires with its payload; what rollups are sealed from stays.
CREATE TABLE IF NOT EXISTS soakgate.records_local ON CLUSTER 'soak'
(
    observed_at        DateTime64(9, 'UTC')          CODEC(T64, ZSTD(1)),
    received_at        DateTime64(3, 'UTC')          CODEC(T64, ZSTD(1)),
    sent_minute        DateTime('UTC')               CODEC(Delta, ZSTD(1)),
    record_id          UUID                          CODEC(NONE),
    journal_id         UUID                          CODEC(ZSTD(1)),
    seq                UInt64                        CODEC(T64, ZSTD(1)),
    arrival_rank       UInt64                        CODEC(T64, ZSTD(1)),
    call_key           Nullable(UInt64)              CODEC(ZSTD(1)),
    replay_id          LowCardinality(String),
    event              LowCardinality(String),
    server             LowCardinality(String),
    server_family      LowCardinality(String),
    server_version     LowCardinality(String),
    environment        LowCardinality(String),
    deployment         LowCardinality(String),
    deployment_source  LowCardinality(String),
    instance           LowCardinality(String),
    option             Enum8('undeclared' = 0, 'on' = 1, 'off' = 2),
    strict             Enum8('undeclared' = 0, 'on' = 1, 'off' = 2),
    contract_version   LowCardinality(String),
    surface            LowCardinality(String),
    carrier            LowCardinality(String),
    shape              LowCardinality(String),
    tool               LowCardinality(String),
    session_id         String                        CODEC(ZSTD(1)) TTL toDateTime(received_at) + INTERVAL 30 DAY,
    request_id         String                        CODEC(ZSTD(1)) TTL toDateTime(received_at) + INTERVAL 30 DAY,
    is_call            Bool,
    outcome            LowCardinality(String),
    error_type         LowCardinality(String),
    mistake            LowCardinality(String),
    duration_ns        Nullable(UInt64)              CODEC(ZSTD(1)),
    error_kind         LowCardinality(Nullable(String)),
    error_code         LowCardinality(Nullable(String)),
    legacy_error_kind  LowCardinality(Nullable(String)),
    inner_error_kind   LowCardinality(Nullable(String)),
    inner_error_code   LowCardinality(Nullable(String)),
    http_status        Nullable(UInt16)              CODEC(ZSTD(1)),
    retryable          Nullable(Bool),
    envelope_version   Nullable(Int64)               CODEC(ZSTD(1)),
    recognized         Bool,
    opaque             Bool,
    valid              Bool,
    off_taxonomy       Bool,
    has_normalized     Bool,
    violations         Nested(rule LowCardinality(String), path String, message LowCardinality(String)),
    advisories         Nested(rule LowCardinality(String), path String, message LowCardinality(String)),
    normalized         Nested(
        kind      LowCardinality(Nullable(String)),
        from      LowCardinality(Nullable(String)),
        to        LowCardinality(Nullable(String)),
        field     LowCardinality(Nullable(String)),
        canonical LowCardinality(Nullable(String)),
        from_type LowCardinality(Nullable(String)),
        to_type   LowCardinality(Nullable(String)),
        reason    LowCardinality(Nullable(String))),
    limit_per_second      Nullable(Float64)          CODEC(ZSTD(1)),
    limit_per_second_text LowCardinality(Nullable(String)),
    remaining             Nullable(Float64)          CODEC(ZSTD(1)),
    remaining_text        LowCardinality(Nullable(String)),
    reset_at_text         Nullable(String)           CODEC(ZSTD(1)),
    reset_at              Nullable(DateTime64(3, 'UTC')) CODEC(ZSTD(1)),
    retry_after_seconds   Nullable(Float64)          CODEC(ZSTD(1)),
    warnings           Nested(kind LowCardinality(Nullable(String)), summary Nullable(String)),
    payload_bytes      UInt32                        CODEC(ZSTD(1)),
    meta_bytes         UInt32                        CODEC(ZSTD(1)),
    normalized_bytes   Nullable(UInt32)              CODEC(ZSTD(1)),
    response_bytes     Nullable(UInt64)              CODEC(ZSTD(1)),
    time_source        Enum8('event' = 0, 'observed' = 1, 'arrival' = 2),
    sent_time          String                        CODEC(ZSTD(1)) TTL toDateTime(received_at) + INTERVAL 30 DAY,
    sampling_weight    UInt64                        CODEC(ZSTD(1)),
    payload            String                        CODEC(ZSTD(3)) TTL toDateTime(received_at) + INTERVAL 30 DAY,
    trace_id           String                        CODEC(ZSTD(1)) TTL toDateTime(received_at) + INTERVAL 30 DAY,
    span_id            String                        CODEC(ZSTD(1)) TTL toDateTime(received_at) + INTERVAL 30 DAY,
    parent_span_id     String                        CODEC(ZSTD(1)) TTL toDateTime(received_at) + INTERVAL 30 DAY,
    attributes         Map(LowCardinality(String), String) CODEC(ZSTD(1)) TTL toDateTime(received_at) + INTERVAL 30 DAY,

    INDEX by_arrival  received_at TYPE minmax GRANULARITY 1,
    INDEX by_observed observed_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplicatedReplacingMergeTree(arrival_rank)
PARTITION BY toDate(received_at)
ORDER BY (server, sent_minute, record_id)
TTL toDateTime(received_at) + INTERVAL 100 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_for_wide_part = 100000, min_bytes_for_wide_part = 67108864
;

CREATE TABLE IF NOT EXISTS soakgate.records ON CLUSTER 'soak' AS soakgate.records_local
ENGINE = Distributed('soak', 'soakgate', 'records_local', sipHash64(if(trace_id = '', toString(record_id), trace_id)))
;

-- The records, each once.
CREATE VIEW IF NOT EXISTS soakgate.records_unique ON CLUSTER 'soak' AS
SELECT * FROM soakgate.records FINAL
;

-- When rows last came for a slice of arrival. A slice written after its last
-- seal began is sealed again.
CREATE TABLE IF NOT EXISTS soakgate.slice_writes_local ON CLUSTER 'soak'
(
    slice      DateTime('UTC'),
    journal_id UUID,
    wrote_at   DateTime64(6, 'UTC')
)
ENGINE = ReplicatedReplacingMergeTree(wrote_at)
PARTITION BY toYYYYMM(slice)
ORDER BY (slice, journal_id)
TTL slice + INTERVAL 100 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS soakgate.slice_writes ON CLUSTER 'soak' AS soakgate.slice_writes_local
ENGINE = Distributed('soak', 'soakgate', 'slice_writes_local', sipHash64(slice))
;

-- The last seal of each slice: when it began to read, and what it counted.
CREATE TABLE IF NOT EXISTS soakgate.slice_seals_local ON CLUSTER 'soak'
(
    slice     DateTime('UTC'),
    version   DateTime64(6, 'UTC'),
    collector UUID,
    records   UInt64,
    calls     UInt64
)
ENGINE = ReplicatedReplacingMergeTree(version)
PARTITION BY toYYYYMM(slice)
ORDER BY slice
TTL slice + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS soakgate.slice_seals ON CLUSTER 'soak' AS soakgate.slice_seals_local
ENGINE = Distributed('soak', 'soakgate', 'slice_seals_local', sipHash64(slice))
;

-- The newest heartbeat of each collector and minute. It comes through the
-- collector's journal, so a stored heartbeat proves that all the collector took
-- before inserted_through is stored.
CREATE TABLE IF NOT EXISTS soakgate.collector_heartbeats_local ON CLUSTER 'soak'
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
ENGINE = ReplicatedReplacingMergeTree(at)
PARTITION BY toYYYYMM(minute)
ORDER BY (journal_id, minute)
TTL minute + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS soakgate.collector_heartbeats ON CLUSTER 'soak' AS soakgate.collector_heartbeats_local
ENGINE = Distributed('soak', 'soakgate', 'collector_heartbeats_local', sipHash64(journal_id))
;

-- Failed calls: envelopes, agent errors, opaque and unreadable error texts.
-- Sealed from records: read with sum(...) and FINAL, or through errors_by_minute_unique.
CREATE TABLE IF NOT EXISTS soakgate.errors_by_minute_local ON CLUSTER 'soak'
(
    minute            DateTime('UTC')         CODEC(DoubleDelta, ZSTD(1)),
    arrived           DateTime('UTC')         CODEC(DoubleDelta, ZSTD(1)),
    server            LowCardinality(String),
    server_family     LowCardinality(String),
    server_version    LowCardinality(String),
    environment       LowCardinality(String),
    deployment        LowCardinality(String),
    deployment_source LowCardinality(String),
    instance          LowCardinality(String),
    option            Enum8('undeclared' = 0, 'on' = 1, 'off' = 2),
    strict            Enum8('undeclared' = 0, 'on' = 1, 'off' = 2),
    replay_id         LowCardinality(String),
    tool              LowCardinality(String),
    shape             LowCardinality(String),
    error_kind        LowCardinality(Nullable(String)),
    error_code        LowCardinality(Nullable(String)),
    legacy_error_kind LowCardinality(Nullable(String)),
    http_status       Nullable(UInt16),
    retryable         Nullable(Bool),
    valid             Bool,
    off_taxonomy      Bool,
    opaque            Bool,
    errors            UInt64 CODEC(T64, ZSTD(1)),
    unreadable        UInt64 CODEC(T64, ZSTD(1)),
    cut               UInt64 CODEC(T64, ZSTD(1)),
    weighted_errors   UInt64 CODEC(T64, ZSTD(1)),
    version           DateTime64(6, 'UTC')    CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree(version)
PARTITION BY toYYYYMM(arrived)
ORDER BY (server, environment, minute, arrived, server_family, server_version, deployment, deployment_source, instance, option, strict, replay_id, tool, shape, error_kind, error_code, legacy_error_kind, http_status, retryable, valid, off_taxonomy, opaque)
TTL arrived + INTERVAL 400 DAY
SETTINGS allow_nullable_key = 1, fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS soakgate.errors_by_minute ON CLUSTER 'soak' AS soakgate.errors_by_minute_local
ENGINE = Distributed('soak', 'soakgate', 'errors_by_minute_local', sipHash64(server, arrived))
;

-- errors_by_minute, each key once.
CREATE VIEW IF NOT EXISTS soakgate.errors_by_minute_unique ON CLUSTER 'soak' AS
SELECT * FROM soakgate.errors_by_minute FINAL
;

-- Normalization events, and the calls that carried them, by kind.
-- Sealed from records: read with sum(...) and FINAL, or through normalizations_by_minute_unique.
CREATE TABLE IF NOT EXISTS soakgate.normalizations_by_minute_local ON CLUSTER 'soak'
(
    minute            DateTime('UTC')         CODEC(DoubleDelta, ZSTD(1)),
    arrived           DateTime('UTC')         CODEC(DoubleDelta, ZSTD(1)),
    server            LowCardinality(String),
    server_family     LowCardinality(String),
    server_version    LowCardinality(String),
    environment       LowCardinality(String),
    deployment        LowCardinality(String),
    deployment_source LowCardinality(String),
    instance          LowCardinality(String),
    option            Enum8('undeclared' = 0, 'on' = 1, 'off' = 2),
    strict            Enum8('undeclared' = 0, 'on' = 1, 'off' = 2),
    replay_id         LowCardinality(String),
    tool              LowCardinality(String),
    kind              LowCardinality(Nullable(String)),
    valid             Bool,
    events            UInt64 CODEC(T64, ZSTD(1)),
    calls             UInt64 CODEC(T64, ZSTD(1)),
    version           DateTime64(6, 'UTC')    CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree(version)
PARTITION BY toYYYYMM(arrived)
ORDER BY (server, environment, minute, arrived, server_family, server_version, deployment, deployment_source, instance, option, strict, replay_id, tool, kind, valid)
TTL arrived + INTERVAL 400 DAY
SETTINGS allow_nullable_key = 1, fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS soakgate.normalizations_by_minute ON CLUSTER 'soak' AS soakgate.normalizations_by_minute_local
ENGINE = Distributed('soak', 'soakgate', 'normalizations_by_minute_local', sipHash64(server, arrived))
;

-- normalizations_by_minute, each key once.
CREATE VIEW IF NOT EXISTS soakgate.normalizations_by_minute_unique ON CLUSTER 'soak' AS
SELECT * FROM soakgate.normalizations_by_minute FINAL
;

-- Broken rules, unreadable texts included. The path has no array indices.
-- Sealed from records: read with sum(...) and FINAL, or through violations_by_minute_unique.
CREATE TABLE IF NOT EXISTS soakgate.violations_by_minute_local ON CLUSTER 'soak'
(
    minute            DateTime('UTC')         CODEC(DoubleDelta, ZSTD(1)),
    arrived           DateTime('UTC')         CODEC(DoubleDelta, ZSTD(1)),
    server            LowCardinality(String),
    server_family     LowCardinality(String),
    server_version    LowCardinality(String),
    environment       LowCardinality(String),
    deployment        LowCardinality(String),
    deployment_source LowCardinality(String),
    instance          LowCardinality(String),
    option            Enum8('undeclared' = 0, 'on' = 1, 'off' = 2),
    strict            Enum8('undeclared' = 0, 'on' = 1, 'off' = 2),
    replay_id         LowCardinality(String),
    rule              LowCardinality(String),
    path              LowCardinality(String),
    violations        UInt64 CODEC(T64, ZSTD(1)),
    records           UInt64 CODEC(T64, ZSTD(1)),
    version           DateTime64(6, 'UTC')    CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree(version)
PARTITION BY toYYYYMM(arrived)
ORDER BY (server, environment, minute, arrived, server_family, server_version, deployment, deployment_source, instance, option, strict, replay_id, rule, path)
TTL arrived + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS soakgate.violations_by_minute ON CLUSTER 'soak' AS soakgate.violations_by_minute_local
ENGINE = Distributed('soak', 'soakgate', 'violations_by_minute_local', sipHash64(server, arrived))
;

-- violations_by_minute, each key once.
CREATE VIEW IF NOT EXISTS soakgate.violations_by_minute_unique ON CLUSTER 'soak' AS
SELECT * FROM soakgate.violations_by_minute FINAL
;

-- Rows of _meta.warnings by kind.
-- Sealed from records: read with sum(...) and FINAL, or through warnings_by_minute_unique.
CREATE TABLE IF NOT EXISTS soakgate.warnings_by_minute_local ON CLUSTER 'soak'
(
    minute            DateTime('UTC')         CODEC(DoubleDelta, ZSTD(1)),
    arrived           DateTime('UTC')         CODEC(DoubleDelta, ZSTD(1)),
    server            LowCardinality(String),
    server_family     LowCardinality(String),
    server_version    LowCardinality(String),
    environment       LowCardinality(String),
    deployment        LowCardinality(String),
    deployment_source LowCardinality(String),
    instance          LowCardinality(String),
    option            Enum8('undeclared' = 0, 'on' = 1, 'off' = 2),
    strict            Enum8('undeclared' = 0, 'on' = 1, 'off' = 2),
    replay_id         LowCardinality(String),
    kind              LowCardinality(Nullable(String)),
    warnings          UInt64 CODEC(T64, ZSTD(1)),
    records           UInt64 CODEC(T64, ZSTD(1)),
    version           DateTime64(6, 'UTC')    CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree(version)
PARTITION BY toYYYYMM(arrived)
ORDER BY (server, environment, minute, arrived, server_family, server_version, deployment, deployment_source, instance, option, strict, replay_id, kind)
TTL arrived + INTERVAL 400 DAY
SETTINGS allow_nullable_key = 1, fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS soakgate.warnings_by_minute ON CLUSTER 'soak' AS soakgate.warnings_by_minute_local
ENGINE = Distributed('soak', 'soakgate', 'warnings_by_minute_local', sipHash64(server, arrived))
;

-- warnings_by_minute, each key once.
CREATE VIEW IF NOT EXISTS soakgate.warnings_by_minute_unique ON CLUSTER 'soak' AS
SELECT * FROM soakgate.warnings_by_minute FINAL
;

-- What upstream said of its limits. Least remaining is NULL where no number was sent.
-- Sealed from records: read with sum(...) and FINAL, or through rate_limits_by_minute_unique.
CREATE TABLE IF NOT EXISTS soakgate.rate_limits_by_minute_local ON CLUSTER 'soak'
(
    minute            DateTime('UTC')         CODEC(DoubleDelta, ZSTD(1)),
    arrived           DateTime('UTC')         CODEC(DoubleDelta, ZSTD(1)),
    server            LowCardinality(String),
    server_family     LowCardinality(String),
    server_version    LowCardinality(String),
    environment       LowCardinality(String),
    deployment        LowCardinality(String),
    deployment_source LowCardinality(String),
    instance          LowCardinality(String),
    option            Enum8('undeclared' = 0, 'on' = 1, 'off' = 2),
    strict            Enum8('undeclared' = 0, 'on' = 1, 'off' = 2),
    replay_id         LowCardinality(String),
    tool              LowCardinality(String),
    records           UInt64 CODEC(T64, ZSTD(1)),
    least_remaining   Nullable(Float64) CODEC(ZSTD(1)),
    at_zero           UInt64 CODEC(T64, ZSTD(1)),
    retry_after_count UInt64 CODEC(T64, ZSTD(1)),
    retry_after_ms_sum UInt64 CODEC(T64, ZSTD(1)),
    retry_after_ms_max UInt64 CODEC(T64, ZSTD(1)),
    version           DateTime64(6, 'UTC')    CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree(version)
PARTITION BY toYYYYMM(arrived)
ORDER BY (server, environment, minute, arrived, server_family, server_version, deployment, deployment_source, instance, option, strict, replay_id, tool)
TTL arrived + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS soakgate.rate_limits_by_minute ON CLUSTER 'soak' AS soakgate.rate_limits_by_minute_local
ENGINE = Distributed('soak', 'soakgate', 'rate_limits_by_minute_local', sipHash64(server, arrived))
;

-- rate_limits_by_minute, each key once.
CREATE VIEW IF NOT EXISTS soakgate.rate_limits_by_minute_unique ON CLUSTER 'soak' AS
SELECT * FROM soakgate.rate_limits_by_minute FINAL
;

-- Tool calls, each once, by outcome and by whose mistake a failure was.
-- Sealed from records: read with sum(...) and FINAL, or through calls_by_minute_unique.
CREATE TABLE IF NOT EXISTS soakgate.calls_by_minute_local ON CLUSTER 'soak'
(
    minute            DateTime('UTC')         CODEC(DoubleDelta, ZSTD(1)),
    arrived           DateTime('UTC')         CODEC(DoubleDelta, ZSTD(1)),
    server            LowCardinality(String),
    server_family     LowCardinality(String),
    server_version    LowCardinality(String),
    environment       LowCardinality(String),
    deployment        LowCardinality(String),
    deployment_source LowCardinality(String),
    instance          LowCardinality(String),
    option            Enum8('undeclared' = 0, 'on' = 1, 'off' = 2),
    strict            Enum8('undeclared' = 0, 'on' = 1, 'off' = 2),
    replay_id         LowCardinality(String),
    tool              LowCardinality(String),
    outcome           LowCardinality(String),
    mistake           LowCardinality(String),
    calls             UInt64 CODEC(T64, ZSTD(1)),
    weighted_calls    UInt64 CODEC(T64, ZSTD(1)),
    duration_ns_sum   UInt64 CODEC(T64, ZSTD(1)),
    duration_count    UInt64 CODEC(T64, ZSTD(1)),
    version           DateTime64(6, 'UTC')    CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree(version)
PARTITION BY toYYYYMM(arrived)
ORDER BY (server, environment, minute, arrived, server_family, server_version, deployment, deployment_source, instance, option, strict, replay_id, tool, outcome, mistake)
TTL arrived + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS soakgate.calls_by_minute ON CLUSTER 'soak' AS soakgate.calls_by_minute_local
ENGINE = Distributed('soak', 'soakgate', 'calls_by_minute_local', sipHash64(server, arrived))
;

-- calls_by_minute, each key once.
CREATE VIEW IF NOT EXISTS soakgate.calls_by_minute_unique ON CLUSTER 'soak' AS
SELECT * FROM soakgate.calls_by_minute FINAL
;

-- Answers that carry normalized under _meta (blocks, D6), and the exact histogram of their size in bytes (D10).
-- Sealed from records: read with sum(...) and FINAL, or through blocks_by_minute_unique.
CREATE TABLE IF NOT EXISTS soakgate.blocks_by_minute_local ON CLUSTER 'soak'
(
    minute            DateTime('UTC')         CODEC(DoubleDelta, ZSTD(1)),
    arrived           DateTime('UTC')         CODEC(DoubleDelta, ZSTD(1)),
    server            LowCardinality(String),
    server_family     LowCardinality(String),
    server_version    LowCardinality(String),
    environment       LowCardinality(String),
    deployment        LowCardinality(String),
    deployment_source LowCardinality(String),
    instance          LowCardinality(String),
    option            Enum8('undeclared' = 0, 'on' = 1, 'off' = 2),
    strict            Enum8('undeclared' = 0, 'on' = 1, 'off' = 2),
    replay_id         LowCardinality(String),
    tool              LowCardinality(String),
    blocks            UInt64 CODEC(T64, ZSTD(1)),
    envelope_blocks   UInt64 CODEC(T64, ZSTD(1)),
    weighted_blocks   UInt64 CODEC(T64, ZSTD(1)),
    malformed         UInt64 CODEC(T64, ZSTD(1)),
    sizes             Map(UInt32, UInt64) CODEC(ZSTD(1)),
    bytes_sum         UInt64 CODEC(T64, ZSTD(1)),
    known_size_blocks UInt64 CODEC(T64, ZSTD(1)),
    known_bytes_sum   UInt64 CODEC(T64, ZSTD(1)),
    response_bytes_sum UInt64 CODEC(T64, ZSTD(1)),
    version           DateTime64(6, 'UTC')    CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree(version)
PARTITION BY toYYYYMM(arrived)
ORDER BY (server, environment, minute, arrived, server_family, server_version, deployment, deployment_source, instance, option, strict, replay_id, tool)
TTL arrived + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS soakgate.blocks_by_minute ON CLUSTER 'soak' AS soakgate.blocks_by_minute_local
ENGINE = Distributed('soak', 'soakgate', 'blocks_by_minute_local', sipHash64(server, arrived))
;

-- blocks_by_minute, each key once.
CREATE VIEW IF NOT EXISTS soakgate.blocks_by_minute_unique ON CLUSTER 'soak' AS
SELECT * FROM soakgate.blocks_by_minute FINAL
;

-- How late records came, by instance and day of arrival: what tells a queue
-- that drains from a clock that is wrong (D15). Replayed records are left out.
CREATE TABLE IF NOT EXISTS soakgate.lateness_by_day_local ON CLUSTER 'soak'
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
ENGINE = ReplicatedReplacingMergeTree(version)
PARTITION BY toYYYYMM(arrived)
ORDER BY (server, environment, arrived, deployment, instance, replay_id)
TTL arrived + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS soakgate.lateness_by_day ON CLUSTER 'soak' AS soakgate.lateness_by_day_local
ENGINE = Distributed('soak', 'soakgate', 'lateness_by_day_local', sipHash64(server, arrived))
;

-- Lateness by instance and day of arrival, from the sealed slices.
CREATE VIEW IF NOT EXISTS soakgate.lateness_by_day_unique ON CLUSTER 'soak' AS
SELECT
    toStartOfDay(arrived) AS day, server, environment, deployment, instance, replay_id,
    sum(l.records) AS records, sum(l.late) AS late, sum(l.ahead) AS ahead,
    minIf(l.least_ms, l.records > 0) AS least_ms, maxIf(l.greatest_ms, l.records > 0) AS greatest_ms
FROM soakgate.lateness_by_day AS l FINAL
GROUP BY day, server, environment, deployment, instance, replay_id
;

-- Complaints of agents' users: one row an event (open, resolve, reopen), with
-- when it took effect (at) and when it was entered (recorded_at).
CREATE TABLE IF NOT EXISTS soakgate.complaints_local ON CLUSTER 'soak'
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
ENGINE = ReplicatedMergeTree
ORDER BY (server, id, recorded_at)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS soakgate.complaints ON CLUSTER 'soak' AS soakgate.complaints_local
ENGINE = Distributed('soak', 'soakgate', 'complaints_local', sipHash64(server))
;

-- That somebody looked for complaints: without a review, none is no evidence.
CREATE TABLE IF NOT EXISTS soakgate.complaint_reviews_local ON CLUSTER 'soak'
(
    server      LowCardinality(String),
    by          String,
    note        String,
    at          DateTime64(3, 'UTC'),
    recorded_at DateTime64(3, 'UTC')
)
ENGINE = ReplicatedMergeTree
ORDER BY (server, recorded_at)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS soakgate.complaint_reviews ON CLUSTER 'soak' AS soakgate.complaint_reviews_local
ENGINE = Distributed('soak', 'soakgate', 'complaint_reviews_local', sipHash64(server))
;

-- Declarations of backdated shipping (D16).
CREATE TABLE IF NOT EXISTS soakgate.replays_local ON CLUSTER 'soak'
(
    replay_id   String,
    from        DateTime64(3, 'UTC'),
    to          DateTime64(3, 'UTC'),
    by          String,
    note        String,
    at          DateTime64(3, 'UTC'),
    recorded_at DateTime64(3, 'UTC')
)
ENGINE = ReplicatedMergeTree
ORDER BY (replay_id, recorded_at)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS soakgate.replays ON CLUSTER 'soak' AS soakgate.replays_local
ENGINE = Distributed('soak', 'soakgate', 'replays_local', sipHash64(replay_id))
;

-- Runs of the contract's conformance suite. items maps item number to pass,
-- fail or not_tested.
CREATE TABLE IF NOT EXISTS soakgate.conformance_runs_local ON CLUSTER 'soak'
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
ENGINE = ReplicatedReplacingMergeTree
ORDER BY (server, version, at, suite_version, source)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS soakgate.conformance_runs ON CLUSTER 'soak' AS soakgate.conformance_runs_local
ENGINE = Distributed('soak', 'soakgate', 'conformance_runs_local', sipHash64(server))
;

-- What servers declare of themselves: taxonomy and default of the option.
CREATE TABLE IF NOT EXISTS soakgate.capabilities_local ON CLUSTER 'soak'
(
    server           LowCardinality(String),
    version          String,
    environment      LowCardinality(String),
    deployment       LowCardinality(String),
    contract_version Nullable(Int64),
    error_kinds      Array(LowCardinality(String)),
    declared_default Nullable(Bool),
    tools            Array(LowCardinality(String)),
    at               DateTime64(3, 'UTC'),
    recorded_at      DateTime64(3, 'UTC')
)
ENGINE = ReplicatedReplacingMergeTree
ORDER BY (server, version, deployment, environment, at)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS soakgate.capabilities ON CLUSTER 'soak' AS soakgate.capabilities_local
ENGINE = Distributed('soak', 'soakgate', 'capabilities_local', sipHash64(server))
;

-- Records that the store or the policy refused, each with its original text, and
-- as the Native block of one row, in base64, that `collector rejected replay` inserts.
CREATE TABLE IF NOT EXISTS soakgate.rejected_records_local ON CLUSTER 'soak'
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
ENGINE = ReplicatedReplacingMergeTree(changed_at)
ORDER BY id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS soakgate.rejected_records ON CLUSTER 'soak' AS soakgate.rejected_records_local
ENGINE = Distributed('soak', 'soakgate', 'rejected_records_local', sipHash64(id))
;

-- Who seals. A sealer holds the lease while it works, so that two collectors
-- neither do the same work nor interleave their rows. Nothing is lost with it.
CREATE TABLE IF NOT EXISTS soakgate.seal_leases_local ON CLUSTER 'soak'
(
    sealer UUID,
    until  DateTime64(6, 'UTC'),
    at     DateTime64(6, 'UTC')
)
ENGINE = ReplicatedReplacingMergeTree(at)
ORDER BY sealer
TTL toDateTime(at) + INTERVAL 1 DAY
;

CREATE TABLE IF NOT EXISTS soakgate.seal_leases ON CLUSTER 'soak' AS soakgate.seal_leases_local
ENGINE = Distributed('soak', 'soakgate', 'seal_leases_local', sipHash64(sealer))
;

-- Tool calls, each once, whatever the tool and the outcome: what tells when a
-- server was at work, in far fewer rows than activity_by_minute.
-- Sealed from records: read with sum(...) and FINAL, or through activity_by_minute_unique.
CREATE TABLE IF NOT EXISTS soakgate.activity_by_minute_local ON CLUSTER 'soak'
(
    minute            DateTime('UTC')         CODEC(DoubleDelta, ZSTD(1)),
    arrived           DateTime('UTC')         CODEC(DoubleDelta, ZSTD(1)),
    server            LowCardinality(String),
    server_family     LowCardinality(String),
    server_version    LowCardinality(String),
    environment       LowCardinality(String),
    deployment        LowCardinality(String),
    deployment_source LowCardinality(String),
    instance          LowCardinality(String),
    option            Enum8('undeclared' = 0, 'on' = 1, 'off' = 2),
    strict            Enum8('undeclared' = 0, 'on' = 1, 'off' = 2),
    replay_id         LowCardinality(String),
    calls             UInt64 CODEC(T64, ZSTD(1)),
    version           DateTime64(6, 'UTC')    CODEC(ZSTD(1)),
    INDEX by_arrival arrived TYPE minmax GRANULARITY 1
)
ENGINE = ReplicatedReplacingMergeTree(version)
PARTITION BY toYYYYMM(arrived)
ORDER BY (server, environment, minute, arrived, server_family, server_version, deployment, deployment_source, instance, option, strict, replay_id)
TTL arrived + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS soakgate.activity_by_minute ON CLUSTER 'soak' AS soakgate.activity_by_minute_local
ENGINE = Distributed('soak', 'soakgate', 'activity_by_minute_local', sipHash64(server, arrived))
;

-- activity_by_minute, each key once.
CREATE VIEW IF NOT EXISTS soakgate.activity_by_minute_unique ON CLUSTER 'soak' AS
SELECT * FROM soakgate.activity_by_minute FINAL
;

-- Gives activity_by_minute what was sealed before it was there. Safe to run twice:
-- the same keys get the same rows. Rewrites nothing.
INSERT INTO soakgate.activity_by_minute (minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, calls, version)
SELECT minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id,
    sum(c.calls), max(c.version)
FROM soakgate.calls_by_minute AS c FINAL
GROUP BY minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id
;

-- When the seal was complete. Hours sealed before that are sealed again.
ALTER TABLE soakgate.slice_seals_local ON CLUSTER 'soak' ADD COLUMN IF NOT EXISTS sealed_at DateTime64(6, 'UTC') DEFAULT version
;

-- The same for the table in front of a cluster's; on a single server it is there already.
ALTER TABLE soakgate.slice_seals ON CLUSTER 'soak' ADD COLUMN IF NOT EXISTS sealed_at DateTime64(6, 'UTC') DEFAULT version
;

-- The last seal of each hour of arrival: when it began to read.
CREATE TABLE IF NOT EXISTS soakgate.hour_seals_local ON CLUSTER 'soak'
(
    hour    DateTime('UTC'),
    version DateTime64(6, 'UTC')
)
ENGINE = ReplicatedReplacingMergeTree(version)
PARTITION BY toYYYYMM(hour)
ORDER BY hour
TTL hour + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS soakgate.hour_seals ON CLUSTER 'soak' AS soakgate.hour_seals_local
ENGINE = Distributed('soak', 'soakgate', 'hour_seals_local', sipHash64(hour))
;

-- Up to where hours of arrival can be read from the rollups by hour: the first hour
-- of which a slice was sealed since the hour was. From there on the rollups by
-- minute tell.
CREATE VIEW IF NOT EXISTS soakgate.hours_settled ON CLUSTER 'soak' AS
SELECT if(countIf(s.sealed >= h.version) > 0, minIf(s.hour, s.sealed >= h.version), max(s.hour) + 3600) AS through
FROM (SELECT toStartOfHour(slice) AS hour, max(sealed_at) AS sealed FROM soakgate.slice_seals GROUP BY hour) AS s
LEFT JOIN (SELECT hour, max(version) AS version FROM soakgate.hour_seals GROUP BY hour) AS h ON s.hour = h.hour
;

-- calls_by_minute by hour of the event and hour of arrival; lead is how far a minute
-- of events lies ahead of its slice, in seconds, 0 for all that are not.
CREATE TABLE IF NOT EXISTS soakgate.calls_by_hour_local ON CLUSTER 'soak'
(
    hour              DateTime('UTC')         CODEC(DoubleDelta, ZSTD(1)),
    arrived           DateTime('UTC')         CODEC(DoubleDelta, ZSTD(1)),
    lead              UInt32                  CODEC(ZSTD(1)),
    server            LowCardinality(String),
    server_family     LowCardinality(String),
    server_version    LowCardinality(String),
    environment       LowCardinality(String),
    deployment        LowCardinality(String),
    deployment_source LowCardinality(String),
    instance          LowCardinality(String),
    option            Enum8('undeclared' = 0, 'on' = 1, 'off' = 2),
    strict            Enum8('undeclared' = 0, 'on' = 1, 'off' = 2),
    replay_id         LowCardinality(String),
    tool              LowCardinality(String),
    outcome           LowCardinality(String),
    mistake           LowCardinality(String),
    calls             UInt64 CODEC(T64, ZSTD(1)),
    weighted_calls    UInt64 CODEC(T64, ZSTD(1)),
    duration_ns_sum   UInt64 CODEC(T64, ZSTD(1)),
    duration_count    UInt64 CODEC(T64, ZSTD(1)),
    version           DateTime64(6, 'UTC')    CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree(version)
PARTITION BY toYYYYMM(arrived)
ORDER BY (server, environment, hour, arrived, lead, server_family, server_version, deployment, deployment_source, instance, option, strict, replay_id, tool, outcome, mistake)
TTL arrived + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS soakgate.calls_by_hour ON CLUSTER 'soak' AS soakgate.calls_by_hour_local
ENGINE = Distributed('soak', 'soakgate', 'calls_by_hour_local', sipHash64(server, arrived))
;

-- What calls_by_minute tells, by hour: settled hours of arrival from calls_by_hour, the
-- others from the minutes. Each key once.
CREATE VIEW IF NOT EXISTS soakgate.calls_hourly ON CLUSTER 'soak' AS
WITH (SELECT through FROM soakgate.hours_settled) AS settled
SELECT hour, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, outcome, mistake, calls, weighted_calls, duration_ns_sum, duration_count
FROM soakgate.calls_by_hour FINAL
WHERE arrived < settled
UNION ALL
SELECT toStartOfHour(m.minute) AS hour, m.arrived AS arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, outcome, mistake, calls, weighted_calls, duration_ns_sum, duration_count
FROM soakgate.calls_by_minute AS m FINAL
WHERE m.arrived >= settled
;

-- errors_by_minute by hour of the event and hour of arrival; lead is how far a minute
-- of events lies ahead of its slice, in seconds, 0 for all that are not.
CREATE TABLE IF NOT EXISTS soakgate.errors_by_hour_local ON CLUSTER 'soak'
(
    hour              DateTime('UTC')         CODEC(DoubleDelta, ZSTD(1)),
    arrived           DateTime('UTC')         CODEC(DoubleDelta, ZSTD(1)),
    lead              UInt32                  CODEC(ZSTD(1)),
    server            LowCardinality(String),
    server_family     LowCardinality(String),
    server_version    LowCardinality(String),
    environment       LowCardinality(String),
    deployment        LowCardinality(String),
    deployment_source LowCardinality(String),
    instance          LowCardinality(String),
    option            Enum8('undeclared' = 0, 'on' = 1, 'off' = 2),
    strict            Enum8('undeclared' = 0, 'on' = 1, 'off' = 2),
    replay_id         LowCardinality(String),
    tool              LowCardinality(String),
    shape             LowCardinality(String),
    error_kind        LowCardinality(Nullable(String)),
    error_code        LowCardinality(Nullable(String)),
    legacy_error_kind LowCardinality(Nullable(String)),
    http_status       Nullable(UInt16),
    retryable         Nullable(Bool),
    valid             Bool,
    off_taxonomy      Bool,
    opaque            Bool,
    errors            UInt64 CODEC(T64, ZSTD(1)),
    unreadable        UInt64 CODEC(T64, ZSTD(1)),
    cut               UInt64 CODEC(T64, ZSTD(1)),
    weighted_errors   UInt64 CODEC(T64, ZSTD(1)),
    version           DateTime64(6, 'UTC')    CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree(version)
PARTITION BY toYYYYMM(arrived)
ORDER BY (server, environment, hour, arrived, lead, server_family, server_version, deployment, deployment_source, instance, option, strict, replay_id, tool, shape, error_kind, error_code, legacy_error_kind, http_status, retryable, valid, off_taxonomy, opaque)
TTL arrived + INTERVAL 400 DAY
SETTINGS allow_nullable_key = 1, fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS soakgate.errors_by_hour ON CLUSTER 'soak' AS soakgate.errors_by_hour_local
ENGINE = Distributed('soak', 'soakgate', 'errors_by_hour_local', sipHash64(server, arrived))
;

-- What errors_by_minute tells, by hour: settled hours of arrival from errors_by_hour, the
-- others from the minutes. Each key once.
CREATE VIEW IF NOT EXISTS soakgate.errors_hourly ON CLUSTER 'soak' AS
WITH (SELECT through FROM soakgate.hours_settled) AS settled
SELECT hour, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, shape, error_kind, error_code, legacy_error_kind, http_status, retryable, valid, off_taxonomy, opaque, errors, unreadable, cut, weighted_errors
FROM soakgate.errors_by_hour FINAL
WHERE arrived < settled
UNION ALL
SELECT toStartOfHour(m.minute) AS hour, m.arrived AS arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, shape, error_kind, error_code, legacy_error_kind, http_status, retryable, valid, off_taxonomy, opaque, errors, unreadable, cut, weighted_errors
FROM soakgate.errors_by_minute AS m FINAL
WHERE m.arrived >= settled
;

-- rate_limits_by_minute by hour of the event and hour of arrival; lead is how far a minute
-- of events lies ahead of its slice, in seconds, 0 for all that are not.
CREATE TABLE IF NOT EXISTS soakgate.rate_limits_by_hour_local ON CLUSTER 'soak'
(
    hour              DateTime('UTC')         CODEC(DoubleDelta, ZSTD(1)),
    arrived           DateTime('UTC')         CODEC(DoubleDelta, ZSTD(1)),
    lead              UInt32                  CODEC(ZSTD(1)),
    server            LowCardinality(String),
    server_family     LowCardinality(String),
    server_version    LowCardinality(String),
    environment       LowCardinality(String),
    deployment        LowCardinality(String),
    deployment_source LowCardinality(String),
    instance          LowCardinality(String),
    option            Enum8('undeclared' = 0, 'on' = 1, 'off' = 2),
    strict            Enum8('undeclared' = 0, 'on' = 1, 'off' = 2),
    replay_id         LowCardinality(String),
    tool              LowCardinality(String),
    records           UInt64 CODEC(T64, ZSTD(1)),
    least_remaining   Nullable(Float64) CODEC(ZSTD(1)),
    at_zero           UInt64 CODEC(T64, ZSTD(1)),
    retry_after_count UInt64 CODEC(T64, ZSTD(1)),
    retry_after_ms_sum UInt64 CODEC(T64, ZSTD(1)),
    retry_after_ms_max UInt64 CODEC(T64, ZSTD(1)),
    version           DateTime64(6, 'UTC')    CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree(version)
PARTITION BY toYYYYMM(arrived)
ORDER BY (server, environment, hour, arrived, lead, server_family, server_version, deployment, deployment_source, instance, option, strict, replay_id, tool)
TTL arrived + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS soakgate.rate_limits_by_hour ON CLUSTER 'soak' AS soakgate.rate_limits_by_hour_local
ENGINE = Distributed('soak', 'soakgate', 'rate_limits_by_hour_local', sipHash64(server, arrived))
;

-- What rate_limits_by_minute tells, by hour: settled hours of arrival from rate_limits_by_hour, the
-- others from the minutes. Each key once.
CREATE VIEW IF NOT EXISTS soakgate.rate_limits_hourly ON CLUSTER 'soak' AS
WITH (SELECT through FROM soakgate.hours_settled) AS settled
SELECT hour, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, records, least_remaining, at_zero, retry_after_count, retry_after_ms_sum, retry_after_ms_max
FROM soakgate.rate_limits_by_hour FINAL
WHERE arrived < settled
UNION ALL
SELECT toStartOfHour(m.minute) AS hour, m.arrived AS arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, records, least_remaining, at_zero, retry_after_count, retry_after_ms_sum, retry_after_ms_max
FROM soakgate.rate_limits_by_minute AS m FINAL
WHERE m.arrived >= settled
;

-- Finds a slice's rows without reading the month: minutes of events lie close to
-- those of arrival. Parts that are there get the index as they merge.
ALTER TABLE soakgate.errors_by_minute_local ON CLUSTER 'soak' ADD INDEX IF NOT EXISTS by_arrival arrived TYPE minmax GRANULARITY 1
;

-- Finds a slice's rows without reading the month: minutes of events lie close to
-- those of arrival. Parts that are there get the index as they merge.
ALTER TABLE soakgate.normalizations_by_minute_local ON CLUSTER 'soak' ADD INDEX IF NOT EXISTS by_arrival arrived TYPE minmax GRANULARITY 1
;

-- Finds a slice's rows without reading the month: minutes of events lie close to
-- those of arrival. Parts that are there get the index as they merge.
ALTER TABLE soakgate.violations_by_minute_local ON CLUSTER 'soak' ADD INDEX IF NOT EXISTS by_arrival arrived TYPE minmax GRANULARITY 1
;

-- Finds a slice's rows without reading the month: minutes of events lie close to
-- those of arrival. Parts that are there get the index as they merge.
ALTER TABLE soakgate.warnings_by_minute_local ON CLUSTER 'soak' ADD INDEX IF NOT EXISTS by_arrival arrived TYPE minmax GRANULARITY 1
;

-- Finds a slice's rows without reading the month: minutes of events lie close to
-- those of arrival. Parts that are there get the index as they merge.
ALTER TABLE soakgate.rate_limits_by_minute_local ON CLUSTER 'soak' ADD INDEX IF NOT EXISTS by_arrival arrived TYPE minmax GRANULARITY 1
;

-- Finds a slice's rows without reading the month: minutes of events lie close to
-- those of arrival. Parts that are there get the index as they merge.
ALTER TABLE soakgate.calls_by_minute_local ON CLUSTER 'soak' ADD INDEX IF NOT EXISTS by_arrival arrived TYPE minmax GRANULARITY 1
;

-- Finds a slice's rows without reading the month: minutes of events lie close to
-- those of arrival. Parts that are there get the index as they merge.
ALTER TABLE soakgate.blocks_by_minute_local ON CLUSTER 'soak' ADD INDEX IF NOT EXISTS by_arrival arrived TYPE minmax GRANULARITY 1
;

-- activity_by_minute by hour: one row for each stretch of minutes from first to last
-- without a silence over 15 minutes between two of them.
CREATE TABLE IF NOT EXISTS soakgate.activity_by_hour_local ON CLUSTER 'soak'
(
    hour              DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
    arrived           DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
    lead              UInt32 CODEC(ZSTD(1)),
    server            LowCardinality(String),
    server_family     LowCardinality(String),
    server_version    LowCardinality(String),
    environment       LowCardinality(String),
    deployment        LowCardinality(String),
    deployment_source LowCardinality(String),
    instance          LowCardinality(String),
    option            Enum8('undeclared' = 0, 'on' = 1, 'off' = 2),
    strict            Enum8('undeclared' = 0, 'on' = 1, 'off' = 2),
    replay_id         LowCardinality(String),
    first             DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
    last              DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
    calls             UInt64 CODEC(T64, ZSTD(1)),
    version           DateTime64(6, 'UTC') CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree(version)
PARTITION BY toYYYYMM(arrived)
ORDER BY (server, environment, hour, arrived, lead, server_family, server_version, deployment, deployment_source, instance, option, strict, replay_id, first)
TTL arrived + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS soakgate.activity_by_hour ON CLUSTER 'soak' AS soakgate.activity_by_hour_local
ENGINE = Distributed('soak', 'soakgate', 'activity_by_hour_local', sipHash64(server, arrived))
;

-- Errors that are envelopes, and texts that purport to be one and hold no JSON object
-- (D11), by hour, whatever their tool, kind and code.
CREATE TABLE IF NOT EXISTS soakgate.envelopes_by_hour_local ON CLUSTER 'soak'
(
    hour              DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
    arrived           DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
    lead              UInt32 CODEC(ZSTD(1)),
    server            LowCardinality(String),
    server_family     LowCardinality(String),
    server_version    LowCardinality(String),
    environment       LowCardinality(String),
    deployment        LowCardinality(String),
    deployment_source LowCardinality(String),
    instance          LowCardinality(String),
    option            Enum8('undeclared' = 0, 'on' = 1, 'off' = 2),
    strict            Enum8('undeclared' = 0, 'on' = 1, 'off' = 2),
    replay_id         LowCardinality(String),
    envelopes         UInt64 CODEC(T64, ZSTD(1)),
    unreadable        UInt64 CODEC(T64, ZSTD(1)),
    cut               UInt64 CODEC(T64, ZSTD(1)),
    version           DateTime64(6, 'UTC') CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree(version)
PARTITION BY toYYYYMM(arrived)
ORDER BY (server, environment, hour, arrived, lead, server_family, server_version, deployment, deployment_source, instance, option, strict, replay_id)
TTL arrived + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS soakgate.envelopes_by_hour ON CLUSTER 'soak' AS soakgate.envelopes_by_hour_local
ENGINE = Distributed('soak', 'soakgate', 'envelopes_by_hour_local', sipHash64(server, arrived))
;

-- blocks_by_minute by hour, whatever the tool, with the first and the last minute that
-- has a malformed block.
CREATE TABLE IF NOT EXISTS soakgate.blocks_by_hour_local ON CLUSTER 'soak'
(
    hour               DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
    arrived            DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
    lead               UInt32 CODEC(ZSTD(1)),
    server             LowCardinality(String),
    server_family      LowCardinality(String),
    server_version     LowCardinality(String),
    environment        LowCardinality(String),
    deployment         LowCardinality(String),
    deployment_source  LowCardinality(String),
    instance           LowCardinality(String),
    option             Enum8('undeclared' = 0, 'on' = 1, 'off' = 2),
    strict             Enum8('undeclared' = 0, 'on' = 1, 'off' = 2),
    replay_id          LowCardinality(String),
    blocks             UInt64 CODEC(T64, ZSTD(1)),
    envelope_blocks    UInt64 CODEC(T64, ZSTD(1)),
    weighted_blocks    UInt64 CODEC(T64, ZSTD(1)),
    malformed          UInt64 CODEC(T64, ZSTD(1)),
    malformed_first    DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
    malformed_last     DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
    sizes              Map(UInt32, UInt64) CODEC(ZSTD(1)),
    bytes_sum          UInt64 CODEC(T64, ZSTD(1)),
    known_size_blocks  UInt64 CODEC(T64, ZSTD(1)),
    known_bytes_sum    UInt64 CODEC(T64, ZSTD(1)),
    response_bytes_sum UInt64 CODEC(T64, ZSTD(1)),
    version            DateTime64(6, 'UTC') CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree(version)
PARTITION BY toYYYYMM(arrived)
ORDER BY (server, environment, hour, arrived, lead, server_family, server_version, deployment, deployment_source, instance, option, strict, replay_id)
TTL arrived + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS soakgate.blocks_by_hour ON CLUSTER 'soak' AS soakgate.blocks_by_hour_local
ENGINE = Distributed('soak', 'soakgate', 'blocks_by_hour_local', sipHash64(server, arrived))
;

-- lateness_by_day by hour of arrival.
CREATE TABLE IF NOT EXISTS soakgate.lateness_by_hour_local ON CLUSTER 'soak'
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
ENGINE = ReplicatedReplacingMergeTree(version)
PARTITION BY toYYYYMM(arrived)
ORDER BY (server, environment, arrived, deployment, instance, replay_id)
TTL arrived + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS soakgate.lateness_by_hour ON CLUSTER 'soak' AS soakgate.lateness_by_hour_local
ENGINE = Distributed('soak', 'soakgate', 'lateness_by_hour_local', sipHash64(server, arrived))
;

-- Another key that records of the same call may have: of a span within the call,
-- or of session and request id where call_key is of the span.
ALTER TABLE soakgate.records_local ON CLUSTER 'soak' ADD COLUMN IF NOT EXISTS call_alias Nullable(UInt64) CODEC(ZSTD(1)) AFTER call_key
;

-- The same for the table in front of a cluster's; on a single server it is there already.
ALTER TABLE soakgate.records ON CLUSTER 'soak' ADD COLUMN IF NOT EXISTS call_alias Nullable(UInt64) AFTER call_key
;

-- A month that gets no more rows is merged into one part, where FINAL has nothing to do: ClickHouse
-- leaves the last few parts of a partition apart for ever, and reading those costs several times as much.
ALTER TABLE soakgate.calls_by_hour_local ON CLUSTER 'soak' MODIFY SETTING min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1
;

-- The same for errors_by_hour.
ALTER TABLE soakgate.errors_by_hour_local ON CLUSTER 'soak' MODIFY SETTING min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1
;

-- The same for rate_limits_by_hour.
ALTER TABLE soakgate.rate_limits_by_hour_local ON CLUSTER 'soak' MODIFY SETTING min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1
;

-- The same for activity_by_hour.
ALTER TABLE soakgate.activity_by_hour_local ON CLUSTER 'soak' MODIFY SETTING min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1
;

-- The same for envelopes_by_hour.
ALTER TABLE soakgate.envelopes_by_hour_local ON CLUSTER 'soak' MODIFY SETTING min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1
;

-- The same for blocks_by_hour.
ALTER TABLE soakgate.blocks_by_hour_local ON CLUSTER 'soak' MODIFY SETTING min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1
;

-- The same for lateness_by_hour.
ALTER TABLE soakgate.lateness_by_hour_local ON CLUSTER 'soak' MODIFY SETTING min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1
;

-- Half of a record's id is the millisecond at which it was sent, which compresses
-- in the order of the key. Numbers are cut to the bits that those around them have.
ALTER TABLE soakgate.records_local ON CLUSTER 'soak'
    MODIFY COLUMN record_id UUID CODEC(ZSTD(1)),
    MODIFY COLUMN observed_at DateTime64(9, 'UTC') CODEC(T64('bit'), ZSTD(1)),
    MODIFY COLUMN seq UInt64 CODEC(T64('bit'), ZSTD(1)),
    MODIFY COLUMN envelope_version Nullable(Int64) CODEC(T64, ZSTD(1)),
    MODIFY COLUMN payload_bytes UInt32 CODEC(T64, ZSTD(1)),
    MODIFY COLUMN meta_bytes UInt32 CODEC(T64, ZSTD(1)),
    MODIFY COLUMN normalized_bytes Nullable(UInt32) CODEC(T64, ZSTD(1)),
    MODIFY COLUMN response_bytes Nullable(UInt64) CODEC(T64, ZSTD(1))
;

-- Columns without a codec of their own are packed with ZSTD: words that repeat
-- take half of what they take with LZ4.
ALTER TABLE soakgate.records_local ON CLUSTER 'soak' MODIFY SETTING default_compression_codec = 'ZSTD(1)'
;
