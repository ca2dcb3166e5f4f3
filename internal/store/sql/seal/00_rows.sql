-- What the slice holds (side 1), and what decides which of it counts. The table is
-- in memory: a restart of ClickHouse empties it, and a seal that finds it empty ends.
CREATE TABLE {{.Database}}.{{.Scratch}}_rows ENGINE = Memory SETTINGS compress = 1 AS
SELECT toUInt8(1) AS side, server, sent_minute, record_id, (received_at, journal_id, seq) AS place, call_key, call_alias,
    is_call, outcome = 'error' AS failed, mistake, notEmpty(tool) AS has_tool, meta_bytes > 0 AS has_meta, sampling_weight, duration_ns,
    multiIf(shape = 'mcp_envelope_v1' AND valid, 5, shape IN ('mcp_envelope_v1', 'agent_error'), 4,
        NOT recognized AND notEmpty(violations.rule), 3, opaque, 2, 0) AS error_rank
FROM {{.Database}}.records
WHERE received_at >= {{.Begin}} AND received_at < {{.End}}
SETTINGS allow_suspicious_low_cardinality_types = 1
