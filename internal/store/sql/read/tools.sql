-- Calls by tool: seen at all, and with the option on since the current run began
-- (D9). Whole hours come from calls_by_hour; the hours that a bound cuts, and those
-- of arrival that are not settled, from the minutes.
SELECT server, tool, toInt64(sum(c.calls)) AS seen,
    toInt64(sumIf(c.calls, option = 'on' AND {{.TrustedLead}} AND {{.InRun}})) AS on,
    toInt64(sumIf(c.calls, option = 'on' AND {{.TrustedLead}} AND {{.InRun}} AND minute >= {{.Recent}})) AS recent
FROM
(
    SELECT server, deployment, instance, option, tool, hour AS minute, lead, calls
    FROM {{.Database}}.calls_by_hour FINAL
    WHERE calls > 0 AND environment = 'production' AND hour >= {{.From}} AND hour < {{.T}} AND arrived < {{.Settled}} AND NOT ({{.CutHours}})
    UNION ALL
    SELECT server, deployment, instance, option, tool, minute, toUInt32(greatest(dateDiff('second', arrived, minute), 0)) AS lead, calls
    FROM {{.Database}}.calls_by_minute FINAL
    WHERE calls > 0 AND environment = 'production' AND {{.Window}} AND (arrived >= {{.Settled}} OR {{.CutMinutes}})
) AS c
GROUP BY server, tool
ORDER BY server, tool
