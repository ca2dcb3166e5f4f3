SELECT $__timeInterval(hour) AS time, server, sum(r.retry_after_ms_sum) / sum(r.retry_after_count) / 1000 AS mean, max(r.retry_after_ms_max) / 1000 AS longest
FROM {{.Database}}.rate_limits_hourly AS r
WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(hour)
  AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND tool IN (${tool:singlequote}) AND r.retry_after_count > 0
GROUP BY time, server
ORDER BY time, server
