SELECT server, tool, sum(c.calls) AS calls, sumIf(c.calls, outcome = 'error') AS failed, failed / calls AS error_rate,
    if(sum(c.duration_count) > 0, sum(c.duration_ns_sum) / sum(c.duration_count) / 1e9, NULL) AS mean_time
FROM {{.Database}}.calls_hourly AS c
WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(hour)
  AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND tool IN (${tool:singlequote}) AND c.calls > 0
GROUP BY server, tool
ORDER BY failed DESC, calls DESC
LIMIT 50
