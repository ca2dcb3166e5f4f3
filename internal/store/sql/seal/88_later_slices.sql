-- Later slices that were sealed before this one's newest rows came, and that hold
-- copies of its records or twins of its calls: what counted there counts here
-- now, so they are marked to be sealed again. While traffic is live there are
-- none such, and nothing is read.
INSERT INTO {{.Database}}.slice_writes (slice, journal_id, wrote_at)
WITH
    (SELECT max(wrote_at) FROM {{.Database}}.slice_writes WHERE slice = {{.Slice}}) AS wrote,
    stale AS (
        SELECT slice
        FROM {{.Database}}.slice_seals
        WHERE slice > {{.Slice}}
        GROUP BY slice
        HAVING max(version) <= wrote
    ),
    (SELECT toDateTime64(max(slice) + 60, 3, 'UTC') FROM stale) AS stale_end
SELECT DISTINCT later.slice, toUUID('{{.Collector}}'), now64(6, 'UTC')
FROM
(
    SELECT toStartOfMinute(toDateTime(received_at, 'UTC')) AS slice
    FROM {{.Database}}.records
    WHERE received_at >= {{.End}} AND received_at < stale_end
      AND (server, sent_minute) IN (SELECT DISTINCT server, sent_minute FROM {{.Database}}.{{.Scratch}}_rows WHERE stale_end > {{.Begin}})
      AND record_id IN (SELECT record_id FROM {{.Database}}.{{.Scratch}}_rows WHERE stale_end > {{.Begin}})
    UNION ALL
    SELECT toStartOfMinute(toDateTime(received_at, 'UTC')) AS slice
    FROM {{.Database}}.records
    WHERE received_at >= {{.End}} AND received_at < least(stale_end, {{.TwinsUntil}})
      AND call_key IN (SELECT call_key FROM {{.Database}}.{{.Scratch}}_rows WHERE call_key IS NOT NULL AND stale_end > {{.Begin}})
) AS later
WHERE later.slice IN (SELECT slice FROM stale)
