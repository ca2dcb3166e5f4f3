SELECT server, version, suite_version AS suite, at AS run_at,
    items['1'] AS item_1, items['2'] AS item_2, items['3'] AS item_3, items['4'] AS item_4, items['5'] AS item_5, items['6'] AS item_6,
    violating, unrecognized
FROM {{.Database}}.conformance_runs FINAL
WHERE server IN (${server:singlequote}) AND at <= $__toTime
ORDER BY run_at DESC
LIMIT 1 BY server, version
LIMIT 50
