SELECT server, server_version AS version, sum(c.calls) AS calls, sumIf(c.calls, outcome = 'error') AS failed, failed / calls AS error_rate,
    sumIf(c.calls, mistake = 'server') AS servers_mistake, sumIf(c.calls, mistake = 'caller') AS callers_mistake, sumIf(c.calls, mistake = 'upstream') AS upstreams_mistake, max(hour) AS last_call
FROM {{.Database}}.calls_hourly AS c
WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(hour)
  AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND tool IN (${tool:singlequote}) AND c.calls > 0
GROUP BY server, server_version
ORDER BY server, version
