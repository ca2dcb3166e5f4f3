-- Record ids of the sealed slices against what their seals counted. A slice
-- counts when every live journal has passed its end and it was sealed since.
WITH
    (SELECT if(count() = 0, toDateTime(0, 'UTC'), toStartOfMinute(min(through)))
     FROM (SELECT max(inserted_through) AS through, argMax(retired, at) AS gone
           FROM {{.Database}}.collector_heartbeats GROUP BY journal_id)
     WHERE NOT gone) AS watermark,
    (SELECT minIf(w.slice, w.wrote >= s.sealed)
     FROM (SELECT slice, max(wrote_at) AS wrote FROM {{.Database}}.slice_writes GROUP BY slice) AS w
     LEFT JOIN (SELECT slice, max(version) AS sealed FROM {{.Database}}.slice_seals GROUP BY slice) AS s ON w.slice = s.slice) AS dirty,
    if(dirty > toDateTime(0, 'UTC'), least(watermark, dirty), watermark) AS through
SELECT toInt64(toUnixTimestamp(through) / 60) AS sealed_through,
    (SELECT toInt64(uniqExact(record_id)) FROM {{.Database}}.records
     WHERE received_at >= {{.From}} AND received_at < through) AS distinct_ids,
    (SELECT toInt64(sum(records)) FROM {{.Database}}.slice_seals FINAL
     WHERE slice >= {{.From}} AND slice < through) AS sealed
