-- Lateness by instance. Late is over 24 h, ahead over 5 min (D15).
-- Keys of the slice that are no longer found get zeros.
INSERT INTO {{.Database}}.lateness_by_day
    (arrived, server, environment, deployment, instance, replay_id, records, late, ahead, least_ms, greatest_ms, version)
SELECT arrived, server, environment, deployment, instance, replay_id,
    sum(s.records), sum(s.late), sum(s.ahead), minIf(s.ms, s.records > 0), maxIf(s.ms, s.records > 0), {{.Version}}
FROM
(
    SELECT arrived, server, environment, deployment, instance, replay_id,
        toUInt64(1) AS records, toUInt64(lateness_ms > 86400000) AS late, toUInt64(lateness_ms < -300000) AS ahead, lateness_ms AS ms
    FROM {{.Database}}.{{.Scratch}}
    UNION ALL
    SELECT arrived, server, environment, deployment, instance, replay_id,
        toUInt64(0) AS records, toUInt64(0) AS late, toUInt64(0) AS ahead, toInt64(0) AS ms
    FROM {{.Database}}.lateness_by_day
    WHERE arrived = {{.Slice}} AND (SELECT count() FROM {{.Database}}.{{.Scratch}}_rows) > 0
) AS s
GROUP BY arrived, server, environment, deployment, instance, replay_id
