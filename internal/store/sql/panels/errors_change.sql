-- Each server's newest version against the one before it: errors for a thousand calls.
SELECT v.server AS server, concat(v.previous.2, ' to ', v.newest.2) AS versions, toDateTime(v.newest.1) AS since,
    ifNull(toString(e.error_kind), 'none given') AS kind,
    1000 * sumIf(e.errors, e.server_version = v.previous.2) / v.previous.3 AS before,
    1000 * sumIf(e.errors, e.server_version = v.newest.2) / v.newest.3 AS after, after - before AS change
FROM
(
    SELECT server, arrayReverseSort(groupArray((first, toString(server_version), calls))) AS seen, seen[1] AS newest, seen[2] AS previous
    FROM
    (
        SELECT server, server_version, min(a.first) AS first, sum(a.calls) AS calls
        FROM
        (
            SELECT server, server_version, first, calls FROM {{.Database}}.activity_by_hour FINAL
            WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(hour) AND deployment IN (${deployment:singlequote})
              AND arrived < (SELECT through FROM {{.Database}}.hours_settled)
            UNION ALL
            SELECT server, server_version, minute AS first, calls FROM {{.Database}}.activity_by_minute FINAL
            WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(minute) AND deployment IN (${deployment:singlequote})
              AND arrived >= (SELECT through FROM {{.Database}}.hours_settled)
        ) AS a
        WHERE a.calls > 0
        GROUP BY server, server_version
    )
    GROUP BY server
    HAVING length(seen) > 1
) AS v
INNER JOIN
(
    SELECT server, server_version, error_kind, sum(b.errors) AS errors
    FROM {{.Database}}.errors_hourly AS b
    WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(hour) AND deployment IN (${deployment:singlequote}) AND b.errors > 0
    GROUP BY server, server_version, error_kind
) AS e ON e.server = v.server
WHERE e.server_version = v.previous.2 OR e.server_version = v.newest.2
GROUP BY v.server, v.previous, v.newest, e.error_kind
ORDER BY abs(change) DESC
LIMIT 100
