-- Events by kind; a call counts once for each kind that it carries.
-- Keys of the slice that are no longer found get zeros.
INSERT INTO {{.Database}}.normalizations_by_minute
    (minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, kind, valid, events, calls, version)
SELECT minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, kind, valid,
    sum(s.events), sum(s.calls), {{.Version}}
FROM
(
    SELECT minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id,
        tool, kind, valid,
        countEqual(normalized_kinds, kind) AS events, toUInt64(1) AS calls
    FROM {{.Database}}.{{.Scratch}}
    ARRAY JOIN arrayDistinct(normalized_kinds) AS kind
    WHERE meta_first
    UNION ALL
    SELECT minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, kind, valid,
        toUInt64(0) AS events, toUInt64(0) AS calls
    FROM {{.Database}}.normalizations_by_minute
    WHERE arrived = {{.Slice}} AND (SELECT count() FROM {{.Database}}.{{.Scratch}}_rows) > 0
) AS s
GROUP BY minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, kind, valid
