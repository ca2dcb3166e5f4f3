-- Versions in production: first and last calls, and whether they are live (D3).
SELECT server, server_version AS version,
    toInt64(toUnixTimestamp(min(minute)) / 60) AS first,
    toInt64(toUnixTimestamp(minIf(minute, option = 'on' AND {{.Trusted}})) / 60) AS first_on,
    toInt64(toUnixTimestamp(maxIf(minute, option = 'on' AND {{.Trusted}})) / 60) AS last_on,
    toInt64(sumIf(calls, option = 'on' AND minute >= {{.Live}})) AS live
FROM {{.Database}}.activity_by_minute FINAL
WHERE calls > 0 AND environment = 'production' AND {{.Window}}
GROUP BY server, server_version
ORDER BY server, server_version
