-- Runs of minutes with calls, by deployment: with the option on (trusted clocks
-- only), and with it off or undeclared. Minutes closer than JoinGap are one run.
SELECT server, deployment, source, is_on, toInt64(toUnixTimestamp(min(minute)) / 60) AS from, toInt64(toUnixTimestamp(max(last)) / 60) + 1 AS to, toInt64(sum(n)) AS calls
FROM
(
    SELECT *, sum(begins) OVER (PARTITION BY server, deployment, source, is_on ORDER BY minute ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS island
    FROM
    (
        SELECT *, dateDiff('minute', max(last) OVER (
            PARTITION BY server, deployment, source, is_on ORDER BY minute ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), minute)
            > {{.JoinGap}} + 1 AS begins
        FROM
        (
            SELECT server, deployment, deployment_source AS source, toBool(option = 'on') AS is_on, minute, max(a.last) AS last, sum(a.calls) AS n
            FROM {{.Activity}} AS a
            WHERE environment = 'production' AND (option != 'on' OR ({{.TrustedLead}}))
            GROUP BY server, deployment, source, is_on, minute
        )
    )
)
GROUP BY server, deployment, source, is_on, island
ORDER BY server, deployment, source, is_on, from
