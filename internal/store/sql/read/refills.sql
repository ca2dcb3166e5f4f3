-- Minutes without a heartbeat of any collector that yet have production calls
-- from trusted clocks: senders kept what they could not deliver (D4). Only hours
-- that lack a heartbeat are read.
SELECT server, toInt64(toUnixTimestamp(min(minute)) / 60) AS from, toInt64(toUnixTimestamp(max(minute)) / 60) + 1 AS to
FROM
(
    WITH
        beats AS (SELECT DISTINCT minute FROM {{.Database}}.collector_heartbeats WHERE minute >= {{.From}} AND minute < {{.T}}),
        whole AS (SELECT toStartOfHour(minute) AS hour FROM beats GROUP BY hour HAVING count() = 60),
        hours AS (SELECT toStartOfHour({{.From}}) + 3600 * number AS hour FROM numbers(toUInt64(dateDiff('hour', {{.From}}, {{.T}}) + 1)))
    SELECT server, minute, toUnixTimestamp(minute) / 60 - row_number() OVER (PARTITION BY server ORDER BY minute) AS island
    FROM {{.Database}}.activity_by_minute FINAL
    WHERE calls > 0 AND environment = 'production' AND {{.Window}} AND {{.Trusted}}
      AND toStartOfHour(minute) IN (SELECT hour FROM hours WHERE hour NOT IN (SELECT hour FROM whole))
      AND minute NOT IN (SELECT minute FROM beats)
    GROUP BY server, minute
)
GROUP BY server, island
ORDER BY server, from
