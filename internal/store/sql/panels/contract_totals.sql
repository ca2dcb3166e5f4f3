SELECT sumIf(e.errors, shape = 'mcp_envelope_v1') AS envelopes,
    if(envelopes > 0, sumIf(e.errors, shape = 'mcp_envelope_v1' AND valid) / envelopes, NULL) AS valid_share,
    sumIf(e.errors, opaque) AS unrecognized, sum(e.unreadable) AS unreadable, sum(e.cut) AS cut
FROM {{.Database}}.errors_hourly AS e
WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(hour)
  AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND tool IN (${tool:singlequote})
