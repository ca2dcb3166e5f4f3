SELECT server, reason, state, count() AS records, min(r.received_at) AS first, max(r.received_at) AS last, argMax(r.detail, r.received_at) AS example
FROM {{.Database}}.rejected_records AS r FINAL
WHERE r.received_at >= $__fromTime AND r.received_at <= $__toTime
GROUP BY server, reason, state
ORDER BY records DESC
LIMIT 50
