SELECT toDateTime(at) AS time,
    concat('Conformance of ', server, ' ', version) AS title,
    concat(toString(conforming), ' of ', toString(payloads), ' payloads conform, suite ', suite_version) AS text,
    server AS tags
FROM {{.Database}}.conformance_runs FINAL
WHERE server IN (${server:singlequote}) AND at >= $__fromTime AND at <= $__toTime
ORDER BY time
LIMIT 500
