-- The versions that answered with the option on in the last day, and what each server
-- declares.
SELECT v.server AS server, v.version AS version, v.first AS first_call, v.last AS last_call, v.live AS calls_last_day,
    multiIf(d.version = '', 'not declared', d.declared = 1, 'true', 'false') AS declared_default,
    if(c.version = '', 'none', c.suite) AS conformance_suite
FROM
(
    SELECT server, server_version AS version, minIf(minute, option = 'on') AS first, maxIf(minute, option = 'on') AS last,
        sumIf(a.calls, option = 'on' AND minute >= $__toTime - INTERVAL 24 HOUR) AS live
    FROM {{.Database}}.activity_by_minute_unique AS a
    WHERE server IN (${server:singlequote}) AND environment = 'production' AND $__timeFilter(minute) AND a.calls > 0
    GROUP BY server, server_version
    HAVING live > 0
) AS v
LEFT JOIN
(
    SELECT server, version, argMax(assumeNotNull(b.declared_default), (b.at, b.recorded_at)) AS declared
    FROM {{.Database}}.capabilities AS b
    WHERE declared_default IS NOT NULL AND environment = 'production' AND b.at <= $__toTime
    GROUP BY server, version
) AS d ON v.server = d.server AND v.version = d.version
LEFT JOIN
(
    SELECT server, version, argMax(r.suite_version, r.at) AS suite
    FROM {{.Database}}.conformance_runs AS r
    WHERE r.at <= $__toTime
    GROUP BY server, version
) AS c ON v.server = c.server AND v.version = c.version
ORDER BY server, version
