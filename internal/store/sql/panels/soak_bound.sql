-- The upper bound for the share of malformed blocks while none is: 1 - a^(1/n), where
-- a is 0.05 halved for the first try and once more for each version that had a
-- malformed block (D6), n counted from the beginning of the range. NULL once one was
-- malformed: that is a BLOCK at any rate.
SELECT time, server, server_version AS version, if(bad = 0 AND n > 0, 1 - pow(0.05 / pow(2, 1 + failed), 1 / n), NULL) AS bound
FROM
(
    SELECT time, server, server_version,
        sum(blocks) OVER (PARTITION BY server, server_version ORDER BY time ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS n,
        sum(malformed) OVER (PARTITION BY server, server_version ORDER BY time ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS bad,
        uniqExactIf(server_version, malformed > 0) OVER (PARTITION BY server) AS failed
    FROM
    (
        SELECT $__timeInterval(minute) AS time, server, server_version, sum(b.blocks) AS blocks, sum(b.malformed) AS malformed
        FROM {{.Database}}.blocks_by_minute_unique AS b
        WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(minute)
          AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND tool IN (${tool:singlequote}) AND option = 'on'
        GROUP BY time, server, server_version
    )
)
ORDER BY time, server, version
