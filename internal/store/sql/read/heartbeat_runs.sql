-- Runs of minutes with a heartbeat of any collector.
SELECT toInt64(toUnixTimestamp(min(minute)) / 60) AS from, toInt64(toUnixTimestamp(max(minute)) / 60) + 1 AS to
FROM
(
    SELECT minute, toUnixTimestamp(minute) / 60 - row_number() OVER (ORDER BY minute) AS island
    FROM {{.Database}}.collector_heartbeats
    WHERE minute >= {{.From}} AND minute < {{.T}} AND at < {{.AsOf}}
    GROUP BY minute
)
GROUP BY island
ORDER BY from
