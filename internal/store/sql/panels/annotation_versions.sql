-- The first call of each version within the range, but for those that were there
-- when it began.
SELECT toDateTime(first) AS time, concat(server, ' ', server_version) AS title,
    concat('First call of this version in ', environment) AS text, server AS tags
FROM
(
    SELECT server, environment, server_version, min(minute) AS first
    FROM {{.Database}}.activity_by_minute
    WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(minute) AND calls > 0
    GROUP BY server, environment, server_version
)
WHERE first >= $__fromTime + INTERVAL 1 HOUR
ORDER BY time
LIMIT 500
