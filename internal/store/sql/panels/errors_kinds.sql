SELECT time, ifNull(toString(error_kind), 'none given') AS kind, errors
FROM
(
    SELECT $__timeInterval(hour) AS time, error_kind, sum(e.errors) AS errors
    FROM {{.Database}}.errors_hourly AS e
    WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(hour)
      AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND tool IN (${tool:singlequote}) AND e.errors > 0
    GROUP BY time, error_kind
)
ORDER BY time, kind
