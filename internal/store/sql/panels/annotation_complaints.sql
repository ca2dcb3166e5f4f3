SELECT toDateTime(at) AS time,
    concat('Complaint ', action, ': ', server) AS title,
    concat(kind, if(ref = '', '', concat(', ', ref)), if(note = '', '', concat(', ', note))) AS text,
    server AS tags
FROM {{.Database}}.complaints
WHERE server IN (${server:singlequote}) AND at >= $__fromTime AND at <= $__toTime
ORDER BY time
LIMIT 500
