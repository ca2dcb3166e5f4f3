-- blocks_by_minute: whole hours as one minute, the rest by minute.
(
    SELECT server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, lead,
        hour AS minute, malformed_first, malformed_last, blocks, envelope_blocks, weighted_blocks, malformed, sizes, known_size_blocks, known_bytes_sum, response_bytes_sum
    FROM {{.Database}}.blocks_by_hour FINAL
    WHERE blocks > 0 AND hour >= {{.From}} AND hour < {{.T}} AND arrived < {{.Settled}} AND NOT ({{.CutHours}})
    UNION ALL
    SELECT server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, toUInt32(greatest(dateDiff('second', arrived, minute), 0)) AS lead,
        minute, minute AS malformed_first, minute AS malformed_last, blocks, envelope_blocks, weighted_blocks, malformed, sizes, known_size_blocks, known_bytes_sum, response_bytes_sum
    FROM {{.Database}}.blocks_by_minute FINAL
    WHERE blocks > 0 AND {{.Window}} AND (arrived >= {{.Settled}} OR {{.CutMinutes}})
)
