-- Texts that are envelopes or carry a block, and texts that purport to be
-- envelopes and hold no JSON object (D11).
SELECT server, version, toInt64(sum(r.readable)), toInt64(sum(r.unreadable)), toInt64(sum(r.cut)), toInt64(sum(r.recent))
FROM
(
    SELECT server, server_version AS version,
        sumIf(e.envelopes, {{.TrustedLead}}) AS readable,
        sum(e.unreadable) AS unreadable, sum(e.cut) AS cut,
        sumIf(e.envelopes, minute >= {{.Recent}} AND {{.TrustedLead}}) AS recent
    FROM {{.Envelopes}} AS e
    WHERE environment = 'production' AND option = 'on' AND {{.Anchored}}
    GROUP BY server, version
    UNION ALL
    SELECT server, server_version AS version,
        sumIf(toUInt64(b.blocks - b.envelope_blocks), {{.TrustedLead}}) AS readable,
        toUInt64(0) AS unreadable, toUInt64(0) AS cut,
        sumIf(toUInt64(b.blocks - b.envelope_blocks), minute >= {{.Recent}} AND {{.TrustedLead}}) AS recent
    FROM {{.Blocks}} AS b
    WHERE environment = 'production' AND option = 'on' AND {{.Anchored}}
    GROUP BY server, version
) AS r
GROUP BY server, version
ORDER BY server, version
