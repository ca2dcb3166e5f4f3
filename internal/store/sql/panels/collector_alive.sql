SELECT $__timeInterval(minute) AS time, collector, toInt64(max(h.backlog_records)) AS backlog
FROM {{.Database}}.collector_heartbeats AS h
WHERE $__timeFilter(minute)
GROUP BY time, collector
ORDER BY time, collector
