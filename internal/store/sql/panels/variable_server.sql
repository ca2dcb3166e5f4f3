SELECT DISTINCT server FROM {{.Database}}.activity_by_minute
WHERE $__timeFilter(minute)
ORDER BY server
