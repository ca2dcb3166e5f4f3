-- More than half an hour in which no collector stored a heartbeat.
SELECT toDateTime(minute - gap) AS time, toDateTime(minute) AS timeEnd, 'No collector' AS title,
    concat('No heartbeat for ', toString(intDiv(gap, 60)), ' minutes') AS text, 'collector' AS tags
FROM
(
    SELECT minute, dateDiff('second', lagInFrame(minute, 1, minute) OVER (ORDER BY minute ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), minute) AS gap
    FROM (SELECT DISTINCT minute FROM {{.Database}}.collector_heartbeats WHERE $__timeFilter(minute))
)
WHERE gap > 1860
ORDER BY time
LIMIT 500
