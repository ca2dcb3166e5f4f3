-- And those that share a key with one of these, which has two.
INSERT INTO {{.Database}}.{{.Scratch}}_rows
    (side, server, sent_minute, record_id, place, call_key, call_alias, is_call, failed, mistake, has_tool, has_meta, sampling_weight, duration_ns, error_rank)
SELECT if(received_at < {{.Begin}}, 0, 2), server, sent_minute, record_id, (received_at, journal_id, seq), call_key, call_alias,
    is_call, outcome = 'error', mistake, notEmpty(tool), meta_bytes > 0, sampling_weight, duration_ns,
    multiIf(shape = 'mcp_envelope_v1' AND valid, 5, shape IN ('mcp_envelope_v1', 'agent_error'), 4,
        NOT recognized AND notEmpty(violations.rule), 3, opaque, 2, 0)
FROM {{.Database}}.records
WHERE received_at >= {{.TwinsFrom}} AND received_at < {{.TwinsUntil}} AND NOT (received_at >= {{.Begin}} AND received_at < {{.End}})
  AND (SELECT count() FROM {{.Database}}.{{.Scratch}}_rows WHERE side != 1 AND call_alias IS NOT NULL) > 0
  AND call_key IN (SELECT arrayJoin([call_key, call_alias]) FROM {{.Database}}.{{.Scratch}}_rows WHERE side != 1 AND call_alias IS NOT NULL)
  AND (journal_id, seq) NOT IN (SELECT place.2, place.3 FROM {{.Database}}.{{.Scratch}}_rows WHERE side != 1)
