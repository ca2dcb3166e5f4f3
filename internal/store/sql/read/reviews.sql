-- Who looked for complaints, and when (D13).
SELECT server, by, note, at, recorded_at
FROM {{.Database}}.complaint_reviews
WHERE at < {{.AsOf}} AND recorded_at <= {{.AsOf}}
ORDER BY server, at, recorded_at
