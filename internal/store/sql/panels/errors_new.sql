-- Kinds and codes of this range that the same servers did not show in the week before it.
SELECT server, ifNull(toString(error_kind), 'none given') AS kind, ifNull(toString(error_code), 'none given') AS code, first_seen, version, errors
FROM
(
    SELECT server, error_kind, error_code, min(hour) AS first_seen, argMin(server_version, hour) AS version, sum(e.errors) AS errors
    FROM {{.Database}}.errors_hourly AS e
    WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND hour >= $__fromTime - INTERVAL 7 DAY AND hour <= $__toTime
      AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND tool IN (${tool:singlequote}) AND e.errors > 0
    GROUP BY server, error_kind, error_code
    HAVING first_seen >= $__fromTime
)
ORDER BY first_seen DESC
LIMIT 100
