SELECT $__timeInterval(hour) AS time, server, sumIf(e.errors, opaque) AS unrecognized, sum(e.unreadable) AS unreadable
FROM {{.Database}}.errors_hourly AS e
WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(hour)
  AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND tool IN (${tool:singlequote})
GROUP BY time, server
ORDER BY time, server
