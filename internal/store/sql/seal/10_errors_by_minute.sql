-- Failed calls, with what tells most of each.
-- Keys of the slice that are no longer found get zeros.
INSERT INTO {{.Database}}.errors_by_minute
    (minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, shape, error_kind, error_code, legacy_error_kind, http_status, retryable, valid, off_taxonomy, opaque, errors, unreadable, cut, weighted_errors, version)
SELECT minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, shape, error_kind, error_code, legacy_error_kind, http_status, retryable, valid, off_taxonomy, opaque,
    sum(s.errors), sum(s.unreadable), sum(s.cut), sum(s.weighted_errors), {{.Version}}
FROM
(
    SELECT minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id,
        tool, shape, error_kind, error_code, legacy_error_kind, http_status, retryable, valid, off_taxonomy, opaque,
        toUInt64(1) AS errors, toUInt64(error_rank = 3) AS unreadable, toUInt64(error_rank = 3 AND attribute_text) AS cut, error_weight AS weighted_errors
    FROM {{.Database}}.{{.Scratch}}
    WHERE error_first
    UNION ALL
    SELECT minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, shape, error_kind, error_code, legacy_error_kind, http_status, retryable, valid, off_taxonomy, opaque,
        toUInt64(0) AS errors, toUInt64(0) AS unreadable, toUInt64(0) AS cut, toUInt64(0) AS weighted_errors
    FROM {{.Database}}.errors_by_minute
    WHERE arrived = {{.Slice}} AND (SELECT count() FROM {{.Database}}.{{.Scratch}}_rows) > 0
) AS s
GROUP BY minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, shape, error_kind, error_code, legacy_error_kind, http_status, retryable, valid, off_taxonomy, opaque
