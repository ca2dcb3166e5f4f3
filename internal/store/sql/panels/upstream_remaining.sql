SELECT $__timeInterval(hour) AS time, server, min(r.least_remaining) AS least_remaining
FROM {{.Database}}.rate_limits_hourly AS r
WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(hour)
  AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND tool IN (${tool:singlequote}) AND r.least_remaining IS NOT NULL
GROUP BY time, server
ORDER BY time, server
