-- Records of the same calls that came a little before the slice (side 0) or after
-- it (side 2): carriers of one call come within seconds, or an exporter's retries.
INSERT INTO {{.Database}}.{{.Scratch}}_rows
    (side, server, sent_minute, record_id, place, call_key, call_alias, is_call, failed, mistake, has_tool, has_meta, sampling_weight, duration_ns, error_rank)
SELECT if(received_at < {{.Begin}}, 0, 2), server, sent_minute, record_id, (received_at, journal_id, seq), call_key, call_alias,
    is_call, outcome = 'error', mistake, notEmpty(tool), meta_bytes > 0, sampling_weight, duration_ns,
    multiIf(shape = 'mcp_envelope_v1' AND valid, 5, shape IN ('mcp_envelope_v1', 'agent_error'), 4,
        NOT recognized AND notEmpty(violations.rule), 3, opaque, 2, 0)
FROM {{.Database}}.records
WHERE received_at >= {{.TwinsFrom}} AND received_at < {{.TwinsUntil}} AND NOT (received_at >= {{.Begin}} AND received_at < {{.End}})
  AND (call_key IN (SELECT arrayJoin([call_key, call_alias]) FROM {{.Database}}.{{.Scratch}}_rows)
    OR call_alias IN (SELECT call_key FROM {{.Database}}.{{.Scratch}}_rows))
