-- The first copies of a slice, with what decides which of them count. The
-- earliest arrival of a record id is its first copy. Records with one call key
-- tell of one call: the call, its failure and its _meta each count once, with
-- the first record that knows them; an earlier slice's twin has counted already.
-- Few records have a copy or a twin in their slice, and only those are sorted.
CREATE TABLE {{.Database}}.{{.Scratch}} ENGINE = Memory AS
WITH
    known AS (
        SELECT record_id
        FROM {{.Database}}.records
        WHERE received_at < {{.Begin}}
          AND (server, sent_minute) IN (SELECT DISTINCT server, sent_minute FROM {{.Database}}.{{.Scratch}}_rows)
          AND record_id IN (SELECT record_id FROM {{.Database}}.{{.Scratch}}_rows)
    ),
    copied AS (SELECT record_id FROM {{.Database}}.{{.Scratch}}_rows GROUP BY record_id HAVING count() > 1),
    twinned AS (SELECT call_key FROM {{.Database}}.{{.Scratch}}_rows WHERE call_key IS NOT NULL GROUP BY call_key HAVING count() > 1),
    slice AS (
        SELECT * EXCEPT (payload, attributes),
            multiIf(shape = 'mcp_envelope_v1' AND valid, 5, shape IN ('mcp_envelope_v1', 'agent_error'), 4,
                NOT recognized AND notEmpty(violations.rule), 3, opaque, 2, 0) AS error_rank,
            (received_at, journal_id, seq) AS place
        FROM {{.Database}}.records
        WHERE received_at >= {{.Begin}} AND received_at < {{.End}} AND record_id NOT IN (SELECT record_id FROM known)
          AND (SELECT count() FROM {{.Database}}.{{.Scratch}}_rows) > 0
    ),
    firsts AS (
        SELECT * FROM slice WHERE record_id NOT IN (SELECT record_id FROM copied)
        UNION ALL
        SELECT * FROM slice WHERE record_id IN (SELECT record_id FROM copied)
        ORDER BY place
        LIMIT 1 BY record_id
    ),
    earlier AS (
        SELECT assumeNotNull(call_key) AS earlier_key, 1 AS earlier_call,
               max(shape IN ('mcp_envelope_v1', 'agent_error') OR opaque OR (NOT recognized AND notEmpty(violations.rule))) AS earlier_error,
               max(meta_bytes > 0) AS earlier_meta
        FROM {{.Database}}.records
        WHERE received_at < {{.Begin}} AND received_at >= {{.TwinsFrom}} AND is_call
          AND call_key IN (SELECT call_key FROM {{.Database}}.{{.Scratch}}_rows WHERE call_key IS NOT NULL)
        GROUP BY call_key
    ),
    twins AS (
        SELECT record_id,
            (NOT is_call, place) = min((NOT is_call, place)) OVER calls AS knows_call,
            (5 - error_rank, place) = min((5 - error_rank, place)) OVER calls AS knows_error,
            (meta_bytes = 0, place) = min((meta_bytes = 0, place)) OVER calls AS knows_meta,
            max(outcome = 'error') OVER calls AS knows_failure
        FROM firsts
        WHERE call_key IN (SELECT call_key FROM twinned)
        WINDOW calls AS (PARTITION BY call_key)
    )
SELECT
    toStartOfMinute(observed_at) AS minute,
    {{.Slice}} AS arrived,
    server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id,
    tool, shape, error_kind, error_code, legacy_error_kind, http_status, retryable, valid, off_taxonomy, opaque,
    outcome, mistake, duration_ns, sampling_weight, has_normalized, normalized_bytes, response_bytes,
    remaining, retry_after_seconds,
    limit_per_second IS NOT NULL OR limit_per_second_text IS NOT NULL OR remaining IS NOT NULL
        OR remaining_text IS NOT NULL OR reset_at_text IS NOT NULL AS has_rate_limit,
    event, sent_minute, firsts.record_id AS record_id,
    normalized.kind AS normalized_kinds,
    warnings.kind AS warning_kinds,
    violations.rule AS violation_rules,
    arrayMap(p -> replaceRegexpAll(p, '/[0-9]+', '/*'), violations.path) AS violation_paths,
    arrayExists((r, p) -> startsWith(p, '/_meta/normalized') AND NOT (r = 'enum' AND match(p, '^/_meta/normalized/[0-9]+/kind$')),
        violations.rule, violations.path) AS malformed,
    toUnixTimestamp64Milli(received_at) - toUnixTimestamp64Milli(toDateTime64(observed_at, 3, 'UTC')) AS lateness_ms,
    carrier IN ('log_attribute', 'span_exception', 'span_attribute') AS attribute_text,
    is_call, error_rank,
    is_call AND NOT ifNull(earlier_call, 0) AND ifNull(knows_call, 1) AS call_first,
    error_rank > 0 AND NOT ifNull(earlier_error, 0) AND ifNull(knows_error, 1) AS error_first,
    meta_bytes > 0 AND NOT ifNull(earlier_meta, 0) AND ifNull(knows_meta, 1) AS meta_first,
    ifNull(knows_failure, outcome = 'error') AS call_failed,
    error_first OR meta_first OR (call_first AND error_rank = 0 AND meta_bytes = 0) AS findings_first
FROM firsts
LEFT JOIN earlier ON firsts.call_key = earlier.earlier_key
LEFT JOIN twins ON firsts.record_id = twins.record_id
SETTINGS join_use_nulls = 1, allow_suspicious_low_cardinality_types = 1
