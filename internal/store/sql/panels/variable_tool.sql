SELECT DISTINCT tool FROM {{.Database}}.calls_hourly
WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(hour)
ORDER BY tool
