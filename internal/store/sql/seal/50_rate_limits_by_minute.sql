-- Rate limits and retry-after, times in whole milliseconds so that sums are exact.
-- Keys of the slice that are no longer found get zeros.
INSERT INTO {{.Database}}.rate_limits_by_minute
    (minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, records, least_remaining, at_zero, retry_after_count, retry_after_ms_sum, retry_after_ms_max, version)
SELECT minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool,
    sum(s.records), min(s.least_remaining), sum(s.at_zero), sum(s.retry_after_count), sum(s.retry_after_ms_sum), max(s.retry_after_ms_max), {{.Version}}
FROM
(
    SELECT minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id,
        tool,
        toUInt64(has_rate_limit) AS records, remaining AS least_remaining, toUInt64(ifNull(remaining = 0, 0)) AS at_zero,
        toUInt64(retry_after_seconds IS NOT NULL) AS retry_after_count,
        toUInt64(round(least(ifNull(retry_after_seconds, 0), 1e12) * 1000)) AS retry_after_ms_sum, retry_after_ms_sum AS retry_after_ms_max
    FROM {{.Database}}.{{.Scratch}}
    WHERE meta_first AND (has_rate_limit OR retry_after_seconds IS NOT NULL)
    UNION ALL
    SELECT minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool,
        toUInt64(0) AS records, CAST(NULL, 'Nullable(Float64)') AS least_remaining, toUInt64(0) AS at_zero, toUInt64(0) AS retry_after_count, toUInt64(0) AS retry_after_ms_sum, toUInt64(0) AS retry_after_ms_max
    FROM {{.Database}}.rate_limits_by_minute
    WHERE arrived = {{.Slice}} AND (SELECT count() FROM {{.Database}}.{{.Scratch}}_rows) > 0
) AS s
GROUP BY minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool
