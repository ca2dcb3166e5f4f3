-- Blocks (D6) and the exact histogram of their sizes (D10).
-- Keys of the slice that are no longer found get zeros.
INSERT INTO {{.Database}}.blocks_by_minute
    (minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool, blocks, envelope_blocks, weighted_blocks, malformed, sizes, bytes_sum, known_size_blocks, known_bytes_sum, response_bytes_sum, version)
SELECT minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool,
    sum(s.blocks), sum(s.envelope_blocks), sum(s.weighted_blocks), sum(s.malformed), sumMap(s.sizes), sum(s.bytes_sum), sum(s.known_size_blocks), sum(s.known_bytes_sum), sum(s.response_bytes_sum), {{.Version}}
FROM
(
    SELECT minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id,
        tool,
        toUInt64(1) AS blocks, toUInt64(shape = 'mcp_envelope_v1') AS envelope_blocks, meta_weight AS weighted_blocks,
        toUInt64(malformed) AS malformed,
        map(ifNull(normalized_bytes, 0), toUInt64(1)) AS sizes, toUInt64(ifNull(normalized_bytes, 0)) AS bytes_sum,
        toUInt64(response_bytes IS NOT NULL) AS known_size_blocks,
        if(response_bytes IS NULL, 0, bytes_sum) AS known_bytes_sum, ifNull(response_bytes, 0) AS response_bytes_sum
    FROM {{.Database}}.{{.Scratch}}
    WHERE meta_first AND has_normalized
    UNION ALL
    SELECT minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool,
        toUInt64(0) AS blocks, toUInt64(0) AS envelope_blocks, toUInt64(0) AS weighted_blocks, toUInt64(0) AS malformed, CAST(map(), 'Map(UInt32, UInt64)') AS sizes, toUInt64(0) AS bytes_sum, toUInt64(0) AS known_size_blocks, toUInt64(0) AS known_bytes_sum, toUInt64(0) AS response_bytes_sum
    FROM {{.Database}}.blocks_by_minute
    WHERE arrived = {{.Slice}} AND (SELECT count() FROM {{.Database}}.{{.Scratch}}_rows) > 0
) AS s
GROUP BY minute, arrived, server, server_family, server_version, environment, deployment, deployment_source, instance, option, strict, replay_id, tool
