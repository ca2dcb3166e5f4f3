SELECT server, server_version AS version, rule, path, sum(v.violations) AS violations, sum(v.records) AS records, min(minute) AS first_seen, max(minute) AS last_seen
FROM {{.Database}}.violations_by_minute_unique AS v
WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(minute)
  AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND v.violations > 0
GROUP BY server, server_version, rule, path
ORDER BY violations DESC
LIMIT 100
