-- lateness_by_day of an hour of arrival.
-- Keys of the hour that are no longer found get zeros.
INSERT INTO {{.Database}}.lateness_by_hour
    (arrived, server, environment, deployment, instance, replay_id, records, late, ahead, least_ms, greatest_ms, version)
SELECT {{.Hour}}, server, environment, deployment, instance, replay_id,
    sum(s.records), sum(s.late), sum(s.ahead), minIf(s.least_ms, s.records > 0), maxIf(s.greatest_ms, s.records > 0), {{.Version}}
FROM
(
    SELECT server, environment, deployment, instance, replay_id, records, late, ahead, least_ms, greatest_ms
    FROM {{.Database}}.lateness_by_day AS m FINAL
    WHERE m.arrived >= {{.Hour}} AND m.arrived < {{.HourEnd}}
    UNION ALL
    SELECT server, environment, deployment, instance, replay_id, toUInt64(0) AS records, toUInt64(0) AS late, toUInt64(0) AS ahead, toInt64(0) AS least_ms, toInt64(0) AS greatest_ms
    FROM {{.Database}}.lateness_by_hour
    WHERE arrived = {{.Hour}}
) AS s
GROUP BY server, environment, deployment, instance, replay_id
