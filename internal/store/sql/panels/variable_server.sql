-- Backslashes doubled: the format singlequote of Grafana escapes quotes alone.
SELECT DISTINCT replaceAll(server, '\\', '\\\\') AS listed FROM {{.Database}}.activity_by_minute
WHERE $__timeFilter(minute)
ORDER BY listed
