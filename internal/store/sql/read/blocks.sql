-- Blocks with the option on, by version and deployment, trusted clocks apart (D6, D10).
SELECT server, server_version AS version, deployment, deployment_source AS source, toBool({{.Trusted}}) AS trusted,
    toInt64(sum(b.blocks)) AS blocks, toInt64(sum(b.malformed)) AS malformed,
    toInt64(toUnixTimestamp(minIf(minute, b.malformed > 0)) / 60) AS first, toInt64(toUnixTimestamp(maxIf(minute, b.malformed > 0)) / 60) AS last,
    toInt64(sumIf(b.blocks, minute >= {{.Recent}})) AS recent, toInt64(sum(b.weighted_blocks)) AS weight_micro,
    sumMap(b.sizes) AS sizes,
    toInt64(sum(b.known_size_blocks)) AS known, toInt64(sum(b.known_bytes_sum)) AS known_bytes, toInt64(sum(b.response_bytes_sum)) AS answer_bytes
FROM {{.Database}}.blocks_by_minute AS b FINAL
WHERE b.blocks > 0 AND environment = 'production' AND option = 'on' AND {{.Window}} AND {{.Anchored}}
GROUP BY server, version, deployment, source, trusted
ORDER BY server, version, deployment, source, trusted
