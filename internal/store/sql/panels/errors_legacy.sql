SELECT server, server_version AS version, ifNull(toString(e.legacy_error_kind), '') AS legacy_kind, ifNull(toString(e.error_kind), 'none given') AS kind,
    sum(e.errors) AS errors, min(hour) AS first_seen, max(hour) AS last_seen
FROM {{.Database}}.errors_hourly AS e
WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(hour)
  AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND tool IN (${tool:singlequote}) AND e.errors > 0 AND legacy_error_kind IS NOT NULL
GROUP BY server, server_version, legacy_kind, kind
ORDER BY errors DESC
LIMIT 100
