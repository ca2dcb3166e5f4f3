-- Declarations of backdated shipping (D16).
SELECT replay_id AS id, from, to, by, at, recorded_at
FROM {{.Database}}.replays
WHERE recorded_at <= {{.AsOf}}
ORDER BY id, recorded_at
