-- Values outside the taxonomy that first arrived in the window, and not in the thirty days before it.
SELECT server, what, value, toFloat64(sum(n)) AS times
FROM
(
    SELECT e.server AS server, 'error_kind' AS what, ifNull(toString(e.error_kind), '') AS value, e.errors AS n, e.arrived AS arrived
    FROM {{.Database}}.errors_hourly AS e
    WHERE e.hour >= $__fromTime - INTERVAL 31 DAY AND e.environment = 'production' AND e.off_taxonomy
        AND e.arrived >= $__fromTime - INTERVAL 30 DAY AND e.arrived <= $__toTime
    UNION ALL
    SELECT n.server AS server, 'normalized_kind' AS what, ifNull(toString(n.kind), '') AS value, n.events AS n, n.arrived AS arrived
    FROM {{.Database}}.normalizations_by_minute_unique AS n
    WHERE n.minute >= $__fromTime - INTERVAL 31 DAY AND n.environment = 'production' AND n.kind NOT IN ({{.NormalizationKinds}})
        AND n.arrived >= $__fromTime - INTERVAL 30 DAY AND n.arrived <= $__toTime
)
WHERE n > 0
GROUP BY server, what, value
HAVING min(arrived) >= toStartOfHour($__fromTime)
ORDER BY server, what, value
