-- Later slices that were sealed before this one's newest rows came, and that hold
-- copies of its records or twins of its calls: what counted there counts here
-- now, so they are marked to be sealed again. While traffic is live there are
-- none such, and nothing is read.
INSERT INTO {{.Database}}.slice_writes (slice, journal_id, wrote_at)
WITH
    (SELECT max(wrote_at) FROM {{.Database}}.slice_writes WHERE slice = {{.Slice}} AND NOT startsWith(toString(journal_id), '00000000-0000-0000-')) AS wrote,
    stale AS (
        SELECT slice
        FROM {{.Database}}.slice_seals
        WHERE slice > {{.Slice}}
        GROUP BY slice
        HAVING max(version) <= wrote
    ),
    (SELECT toDateTime64(max(slice) + 60, 3, 'UTC') FROM stale) AS stale_end
SELECT DISTINCT later.slice, toUUID(concat('00000000-0000-0000-', substring('{{.Collector}}', 20))), now64(6, 'UTC')
FROM
(
    SELECT toStartOfMinute(toDateTime(received_at, 'UTC')) AS slice
    FROM {{.Database}}.records
    WHERE received_at >= {{.End}} AND received_at < stale_end
      AND (server, sent_minute) IN (SELECT DISTINCT server, sent_minute FROM {{.Database}}.{{.Scratch}}_rows WHERE side = 1 AND stale_end > {{.Begin}})
      AND record_id IN (SELECT record_id FROM {{.Database}}.{{.Scratch}}_rows WHERE side = 1 AND stale_end > {{.Begin}})
    UNION ALL
    SELECT toStartOfMinute(toDateTime(received_at, 'UTC')) AS slice
    FROM {{.Database}}.records
    WHERE received_at >= {{.End}} AND received_at < least(stale_end, {{.TwinsUntil}})
      AND (call_key IN (SELECT arrayJoin([call_key, call_alias]) FROM {{.Database}}.{{.Scratch}}_rows WHERE side = 1 AND stale_end > {{.Begin}})
        OR call_alias IN (SELECT call_key FROM {{.Database}}.{{.Scratch}}_rows WHERE side = 1 AND stale_end > {{.Begin}}))
) AS later
WHERE later.slice IN (SELECT slice FROM stale)
