-- Each server's newest version against the one before it: errors for a thousand calls.
WITH versions AS
(
    SELECT server, last.1 AS newest, last.2 AS since, before.1 AS previous
    FROM
    (
        SELECT server, arraySort(x -> -toInt64(x.2), groupArray((server_version, first))) AS seen, seen[1] AS last, seen[2] AS before
        FROM
        (
            SELECT server, server_version, min(minute) AS first FROM {{.Database}}.activity_by_minute
            WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(minute) AND calls > 0
            GROUP BY server, server_version
        )
        GROUP BY server
    )
    WHERE previous != ''
),
calls AS
(
    SELECT server, server_version, sum(c.calls) AS calls FROM {{.Database}}.activity_by_minute_unique AS c
    WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(minute) AND deployment IN (${deployment:singlequote})
    GROUP BY server, server_version
),
counted AS
(
    SELECT server, server_version, ifNull(toString(e.error_kind), 'none given') AS kind, sum(e.errors) AS errors
    FROM {{.Database}}.errors_hourly AS e
    WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(hour) AND deployment IN (${deployment:singlequote}) AND e.errors > 0
    GROUP BY server, server_version, kind
)
SELECT v.server AS server, concat(v.previous, ' to ', v.newest) AS versions, v.since AS since, e.kind AS kind,
    1000 * sumIf(e.errors, e.server_version = v.previous) / any(p.calls) AS before,
    1000 * sumIf(e.errors, e.server_version = v.newest) / any(n.calls) AS after, after - before AS change
FROM versions AS v
INNER JOIN counted AS e ON e.server = v.server
LEFT JOIN calls AS p ON p.server = v.server AND p.server_version = v.previous
LEFT JOIN calls AS n ON n.server = v.server AND n.server_version = v.newest
WHERE e.server_version IN (v.previous, v.newest)
GROUP BY v.server, v.previous, v.newest, v.since, e.kind
ORDER BY abs(change) DESC
LIMIT 100
