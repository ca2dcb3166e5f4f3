SELECT ifNull(toString(error_kind), 'none given') AS kind, ifNull(toString(error_code), 'none given') AS code,
    errors, errors / sum(errors) OVER () AS share, retryable_share, servers, first_seen, last_seen
FROM
(
    SELECT error_kind, error_code, sum(e.errors) AS errors, sumIf(e.errors, retryable) / sum(e.errors) AS retryable_share,
        uniqExact(server) AS servers, min(hour) AS first_seen, max(hour) AS last_seen
    FROM {{.Database}}.errors_hourly AS e
    WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(hour)
      AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND tool IN (${tool:singlequote}) AND e.errors > 0
    GROUP BY error_kind, error_code
)
ORDER BY errors DESC
LIMIT 100
