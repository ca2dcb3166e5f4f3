-- Broken rules, and the records that break each.
-- Keys of the slice that are no longer found get zeros.
INSERT INTO {{.Database}}.violations_by_minute
    (minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, rule, path, violations, records, version)
SELECT minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, rule, path,
    sum(s.violations), sum(s.records), {{.Version}}
FROM
(
    SELECT minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id,
        violation_rules[i] AS rule, violation_paths[i] AS path,
        toUInt64(1) AS violations, toUInt64(indexOf(arrayMap((r, p) -> (r, p), violation_rules, violation_paths), (rule, path)) = i) AS records
    FROM {{.Database}}.{{.Scratch}}
    ARRAY JOIN arrayEnumerate(violation_rules) AS i
    WHERE findings_first
    UNION ALL
    SELECT minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, rule, path,
        toUInt64(0) AS violations, toUInt64(0) AS records
    FROM {{.Database}}.violations_by_minute
    WHERE arrived = {{.Slice}} AND (SELECT count() FROM {{.Database}}.{{.Scratch}}_rows) > 0
) AS s
GROUP BY minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, rule, path
