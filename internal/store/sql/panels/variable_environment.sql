SELECT DISTINCT replaceAll(environment, '\\', '\\\\') AS listed FROM {{.Database}}.activity_by_minute
WHERE server IN (${server:singlequote}) AND $__timeFilter(minute)
ORDER BY listed
