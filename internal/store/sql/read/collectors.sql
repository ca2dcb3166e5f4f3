-- The newest heartbeat of each journal.
SELECT toString(journal_id) AS journal, toString(argMax(h.collector, h.at)) AS name, max(h.at) AS at,
    max(h.inserted_through) AS inserted_through, argMax(h.retired, h.at) AS retired,
    toInt64(argMax(h.backlog_records, h.at)) AS backlog, toInt64(argMax(h.backlog_age_ms, h.at)) AS backlog_age_ms,
    toInt64(argMax(h.parked_batches, h.at)) AS parked_batches,
    toInt64(argMax(h.accepted_records, h.at)) AS accepted, toInt64(argMax(h.inserted_records, h.at)) AS inserted,
    toInt64(argMax(h.rejected_records, h.at)) AS rejected, toInt64(argMax(h.parked_records, h.at)) AS parked
FROM {{.Database}}.collector_heartbeats AS h
WHERE h.minute >= {{.From}} AND h.at < {{.AsOf}}
GROUP BY journal_id
ORDER BY journal
