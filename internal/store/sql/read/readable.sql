-- Texts that are envelopes or carry a block, and texts that purport to be
-- envelopes and hold no JSON object (D11).
SELECT server, version, toInt64(sum(r.readable)), toInt64(sum(r.unreadable)), toInt64(sum(r.cut)), toInt64(sum(r.recent))
FROM
(
    SELECT server, server_version AS version,
        sumIf(errors, shape = 'mcp_envelope_v1' AND {{.Trusted}}) AS readable,
        sum(e.unreadable) AS unreadable, sum(e.cut) AS cut,
        sumIf(errors, shape = 'mcp_envelope_v1' AND minute >= {{.Recent}} AND {{.Trusted}}) AS recent
    FROM {{.Database}}.errors_by_minute AS e FINAL
    WHERE errors > 0 AND environment = 'production' AND option = 'on' AND {{.Window}} AND {{.Anchored}}
    GROUP BY server, version
    UNION ALL
    SELECT server, server_version AS version,
        sumIf(toUInt64(b.blocks - b.envelope_blocks), {{.Trusted}}) AS readable,
        toUInt64(0) AS unreadable, toUInt64(0) AS cut,
        sumIf(toUInt64(b.blocks - b.envelope_blocks), minute >= {{.Recent}} AND {{.Trusted}}) AS recent
    FROM {{.Database}}.blocks_by_minute AS b FINAL
    WHERE b.blocks > 0 AND environment = 'production' AND option = 'on' AND {{.Window}} AND {{.Anchored}}
    GROUP BY server, version
) AS r
GROUP BY server, version
ORDER BY server, version
