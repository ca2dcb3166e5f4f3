-- Minutes without a heartbeat of any collector that yet have production calls
-- from trusted clocks: senders kept what they could not deliver (D4).
SELECT server, toInt64(toUnixTimestamp(min(minute)) / 60) AS from, toInt64(toUnixTimestamp(max(minute)) / 60) + 1 AS to
FROM
(
    SELECT server, minute, toUnixTimestamp(minute) / 60 - row_number() OVER (PARTITION BY server ORDER BY minute) AS island
    FROM {{.Database}}.activity_by_minute FINAL
    WHERE calls > 0 AND environment = 'production' AND {{.Window}} AND {{.Trusted}}
      AND minute NOT IN (SELECT minute FROM {{.Database}}.collector_heartbeats WHERE minute >= {{.From}} AND minute < {{.T}})
    GROUP BY server, minute
)
GROUP BY server, island
ORDER BY server, from
