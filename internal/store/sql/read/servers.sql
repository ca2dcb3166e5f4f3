-- Calls by server and environment (D2).
SELECT server, environment, toInt64(sum(a.calls)) AS calls, toInt64(toUnixTimestamp(min(a.minute)) / 60) AS first, toInt64(toUnixTimestamp(max(a.last)) / 60) AS last
FROM {{.Activity}} AS a
GROUP BY server, environment
ORDER BY server, environment
