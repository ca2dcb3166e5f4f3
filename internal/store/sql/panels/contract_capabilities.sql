-- What servers declare, against the kinds that they sent in this range.
SELECT d.server AS server, d.version AS version, d.told AS told_at,
    multiIf(d.value IS NULL, 'not declared', d.value, 'true', 'false') AS default_on,
    length(d.kinds) AS kinds_declared, length(o.kinds) AS kinds_seen,
    arrayStringConcat(arraySort(arrayFilter(k -> NOT has(d.kinds, k), o.kinds)), ', ') AS seen_not_declared,
    arrayStringConcat(arraySort(arrayFilter(k -> NOT has(o.kinds, k), d.kinds)), ', ') AS declared_not_seen
FROM
(
    SELECT server, version, max(b.at) AS told, argMax(arrayMap(k -> toString(k), b.error_kinds), b.at) AS kinds,
        argMaxIf(b.declared_default, b.at, b.declared_default IS NOT NULL) AS value
    FROM {{.Database}}.capabilities AS b
    WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND b.at <= $__toTime
    GROUP BY server, version
) AS d
LEFT JOIN
(
    SELECT server, toString(server_version) AS version, groupUniqArray(toString(assumeNotNull(k.error_kind))) AS kinds
    FROM
    (
        SELECT server, server_version, error_kind, sum(b.errors) AS errors
        FROM {{.Database}}.errors_hourly AS b
        WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(hour)
          AND b.errors > 0 AND error_kind IS NOT NULL AND shape = 'mcp_envelope_v1'
        GROUP BY server, server_version, error_kind
    ) AS k
    GROUP BY server, version
) AS o ON d.server = o.server AND d.version = o.version
ORDER BY server, version
LIMIT 50
