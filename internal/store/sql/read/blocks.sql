-- Blocks with the option on, by version and deployment, trusted clocks apart (D6, D10).
SELECT server, server_version AS version, deployment, deployment_source AS source, toBool({{.TrustedLead}}) AS trusted,
    toInt64(sum(b.blocks)) AS blocks, toInt64(sum(b.malformed)) AS malformed,
    toInt64(toUnixTimestamp(minIf(b.malformed_first, b.malformed > 0)) / 60) AS first, toInt64(toUnixTimestamp(maxIf(b.malformed_last, b.malformed > 0)) / 60) AS last,
    toInt64(sumIf(b.blocks, minute >= {{.Recent}})) AS recent, toInt64(sum(b.weighted_blocks)) AS weight_micro,
    sumMap(b.sizes) AS sizes,
    toInt64(sum(b.known_size_blocks)) AS known, toInt64(sum(b.known_bytes_sum)) AS known_bytes, toInt64(sum(b.response_bytes_sum)) AS answer_bytes
FROM {{.Blocks}} AS b
WHERE environment = 'production' AND option = 'on' AND {{.Anchored}}
GROUP BY server, version, deployment, source, trusted
ORDER BY server, version, deployment, source, trusted
