-- Production records received of late, and how many of them were old (D15).
SELECT server, toInt64(sumIf(l.records, replay_id = '')) AS received, toInt64(sumIf(l.late, replay_id = '')) AS late,
    toInt64(sumIf(l.records, replay_id != '')) AS replayed
FROM {{.Database}}.lateness_by_day AS l FINAL
WHERE environment = 'production' AND arrived >= {{.LatenessFrom}} AND {{.Arrived}} AND l.records > 0
GROUP BY server
ORDER BY server
