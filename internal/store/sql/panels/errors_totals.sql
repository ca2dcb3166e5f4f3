SELECT sum(c.calls) AS calls, sumIf(c.calls, outcome = 'error') AS failed, if(calls > 0, failed / calls, NULL) AS error_rate
FROM {{.Database}}.calls_hourly AS c
WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(hour)
  AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND tool IN (${tool:singlequote})
