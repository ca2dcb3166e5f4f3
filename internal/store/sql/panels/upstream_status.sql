SELECT time, toString(assumeNotNull(http_status)) AS status, errors
FROM
(
    SELECT $__timeInterval(hour) AS time, http_status, sum(e.errors) AS errors
    FROM {{.Database}}.errors_hourly AS e
    WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(hour)
      AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND tool IN (${tool:singlequote}) AND http_status IS NOT NULL AND e.errors > 0
    GROUP BY time, http_status
)
ORDER BY time, status
