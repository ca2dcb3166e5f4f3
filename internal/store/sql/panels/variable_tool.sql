SELECT DISTINCT replaceAll(tool, '\\', '\\\\') AS listed FROM {{.Database}}.calls_hourly
WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(hour)
ORDER BY listed
