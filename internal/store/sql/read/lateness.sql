-- How late production records came, by instance and day of receipt, without
-- those of declared replays (D15).
SELECT server, deployment, instance, toInt64(toUnixTimestamp(toStartOfDay(arrived)) / 86400) AS day,
    toInt64(sum(l.records)) AS records, min(l.least_ms) AS least_ms, max(l.greatest_ms) AS greatest_ms
FROM
(
    SELECT arrived, server, environment, deployment, instance, replay_id, records, least_ms, greatest_ms
    FROM {{.Database}}.lateness_by_hour FINAL
    WHERE arrived < {{.Settled}}
    UNION ALL
    SELECT arrived, server, environment, deployment, instance, replay_id, records, least_ms, greatest_ms
    FROM {{.Database}}.lateness_by_day FINAL
    WHERE arrived >= {{.Settled}}
) AS l
WHERE l.records > 0 AND environment = 'production' AND arrived >= toStartOfDay({{.From}}) AND {{.Arrived}}
  AND replay_id NOT IN (SELECT replay_id FROM {{.Database}}.replays)
GROUP BY server, deployment, instance, day
ORDER BY server, deployment, instance, day
