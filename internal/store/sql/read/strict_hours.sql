-- Clock hours in which one deployment sent both kinds of unknown_field (D14).
SELECT server, deployment, toInt64(count()) AS hours, toInt64(toUnixTimestamp(min(hour)) / 60) AS first, toInt64(toUnixTimestamp(max(hour)) / 60) AS last
FROM
(
    SELECT server, deployment, toStartOfHour(minute) AS hour
    FROM {{.Database}}.normalizations_by_minute FINAL
    WHERE events > 0 AND kind IN ('unknown_field_passed_through', 'unknown_field_rejected')
      AND environment = 'production' AND option = 'on' AND {{.Window}} AND {{.InRun}}
    GROUP BY server, deployment, hour
    HAVING uniqExact(kind) = 2
)
GROUP BY server, deployment
ORDER BY server, deployment
