SELECT $__timeInterval(hour) AS time, server, sum(r.at_zero) / sum(r.records) AS share_at_zero
FROM {{.Database}}.rate_limits_hourly AS r
WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(hour)
  AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND tool IN (${tool:singlequote}) AND r.records > 0
GROUP BY time, server
ORDER BY time, server
