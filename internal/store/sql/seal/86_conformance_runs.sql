-- Conformance runs that were sent in the slice. The run names the server that it
-- was made on, which need not be the sender (D12).
INSERT INTO {{.Database}}.conformance_runs
    (server, version, suite_version, items, payloads, conforming, violating, unrecognized, source, at, recorded_at)
WITH if(JSONHas(payload, 'summary'), JSONExtractRaw(payload, 'summary'), payload) AS summary
SELECT if(attributes['mcp.server.name'] != '', attributes['mcp.server.name'], server),
    if(attributes['mcp.server.version'] != '', attributes['mcp.server.version'], server_version),
    JSONExtractString(summary, 'suite_version'),
    JSONExtract(summary, 'items', 'Map(String, String)'),
    JSONExtractUInt(summary, 'payloads'), JSONExtractUInt(summary, 'conforming'),
    JSONExtractUInt(summary, 'violating'), JSONExtractUInt(summary, 'unrecognized'),
    'otlp', toDateTime64(observed_at, 3, 'UTC'), received_at
FROM {{.Database}}.records
WHERE received_at >= {{.Begin}} AND received_at < {{.End}}
  AND (server, sent_minute) IN (SELECT server, sent_minute FROM {{.Database}}.{{.Scratch}} WHERE event = 'mcp.conformance')
  AND record_id IN (SELECT record_id FROM {{.Database}}.{{.Scratch}} WHERE event = 'mcp.conformance')
  AND isValidJSON(payload)
