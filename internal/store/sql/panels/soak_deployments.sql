-- What counts as a deployment: 300 calls with the option on, on 7 days, seen within
-- 48 hours, and an identity other than the host's name (D5).
SELECT server, deployment, deployment_source AS named_by, sum(a.calls) AS calls, uniqExact(toDate(minute)) AS days, max(minute) AS last_call,
    if(calls >= 300 AND days >= 7 AND last_call >= $__toTime - INTERVAL 48 HOUR AND named_by NOT IN ('', 'host.name'), 'yes', 'not yet') AS counts
FROM {{.Database}}.activity_by_minute_unique AS a
WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(minute)
  AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND option = 'on' AND a.calls > 0
GROUP BY server, deployment, deployment_source
ORDER BY server, deployment
