-- Each call once; it failed when any record of it says so.
-- Keys of the slice that are no longer found get zeros.
INSERT INTO {{.Database}}.calls_by_minute
    (minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, outcome, mistake, calls, weighted_calls, duration_ns_sum, duration_count, version)
SELECT minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, outcome, mistake,
    sum(s.calls), sum(s.weighted_calls), sum(s.duration_ns_sum), sum(s.duration_count), {{.Version}}
FROM
(
    SELECT minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id,
        tool, outcome, mistake,
        toUInt64(1) AS calls, call_weight AS weighted_calls,
        ifNull(duration_ns, 0) AS duration_ns_sum, toUInt64(duration_ns IS NOT NULL) AS duration_count
    FROM {{.Database}}.{{.Scratch}}
    WHERE call_first
    UNION ALL
    SELECT minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, outcome, mistake,
        toUInt64(0) AS calls, toUInt64(0) AS weighted_calls, toUInt64(0) AS duration_ns_sum, toUInt64(0) AS duration_count
    FROM {{.Database}}.calls_by_minute
    WHERE arrived = {{.Slice}} AND (SELECT count() FROM {{.Database}}.{{.Scratch}}_rows) > 0
) AS s
GROUP BY minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, outcome, mistake
