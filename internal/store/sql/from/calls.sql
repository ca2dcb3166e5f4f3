-- calls_by_minute: whole hours as one minute, the rest by minute.
(
    SELECT server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, lead,
        tool, hour AS minute, calls
    FROM {{.Database}}.calls_by_hour FINAL
    WHERE calls > 0 AND hour >= {{.From}} AND hour < {{.T}} AND arrived < {{.Settled}} AND NOT ({{.CutHours}})
    UNION ALL
    SELECT server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, toUInt32(greatest(dateDiff('second', arrived, minute), 0)) AS lead,
        tool, minute, calls
    FROM {{.Database}}.calls_by_minute FINAL
    WHERE calls > 0 AND {{.Window}} AND (arrived >= {{.Settled}} OR {{.CutMinutes}})
)
