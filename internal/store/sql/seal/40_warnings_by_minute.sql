-- Rows of _meta.warnings by kind.
-- Keys of the slice that are no longer found get zeros.
INSERT INTO {{.Database}}.warnings_by_minute
    (minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, kind, warnings, records, version)
SELECT minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, kind,
    sum(s.warnings), sum(s.records), {{.Version}}
FROM
(
    SELECT minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id,
        kind,
        countEqual(warning_kinds, kind) AS warnings, toUInt64(1) AS records
    FROM {{.Database}}.{{.Scratch}}
    ARRAY JOIN arrayDistinct(warning_kinds) AS kind
    WHERE meta_first
    UNION ALL
    SELECT minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, kind,
        toUInt64(0) AS warnings, toUInt64(0) AS records
    FROM {{.Database}}.warnings_by_minute
    WHERE arrived = {{.Slice}} AND (SELECT count() FROM {{.Database}}.{{.Scratch}}_rows) > 0
) AS s
GROUP BY minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, kind
