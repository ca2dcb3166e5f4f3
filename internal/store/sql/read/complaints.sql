-- The register of complaints (D13).
SELECT id, server, kind, action, ref, fixed_in, not_ours, note, by, at, recorded_at
FROM {{.Database}}.complaints
WHERE at < {{.AsOf}} AND recorded_at <= {{.AsOf}}
ORDER BY server, id, at, recorded_at
