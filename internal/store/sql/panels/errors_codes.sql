-- Added up by server first: that costs less than the distinct servers of each row.
SELECT ifNull(toString(error_kind), 'none given') AS kind, ifNull(toString(error_code), 'none given') AS code,
    sum(s.errors) AS errors, errors / sum(sum(s.errors)) OVER () AS share, sum(s.retryable) / nullIf(sum(s.told), 0) AS retryable_share,
    count() AS servers, min(s.first_seen) AS first_seen, max(s.last_seen) AS last_seen
FROM
(
    SELECT server, error_kind, error_code, sum(e.errors) AS errors, sumIf(e.errors, e.retryable) AS retryable, sumIf(e.errors, e.retryable IS NOT NULL) AS told, min(hour) AS first_seen, max(hour) AS last_seen
    FROM {{.Database}}.errors_hourly AS e
    WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(hour)
      AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND tool IN (${tool:singlequote}) AND e.errors > 0
    GROUP BY server, error_kind, error_code
) AS s
GROUP BY error_kind, error_code
ORDER BY errors DESC
LIMIT 100
