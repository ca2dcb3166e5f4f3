-- Envelopes and unreadable texts: whole hours as one minute, the rest by minute.
(
    SELECT server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, lead,
        hour AS minute, envelopes, unreadable, cut
    FROM {{.Database}}.envelopes_by_hour FINAL
    WHERE hour >= {{.From}} AND hour < {{.T}} AND arrived < {{.Settled}} AND NOT ({{.CutHours}})
    UNION ALL
    SELECT server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, toUInt32(greatest(dateDiff('second', arrived, minute), 0)) AS lead,
        minute, if(shape = 'mcp_envelope_v1', errors, 0) AS envelopes, unreadable, cut
    FROM {{.Database}}.errors_by_minute FINAL
    WHERE errors > 0 AND {{.Window}} AND (arrived >= {{.Settled}} OR {{.CutMinutes}})
)
