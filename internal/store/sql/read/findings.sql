-- Values outside the taxonomy, and malformed blocks before the anchor (D11).
-- PREWHERE comes before FINAL and so has columns of the key alone; few rows are left to merge.
SELECT server, version, what, value, before_anchor, toInt64(sum(n)) AS count, toInt64(toUnixTimestamp(min(minute)) / 60) AS first, toInt64(toUnixTimestamp(max(minute)) / 60) AS last
FROM
(
    SELECT server, server_version AS version, 'error_kind' AS what, ifNull(toString(error_kind), '') AS value,
        toBool(NOT ({{.Anchored}})) AS before_anchor, errors AS n, minute
    FROM {{.Database}}.errors_by_minute FINAL
    PREWHERE off_taxonomy
    WHERE errors > 0 AND environment = 'production' AND option = 'on' AND {{.Window}}
    UNION ALL
    SELECT server, server_version AS version, 'normalized_kind' AS what, ifNull(toString(kind), '') AS value,
        toBool(NOT ({{.Anchored}})) AS before_anchor, events AS n, minute
    FROM {{.Database}}.normalizations_by_minute FINAL
    PREWHERE kind NOT IN ({{.NormalizationKinds}})
    WHERE events > 0 AND environment = 'production' AND option = 'on' AND {{.Window}}
    UNION ALL
    SELECT server, server_version AS version, 'malformed' AS what, '' AS value, true AS before_anchor, b.malformed AS n, minute
    FROM {{.Database}}.blocks_by_minute AS b FINAL
    WHERE b.malformed > 0 AND environment = 'production' AND option = 'on' AND {{.Window}} AND NOT ({{.Anchored}})
)
GROUP BY server, version, what, value, before_anchor
ORDER BY server, version, what, value, before_anchor
