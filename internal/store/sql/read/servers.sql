-- Calls by server and environment (D2).
SELECT server, environment, toInt64(sum(c.calls)) AS calls, toInt64(toUnixTimestamp(min(minute)) / 60) AS first, toInt64(toUnixTimestamp(max(minute)) / 60) AS last
FROM {{.Database}}.activity_by_minute AS c FINAL
WHERE c.calls > 0 AND {{.Window}}
GROUP BY server, environment
ORDER BY server, environment
