SELECT DISTINCT replaceAll(server_version, '\\', '\\\\') AS listed FROM {{.Database}}.activity_by_minute
WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(minute)
  AND deployment IN (${deployment:singlequote})
ORDER BY listed
