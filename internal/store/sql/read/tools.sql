-- Calls by tool: seen at all, and with the option on since the current run began (D9).
SELECT server, tool, toInt64(sum(c.calls)) AS seen,
    toInt64(sumIf(c.calls, option = 'on' AND {{.TrustedLead}} AND {{.InRun}})) AS on,
    toInt64(sumIf(c.calls, option = 'on' AND {{.TrustedLead}} AND {{.InRun}} AND minute >= {{.Recent}})) AS recent
FROM {{.Calls}} AS c
WHERE environment = 'production'
GROUP BY server, tool
ORDER BY server, tool
