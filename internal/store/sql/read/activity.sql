-- Deployments in production: what they declare of strictness, and recent calls (D5).
SELECT server, deployment, deployment_source AS source,
    toInt64(sumIf(a.calls, option = 'on' AND strict = 'on' AND minute >= {{.Live}})) AS strict_on,
    toInt64(sumIf(a.calls, option = 'on' AND strict = 'off' AND minute >= {{.Live}})) AS strict_off,
    toInt64(sumIf(a.calls, option = 'on' AND minute >= {{.Recent}} AND {{.TrustedLead}})) AS recent
FROM {{.Activity}} AS a
WHERE environment = 'production'
GROUP BY server, deployment, deployment_source
ORDER BY server, deployment, deployment_source
