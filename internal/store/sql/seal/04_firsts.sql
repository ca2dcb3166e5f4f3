-- The first copies of a slice, with what decides which of them count. The
-- earliest arrival of a record id is its first copy. Few records have a copy in
-- their slice, and only those are sorted.
CREATE TABLE {{.Database}}.{{.Scratch}} ENGINE = Memory SETTINGS compress = 1 AS
WITH
    known AS (
        SELECT record_id
        FROM {{.Database}}.records
        WHERE received_at < {{.Begin}}
          AND (server, sent_minute) IN (SELECT DISTINCT server, sent_minute FROM {{.Database}}.{{.Scratch}}_rows WHERE side = 1)
          AND record_id IN (SELECT record_id FROM {{.Database}}.{{.Scratch}}_rows WHERE side = 1)
    ),
    copied AS (SELECT record_id FROM {{.Database}}.{{.Scratch}}_rows WHERE side = 1 GROUP BY record_id HAVING count() > 1),
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
    )
SELECT
    toStartOfMinute(observed_at) AS minute,
    {{.Slice}} AS arrived,
    server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id,
    tool, shape, error_kind, error_code, legacy_error_kind, http_status, retryable, valid, off_taxonomy, opaque,
    has_normalized, normalized_bytes, response_bytes,
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
    twin_key IS NULL AS alone,
    is_call AND (alone OR place = call_place) AS call_first,
    error_rank > 0 AND (alone OR place = error_place) AS error_first,
    meta_bytes > 0 AND (alone OR place = meta_place) AS meta_first,
    if(NOT alone AND call_failed, 'error', firsts.outcome) AS outcome,
    if(alone, firsts.mistake, call_mistake) AS mistake,
    if(alone, firsts.duration_ns, call_duration) AS duration_ns,
    if(alone, sampling_weight, twins.call_weight) AS call_weight,
    if(alone, sampling_weight, twins.error_weight) AS error_weight,
    if(alone, sampling_weight, twins.meta_weight) AS meta_weight,
    error_first OR meta_first OR (call_first AND error_rank = 0 AND meta_bytes = 0) AS findings_first
FROM firsts
ANY LEFT JOIN {{.Database}}.{{.Scratch}}_twins AS twins ON firsts.call_key = twins.twin_key
SETTINGS join_use_nulls = 1, allow_suspicious_low_cardinality_types = 1
