-- Gives activity_by_minute what was sealed before it was there. Safe to run twice:
-- the same keys get the same rows. Rewrites nothing.
INSERT INTO {{.Database}}.activity_by_minute (minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, calls, version)
SELECT minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id,
    sum(c.calls), max(c.version)
FROM {{.Database}}.calls_by_minute AS c FINAL
GROUP BY minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id
