SELECT server, id, kind, state, entered, changed, ref, note
FROM
(
    SELECT id, any(c.server) AS server, argMaxIf(c.kind, c.at, c.kind != '') AS kind,
        multiIf(argMax(c.action, (c.at, c.recorded_at)) != 'resolve', 'open', argMax(c.not_ours, (c.at, c.recorded_at)), 'not ours',
            concat('fixed in ', argMax(c.fixed_in, (c.at, c.recorded_at)))) AS state,
        min(c.at) AS entered, max(c.at) AS changed, argMaxIf(c.ref, c.at, c.ref != '') AS ref, argMaxIf(c.note, c.at, c.note != '') AS note
    FROM {{.Database}}.complaints AS c
    WHERE c.at <= $__toTime
    GROUP BY id
)
WHERE server IN (${server:singlequote})
ORDER BY state = 'open' DESC, changed DESC
LIMIT 100
