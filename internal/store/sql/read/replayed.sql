-- Production calls with a replay id (D16).
SELECT server, replay_id AS replay, toInt64(sum(a.calls)) AS calls, toInt64(toUnixTimestamp(min(a.minute)) / 60) AS first, toInt64(toUnixTimestamp(max(a.last)) / 60) AS last
FROM {{.Activity}} AS a
WHERE replay_id != '' AND environment = 'production'
GROUP BY server, replay_id
ORDER BY server, replay_id
