-- Share of the window's envelopes that break the contract, texts that hold no JSON object included. A server with
-- fewer than twenty has no share: one bad envelope of five is not yet a rate.
SELECT e.server AS server, sumIf(e.errors, NOT e.valid) / sum(e.errors) AS invalid_share
FROM {{.Database}}.errors_hourly AS e
WHERE $__timeFilter(e.hour) AND e.environment = 'production' AND (e.shape = 'mcp_envelope_v1' OR e.unreadable > 0)
GROUP BY server
HAVING sum(e.errors) >= 20
ORDER BY server
