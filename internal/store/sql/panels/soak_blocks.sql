-- Blocks by version, with the exact quantiles of their bytes.
SELECT server, server_version AS version, sum(b.blocks) AS blocks, sum(b.malformed) AS malformed,
    uniqExact(deployment) AS deployments,
    quantileExactWeightedArray(0.5)(mapKeys(sizes), mapValues(sizes)) AS p50, quantileExactWeightedArray(0.95)(mapKeys(sizes), mapValues(sizes)) AS p95,
    quantileExactWeightedArray(0.99)(mapKeys(sizes), mapValues(sizes)) AS p99, max(arrayMax(mapKeys(sizes))) AS largest,
    if(sum(b.response_bytes_sum) > 0, sum(b.known_bytes_sum) / sum(b.response_bytes_sum), NULL) AS share,
    sum(b.known_size_blocks) / sum(b.blocks) AS known
FROM {{.Database}}.blocks_by_minute_unique AS b
WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(minute)
  AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND tool IN (${tool:singlequote}) AND option = 'on' AND b.blocks > 0
GROUP BY server, server_version
ORDER BY server, version
