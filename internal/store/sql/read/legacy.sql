-- Legacy kinds by version (D14).
SELECT server, server_version AS version, toString(legacy_error_kind) AS value, toInt64(sum(errors)) AS count, toInt64(toUnixTimestamp(min(minute)) / 60) AS first
FROM {{.Database}}.errors_by_minute FINAL
WHERE errors > 0 AND legacy_error_kind IS NOT NULL AND environment = 'production' AND {{.Window}}
GROUP BY server, version, value
ORDER BY server, version, value
