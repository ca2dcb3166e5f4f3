-- Runs of the conformance suite (D12).
SELECT server, version, suite_version AS suite, CAST(items, 'Map(String, String)') AS items, at, recorded_at
FROM {{.Database}}.conformance_runs FINAL
WHERE at < {{.AsOf}} AND recorded_at <= {{.AsOf}}
ORDER BY server, version, at, suite
