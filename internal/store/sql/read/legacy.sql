-- Legacy kinds by version (D14). PREWHERE comes before FINAL and so has columns of
-- the key alone; few rows are left to merge.
SELECT server, server_version AS version, toString(legacy_error_kind) AS value, toInt64(sum(errors)) AS count, toInt64(toUnixTimestamp(min(minute)) / 60) AS first
FROM {{.Database}}.errors_by_minute FINAL
PREWHERE legacy_error_kind IS NOT NULL
WHERE errors > 0 AND environment = 'production' AND {{.Window}}
GROUP BY server, version, value
ORDER BY server, version, value
