-- Runs of minutes with calls, by deployment: with the option on (trusted clocks
-- only), and with it off or undeclared. Minutes closer than JoinGap are one run.
SELECT server, deployment, source, is_on, toInt64(toUnixTimestamp(min(minute)) / 60) AS from, toInt64(toUnixTimestamp(max(minute)) / 60) + 1 AS to, toInt64(sum(calls)) AS calls
FROM
(
    SELECT *, sum(begins) OVER (PARTITION BY server, deployment, source, is_on ORDER BY minute) AS island
    FROM
    (
        SELECT *, dateDiff('minute', lagInFrame(minute, 1, toDateTime(0, 'UTC')) OVER (
            PARTITION BY server, deployment, source, is_on ORDER BY minute ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW), minute)
            > {{.JoinGap}} + 1 AS begins
        FROM
        (
            SELECT server, deployment, deployment_source AS source, toBool(option = 'on') AS is_on, minute, sum(c.calls) AS calls
            FROM {{.Database}}.activity_by_minute AS c FINAL
            WHERE c.calls > 0 AND environment = 'production' AND {{.Window}} AND (option != 'on' OR ({{.Trusted}}))
            GROUP BY server, deployment, source, is_on, minute
        )
    )
)
GROUP BY server, deployment, source, is_on, island
ORDER BY server, deployment, source, is_on, from
