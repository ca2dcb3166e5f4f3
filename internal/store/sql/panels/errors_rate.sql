SELECT $__timeInterval(hour) AS time, server, sumIf(c.calls, outcome = 'error') / sum(c.calls) AS error_rate
FROM {{.Database}}.calls_hourly AS c
WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(hour)
  AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND tool IN (${tool:singlequote})
GROUP BY time, server
HAVING sum(c.calls) > 0
ORDER BY time, server
