-- Calls of each tool, and those with a well-formed normalization by kind: 0 was never
-- exercised.
SELECT server, tool, sum(u.calls) AS calls, sum(u.calls_on) AS with_option_on,
    sumIf(u.normalized, kind = 'renamed') AS renamed, sumIf(u.normalized, kind = 'dropped_alias') AS dropped_alias, sumIf(u.normalized, kind = 'coerced') AS coerced,
    sumIf(u.normalized, kind = 'unknown_field_passed_through') AS passed_through, sumIf(u.normalized, kind = 'unknown_field_rejected') AS rejected
FROM
(
    SELECT server, tool, '' AS kind, sum(c.calls) AS calls, sumIf(c.calls, option = 'on') AS calls_on, 0 AS normalized
    FROM {{.Database}}.calls_hourly AS c
    WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(hour)
      AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND tool IN (${tool:singlequote})
    GROUP BY server, tool
    UNION ALL
    SELECT server, tool, ifNull(toString(kind), '') AS kind, 0 AS calls, 0 AS calls_on, sum(b.calls) AS normalized
    FROM {{.Database}}.normalizations_by_minute_unique AS b
    WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(minute)
      AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND tool IN (${tool:singlequote}) AND option = 'on' AND valid
    GROUP BY server, tool, kind
) AS u
GROUP BY server, tool
ORDER BY server, with_option_on, tool
LIMIT 500
