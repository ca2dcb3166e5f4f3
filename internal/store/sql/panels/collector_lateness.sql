SELECT server, environment, sum(l.records) AS records, sum(l.late) AS late, late / records AS late_share, sum(l.ahead) AS ahead,
    min(l.least_ms) / 1000 AS least, max(l.greatest_ms) / 1000 AS greatest
FROM {{.Database}}.lateness_by_day AS l FINAL
WHERE $__timeFilter(l.arrived) AND l.records > 0
GROUP BY server, environment
ORDER BY server, environment
