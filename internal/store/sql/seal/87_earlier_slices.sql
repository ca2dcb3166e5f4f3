-- Earlier slices that counted calls of which this one knows more: that they failed,
-- by whose mistake, how long they took. They are marked to be sealed again, once for
-- the same knowledge: the mark has in place of a journal's id a checksum of that.
INSERT INTO {{.Database}}.slice_writes (slice, journal_id, wrote_at)
WITH
    (SELECT max(wrote_at) FROM {{.Database}}.slice_writes WHERE slice = {{.Slice}} AND NOT startsWith(toString(journal_id), '00000000-0000-0000-')) AS wrote,
    marks AS (
        SELECT toStartOfMinute(toDateTime(counted_at, 'UTC')) AS earlier,
            lower(hex(groupBitXor(sipHash64({{.Slice}}, twin_key, call_failed, call_mistake, call_duration, call_weight)))) AS checksum,
            toUUID(concat('00000000-0000-0000-', substring(checksum, 1, 4), '-', substring(checksum, 5))) AS mark
        FROM {{.Database}}.{{.Scratch}}_twins
        WHERE learned AND counted_at > 0
        GROUP BY earlier
    )
SELECT earlier, mark, now64(6, 'UTC')
FROM marks
WHERE earlier IN (SELECT slice FROM {{.Database}}.slice_seals WHERE slice < {{.Slice}} GROUP BY slice HAVING max(version) <= wrote)
  AND (earlier, mark) NOT IN (SELECT slice, journal_id FROM {{.Database}}.slice_writes WHERE slice >= {{.Slice}} - toIntervalHour(1) AND slice < {{.Slice}})
