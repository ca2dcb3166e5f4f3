SELECT DISTINCT environment FROM {{.Database}}.activity_by_minute
WHERE server IN (${server:singlequote}) AND $__timeFilter(minute)
ORDER BY environment
