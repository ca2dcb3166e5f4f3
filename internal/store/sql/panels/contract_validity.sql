SELECT $__timeInterval(hour) AS time, server, sumIf(e.errors, valid) / sum(e.errors) AS valid_share
FROM {{.Database}}.errors_hourly AS e
WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(hour)
  AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND tool IN (${tool:singlequote}) AND shape = 'mcp_envelope_v1' AND e.errors > 0
GROUP BY time, server
ORDER BY time, server
