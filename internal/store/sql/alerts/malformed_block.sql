-- Malformed blocks that arrived in the window, counted as the gate malformed counts them.
SELECT b.server AS server, toFloat64(sum(b.malformed)) AS malformed
FROM {{.Database}}.blocks_by_minute_unique AS b
WHERE $__timeFilter(b.arrived) AND b.environment = 'production' AND b.option = 'on'
GROUP BY server
ORDER BY server
