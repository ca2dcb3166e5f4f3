-- Every server with every kind of the contract, seen or not.
SELECT s.server AS server, s.kind AS kind, n.calls AS calls, n.deployments AS deployments, n.tools AS tools
FROM
(
    SELECT DISTINCT server, arrayJoin(['renamed', 'dropped_alias', 'coerced', 'unknown_field_passed_through', 'unknown_field_rejected']) AS kind
    FROM {{.Database}}.activity_by_minute
    WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(minute)
) AS s
LEFT JOIN
(
    SELECT server, ifNull(toString(kind), '') AS kind, sum(b.calls) AS calls, uniqExact(deployment) AS deployments, uniqExact(tool) AS tools
    FROM {{.Database}}.normalizations_by_minute_unique AS b
    WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(minute)
      AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND tool IN (${tool:singlequote}) AND option = 'on' AND valid AND b.calls > 0
    GROUP BY server, kind
) AS n ON s.server = n.server AND s.kind = n.kind
ORDER BY server, kind
