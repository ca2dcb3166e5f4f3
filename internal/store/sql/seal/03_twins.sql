-- What the records of one call know together, where it has more than one. The call,
-- its failure and its _meta each count once, with the first record that knows
-- them: of an earlier slice, where it has counted already, else of this one. It
-- failed when any of its records says so, by the mistake that the one with most to
-- tell names. It was seen when any of its records was, so the least sampled of
-- those that know a thing has the weight of it.
CREATE TABLE {{.Database}}.{{.Scratch}}_twins ENGINE = Memory AS
WITH
    aliases AS (
        SELECT call_alias AS alias, min(call_key) AS call
        FROM {{.Database}}.{{.Scratch}}_rows
        WHERE call_alias IN (SELECT call_key FROM {{.Database}}.{{.Scratch}}_rows)
        GROUP BY alias
    ),
    told AS (
        SELECT * EXCEPT (call), ifNull(aliases.call, call_key) AS call
        FROM {{.Database}}.{{.Scratch}}_rows AS r
        ANY LEFT JOIN aliases ON r.call_key = aliases.alias
        WHERE call_key IS NOT NULL
    ),
    calls AS (
        SELECT
            groupUniqArray(call_key) AS keys,
            min((NOT is_call, side, NOT has_tool, place)).4 AS call_place,
            min((error_rank = 0, side, 5 - error_rank, place)).4 AS error_place,
            min((NOT has_meta, side, place)).3 AS meta_place,
            max(failed) AS call_failed,
            min((NOT failed, 5 - error_rank, side, place, mistake)).5 AS call_mistake,
            max(duration_ns) AS call_duration,
            min(sampling_weight) AS call_weight,
            minIf(sampling_weight, error_rank > 0) AS error_weight,
            minIf(sampling_weight, has_meta) AS meta_weight,
            minIf(place.1, is_call AND side = 0) AS counted_at,
            minIf(sampling_weight, side = 1) < minIf(sampling_weight, side = 0)
                OR maxIf((failed, error_rank), side = 1) > maxIf((failed, error_rank), side = 0)
                OR maxIf(ifNull(duration_ns, 0), side = 1) > maxIf(ifNull(duration_ns, 0), side = 0) AS learned
        FROM told
        WHERE call IN (SELECT call FROM told GROUP BY call HAVING count() > 1)
        GROUP BY call
    )
SELECT arrayJoin(keys) AS twin_key, * EXCEPT (keys)
FROM calls
SETTINGS join_use_nulls = 1, allow_suspicious_low_cardinality_types = 1
