-- Calls by tool: seen at all, and with the option on since the current run began (D9).
SELECT server, tool, toInt64(sum(c.calls)) AS seen,
    toInt64(sumIf(c.calls, option = 'on' AND {{.Trusted}} AND {{.InRun}})) AS on,
    toInt64(sumIf(c.calls, option = 'on' AND {{.Trusted}} AND {{.InRun}} AND minute >= {{.Recent}})) AS recent
FROM {{.Database}}.calls_by_minute AS c FINAL
WHERE c.calls > 0 AND environment = 'production' AND {{.Window}}
GROUP BY server, tool
ORDER BY server, tool
