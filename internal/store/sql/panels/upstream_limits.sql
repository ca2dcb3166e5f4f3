-- The limits that upstream told, of the last day of the range at most.
SELECT server, tool, argMax(r.limit_per_second, received_at) AS per_second, uniqExact(ifNull(r.limit_per_second_text, toString(r.limit_per_second))) AS different_limits,
    argMax(r.remaining, received_at) AS remaining, max(received_at) AS told_at
FROM {{.Database}}.records AS r
WHERE received_at >= toDateTime64($__toTime - INTERVAL 24 HOUR, 3) AND received_at <= toDateTime64($__toTime, 3)
  AND server IN (${server:singlequote}) AND environment IN (${environment:singlequote})
  AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND tool IN (${tool:singlequote})
  AND (limit_per_second IS NOT NULL OR limit_per_second_text IS NOT NULL)
GROUP BY server, tool
ORDER BY server, tool
LIMIT 100
