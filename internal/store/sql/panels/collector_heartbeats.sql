SELECT h.collector AS collector, toString(journal_id) AS journal, max(h.at) AS seen, dateDiff('second', seen, $__toTime) AS age,
    max(h.inserted_through) AS stored_through, toInt64(argMax(h.backlog_records, h.at)) AS backlog, argMax(h.backlog_age_ms, h.at) / 1000 AS backlog_age,
    toInt64(argMax(h.refused_requests, h.at)) AS refused, toInt64(argMax(h.parked_batches, h.at)) AS parked,
    toInt64(argMax(h.accepted_records, h.at)) - toInt64(argMax(h.inserted_records, h.at)) - toInt64(argMax(h.rejected_records, h.at))
        - toInt64(argMax(h.parked_records, h.at)) - backlog AS books_off_by,
    if(argMax(h.retired, h.at), 'retired', 'live') AS state
FROM {{.Database}}.collector_heartbeats AS h
WHERE $__timeFilter(h.minute)
GROUP BY h.collector, journal_id
ORDER BY seen DESC
LIMIT 50
