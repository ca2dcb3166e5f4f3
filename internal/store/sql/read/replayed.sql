-- Production calls with a replay id (D16).
SELECT server, replay_id AS replay, toInt64(sum(c.calls)) AS calls, toInt64(toUnixTimestamp(min(minute)) / 60) AS first, toInt64(toUnixTimestamp(max(minute)) / 60) AS last
FROM {{.Database}}.activity_by_minute AS c FINAL
WHERE c.calls > 0 AND replay_id != '' AND environment = 'production' AND {{.Window}}
GROUP BY server, replay_id
ORDER BY server, replay_id
