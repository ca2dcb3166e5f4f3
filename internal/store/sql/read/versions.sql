-- Versions in production: first and last calls, and whether they are live (D3).
SELECT server, server_version AS version,
    toInt64(toUnixTimestamp(min(a.minute)) / 60) AS first,
    toInt64(toUnixTimestamp(minIf(a.minute, option = 'on' AND {{.TrustedLead}})) / 60) AS first_on,
    toInt64(toUnixTimestamp(maxIf(a.last, option = 'on' AND {{.TrustedLead}})) / 60) AS last_on,
    toInt64(sumIf(a.calls, option = 'on' AND minute >= {{.Live}})) AS live
FROM {{.Activity}} AS a
WHERE environment = 'production'
GROUP BY server, server_version
ORDER BY server, server_version
