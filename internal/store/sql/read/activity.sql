-- Deployments in production: what they declare of strictness, and recent calls (D5).
SELECT server, deployment, deployment_source AS source,
    toInt64(sumIf(calls, option = 'on' AND strict = 'on' AND minute >= {{.Live}})) AS strict_on,
    toInt64(sumIf(calls, option = 'on' AND strict = 'off' AND minute >= {{.Live}})) AS strict_off,
    toInt64(sumIf(calls, option = 'on' AND minute >= {{.Recent}} AND {{.Trusted}})) AS recent
FROM {{.Database}}.activity_by_minute FINAL
WHERE calls > 0 AND environment = 'production' AND {{.Window}}
GROUP BY server, deployment, deployment_source
ORDER BY server, deployment, deployment_source
