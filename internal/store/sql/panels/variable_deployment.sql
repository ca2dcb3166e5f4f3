SELECT DISTINCT replaceAll(deployment, '\\', '\\\\') AS listed FROM {{.Database}}.activity_by_minute
WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(minute)
ORDER BY listed
