SELECT time, server, quantiles[1] AS p50, quantiles[2] AS p95, quantiles[3] AS p99
FROM
(
    SELECT $__timeInterval(minute) AS time, server, quantilesExactWeightedArray(0.5, 0.95, 0.99)(mapKeys(sizes), mapValues(sizes)) AS quantiles
    FROM {{.Database}}.blocks_by_minute_unique AS b
    WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(minute)
      AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND tool IN (${tool:singlequote}) AND option = 'on' AND b.blocks > 0
    GROUP BY time, server
)
ORDER BY time, server
