SELECT $__timeInterval(minute) AS time, server, sum(a.calls) AS calls
FROM {{.Database}}.activity_by_minute_unique AS a
WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(minute)
  AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND option = 'on'
GROUP BY time, server
ORDER BY time, server
