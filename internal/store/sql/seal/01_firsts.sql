-- The first copies of a slice, with what decides which of them count. The
-- earliest arrival of a record id is its first copy. Records with one call key
-- tell of one call: the call, its failure and its _meta each count once, with
-- the first record that knows them; an earlier slice's twin has counted already.
CREATE TABLE {{.Database}}.{{.Scratch}} ENGINE = Memory AS
WITH
    known AS (
        SELECT record_id
        FROM {{.Database}}.records
        WHERE received_at < {{.Begin}}
          AND (server, sent_minute) IN (SELECT server, sent_minute FROM {{.Database}}.{{.Scratch}}_rows)
          AND record_id IN (SELECT record_id FROM {{.Database}}.{{.Scratch}}_rows)
    ),
    earlier AS (
        SELECT assumeNotNull(call_key) AS earlier_key, 1 AS earlier_call,
               max(shape IN ('mcp_envelope_v1', 'agent_error') OR opaque OR (NOT recognized AND notEmpty(violations.rule))) AS earlier_error,
               max(meta_bytes > 0) AS earlier_meta
        FROM {{.Database}}.records
        WHERE received_at < {{.Begin}} AND received_at >= {{.TwinsFrom}} AND is_call
          AND call_key IN (SELECT call_key FROM {{.Database}}.{{.Scratch}}_rows WHERE call_key IS NOT NULL)
        GROUP BY call_key
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
    event, sent_minute, record_id,
    normalized.kind AS normalized_kinds,
    warnings.kind AS warning_kinds,
    violations.rule AS violation_rules,
    arrayMap(p -> replaceRegexpAll(p, '/[0-9]+', '/*'), violations.path) AS violation_paths,
    arrayExists((r, p) -> startsWith(p, '/_meta/normalized') AND NOT (r = 'enum' AND match(p, '^/_meta/normalized/[0-9]+/kind$')),
        violations.rule, violations.path) AS malformed,
    toUnixTimestamp64Milli(received_at) - toUnixTimestamp64Milli(toDateTime64(observed_at, 3, 'UTC')) AS lateness_ms,
    carrier IN ('log_attribute', 'span_exception', 'span_attribute') AS attribute_text,
    is_call,
    multiIf(shape = 'mcp_envelope_v1' AND valid, 5, shape IN ('mcp_envelope_v1', 'agent_error'), 4,
        NOT recognized AND notEmpty(violations.rule), 3, opaque, 2, 0) AS error_rank,
    if(call_key IS NULL, (toUInt128(record_id), 0), (toUInt128(0), assumeNotNull(call_key))) AS call_id,
    (received_at, journal_id, seq) AS place,
    is_call AND NOT ifNull(earlier_call, 0)
        AND (NOT is_call, place) = min((NOT is_call, place)) OVER calls AS call_first,
    error_rank > 0 AND NOT ifNull(earlier_error, 0)
        AND (5 - error_rank, place) = min((5 - error_rank, place)) OVER calls AS error_first,
    meta_bytes > 0 AND NOT ifNull(earlier_meta, 0)
        AND (meta_bytes = 0, place) = min((meta_bytes = 0, place)) OVER calls AS meta_first,
    max(outcome = 'error') OVER calls AS call_failed,
    error_first OR meta_first OR (call_first AND error_rank = 0 AND meta_bytes = 0) AS findings_first
FROM
(
    SELECT * EXCEPT (payload, attributes)
    FROM {{.Database}}.records
    WHERE received_at >= {{.Begin}} AND received_at < {{.End}} AND record_id NOT IN (SELECT record_id FROM known)
      AND (SELECT count() FROM {{.Database}}.{{.Scratch}}_rows) > 0
    ORDER BY received_at, journal_id, seq
    LIMIT 1 BY record_id
) AS firsts
LEFT JOIN earlier ON firsts.call_key = earlier.earlier_key
WINDOW calls AS (PARTITION BY call_id)
SETTINGS join_use_nulls = 1, allow_suspicious_low_cardinality_types = 1
