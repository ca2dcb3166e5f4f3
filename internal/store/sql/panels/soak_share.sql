SELECT $__timeInterval(minute) AS time, server, sum(b.known_bytes_sum) / sum(b.response_bytes_sum) AS share
FROM {{.Database}}.blocks_by_minute_unique AS b
WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(minute)
  AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND tool IN (${tool:singlequote}) AND option = 'on' AND b.response_bytes_sum > 0
GROUP BY time, server
ORDER BY time, server
