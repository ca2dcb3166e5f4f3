SELECT $__timeInterval(minute) AS time, rule, sum(v.violations) AS violations
FROM {{.Database}}.violations_by_minute_unique AS v
WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(minute)
  AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND v.violations > 0
GROUP BY time, rule
ORDER BY time, rule
