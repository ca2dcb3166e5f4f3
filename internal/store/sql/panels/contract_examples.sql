-- The newest payloads that break the contract, of the last day of the range at most. A
-- message begins with its path, which stands beside it already.
SELECT received_at, server, server_version AS version, tool,
    arrayStringConcat(arrayMap((r, p) -> concat(r, ' ', p), r.violations.rule, r.violations.path), ', ') AS broken,
    replaceRegexpOne(r.violations.message[1], '^/\\S*: ', '') AS message,
    substringUTF8(payload, 1, 300) AS payload_begins
FROM {{.Database}}.records AS r
WHERE received_at >= toDateTime64($__toTime - INTERVAL 24 HOUR, 3) AND received_at <= toDateTime64($__toTime, 3)
  AND server IN (${server:singlequote}) AND environment IN (${environment:singlequote})
  AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND tool IN (${tool:singlequote})
  AND notEmpty(r.violations.rule)
ORDER BY received_at DESC
LIMIT 1 BY record_id
LIMIT 20
