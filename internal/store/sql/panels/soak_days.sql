-- The soak's clock by server (D4), within the range: restarted by calls with the option
-- off after an hour of silence, by half an hour without any collector, and by 72
-- hours of silence; 6 hours of silence are subtracted.
WITH
    (SELECT groupArray((minute - gap, minute)) FROM
    (
        SELECT minute, dateDiff('second', lagInFrame(minute, 1, minute) OVER (ORDER BY minute ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), minute) AS gap
        FROM (SELECT DISTINCT minute FROM {{.Database}}.collector_heartbeats WHERE $__timeFilter(minute))
    ) WHERE gap > 1860) AS holes
SELECT server, round(greatest(dateDiff('second', start, if(last < $__toTime - INTERVAL 6 HOUR, last, $__toTime)) - paused, 0) / 86400, 2) AS days
FROM
(
    SELECT server, arrayMax(arrayConcat([first], arrayMap(g -> g.2, restarts))) AS start, max_minute AS last,
        arraySum(arrayMap(g -> if(g.2 > start AND NOT has(restarts, g) AND g.2 - g.1 > 21600, g.2 - g.1, 0), gaps)) AS paused
    FROM
    (
        SELECT a.server AS server, a.first AS first, a.max_minute AS max_minute, a.gaps AS gaps,
            arrayFilter(g -> g.2 - g.1 > 259200
                OR (g.2 - g.1 > 3600 AND arrayExists(m -> m > g.1 AND m < g.2, o.minutes))
                OR arrayExists(h -> least(toInt64(h.2), toInt64(g.2)) - greatest(toInt64(h.1), toInt64(g.1)) > 1800, holes), a.gaps) AS restarts
        FROM
        (
            SELECT server, min(minute) AS first, max(minute) AS max_minute, groupArrayIf((minute - gap, minute), gap > 1860) AS gaps
            FROM
            (
                SELECT server, minute, dateDiff('second', lagInFrame(minute, 1, minute) OVER (PARTITION BY server ORDER BY minute ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), minute) AS gap
                FROM
                (
                    SELECT DISTINCT server, minute FROM {{.Database}}.activity_by_minute
                    WHERE server IN (${server:singlequote}) AND environment = 'production' AND $__timeFilter(minute) AND option = 'on' AND calls > 0
                )
            )
            GROUP BY server
        ) AS a
        LEFT JOIN
        (
            SELECT server, groupUniqArray(minute) AS minutes FROM {{.Database}}.activity_by_minute
            WHERE server IN (${server:singlequote}) AND environment = 'production' AND $__timeFilter(minute) AND option != 'on' AND calls > 0
            GROUP BY server
        ) AS o ON a.server = o.server
    )
)
ORDER BY server
