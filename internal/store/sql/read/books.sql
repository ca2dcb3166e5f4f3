-- Record ids of the sealed slices against what their seals counted, each id in
-- the slice of its first copy. A slice counts when every live journal has passed
-- its end and it was sealed since it was last written; slices whose records
-- begin to expire are left out.
WITH
    (SELECT if(count() = 0, toDateTime(0, 'UTC'), toStartOfMinute(min(through)))
     FROM (SELECT max(inserted_through) AS through, argMax(retired, at) AS gone
           FROM {{.Database}}.collector_heartbeats GROUP BY journal_id)
     WHERE NOT gone) AS watermark,
    (SELECT minIf(w.slice, w.wrote >= s.sealed)
     FROM (SELECT slice, max(wrote_at) AS wrote FROM {{.Database}}.slice_writes GROUP BY slice) AS w
     LEFT JOIN (SELECT slice, max(version) AS sealed FROM {{.Database}}.slice_seals GROUP BY slice) AS s ON w.slice = s.slice) AS dirty,
    if(dirty > toDateTime(0, 'UTC'), least(watermark, dirty), watermark) AS through,
    (SELECT now('UTC') - toIntervalDay(toUInt32OrDefault(max(extract(create_table_query, 'ORDER BY.*TTL toDateTime\\(received_at\\) \\+ toIntervalDay\\((\\d+)\\)')), toUInt32(20000)) - 1)
     FROM system.tables WHERE database = '{{.Database}}' AND name IN ('records', 'records_local')) AS kept_from,
    greatest({{.From}}, toStartOfMinute(kept_from)) AS since
SELECT toInt64(toUnixTimestamp(through) / 60) AS sealed_through,
    (SELECT toInt64(count()) FROM (
         SELECT min(received_at) AS first FROM {{.Database}}.records
         WHERE received_at < toDateTime64(through, 3, 'UTC')
         GROUP BY server, sent_minute, record_id
         HAVING first >= since)) AS distinct_ids,
    (SELECT toInt64(sum(records)) FROM {{.Database}}.slice_seals FINAL
     WHERE slice >= since AND slice < through) AS sealed
SETTINGS optimize_aggregation_in_order = 1
