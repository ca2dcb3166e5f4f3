SELECT $__timeInterval(minute) AS time, ifNull(toString(w.kind), 'none given') AS warning, sum(w.warnings) AS warnings
FROM {{.Database}}.warnings_by_minute_unique AS w
WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(minute)
  AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND w.warnings > 0
GROUP BY time, warning
ORDER BY time, warning
