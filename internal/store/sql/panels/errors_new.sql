-- Kinds and codes of this range that the same servers did not show in the 30 days before it.
SELECT server, ifNull(toString(e.error_kind), 'none given') AS kind, ifNull(toString(e.error_code), 'none given') AS code,
    min(hour) AS first_seen, sum(e.errors) AS errors, argMin(server_version, hour) AS version
FROM {{.Database}}.errors_hourly AS e
WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND hour >= $__fromTime - INTERVAL 30 DAY AND hour <= $__toTime
  AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND tool IN (${tool:singlequote}) AND e.errors > 0
GROUP BY server, kind, code
HAVING first_seen >= $__fromTime
ORDER BY first_seen DESC
LIMIT 100
