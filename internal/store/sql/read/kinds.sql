-- Well-formed calls with a normalization, since the current run began (D9).
SELECT server, ifNull(toString(kind), '') AS kind_name, tool, deployment, deployment_source AS source,
    toInt64(sum(n.calls)) AS calls, toInt64(sumIf(n.calls, minute >= {{.Recent}})) AS recent
FROM {{.Database}}.normalizations_by_minute AS n FINAL
WHERE n.calls > 0 AND valid AND environment = 'production' AND option = 'on' AND {{.Window}} AND {{.Trusted}} AND {{.InRun}}
GROUP BY server, kind_name, tool, deployment, source
ORDER BY server, kind_name, tool, deployment, source
