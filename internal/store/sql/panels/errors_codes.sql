SELECT ifNull(toString(e.error_kind), 'none given') AS kind, ifNull(toString(e.error_code), 'none given') AS code,
    sum(e.errors) AS errors, errors / sum(errors) OVER () AS share,
    sumIf(e.errors, retryable) / sum(e.errors) AS retryable_share, uniqExact(server) AS servers, min(hour) AS first_seen, max(hour) AS last_seen
FROM {{.Database}}.errors_hourly AS e
WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(hour)
  AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND tool IN (${tool:singlequote}) AND e.errors > 0
GROUP BY kind, code
ORDER BY errors DESC
LIMIT 100
