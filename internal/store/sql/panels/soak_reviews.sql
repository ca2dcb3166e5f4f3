SELECT server, max(r.at) AS reviewed, argMax(r.by, r.at) AS reviewer, round(dateDiff('hour', reviewed, $__toTime) / 24, 1) AS days_ago
FROM {{.Database}}.complaint_reviews AS r
WHERE server IN (${server:singlequote}) AND r.at <= $__toTime
GROUP BY server
ORDER BY server
