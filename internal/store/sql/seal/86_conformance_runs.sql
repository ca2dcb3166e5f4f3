-- Conformance runs that were sent in the slice. The run names the server that it
-- was made on, which need not be the sender (D12).
INSERT INTO {{.Database}}.conformance_runs
    (server, version, suite_version, items, payloads, conforming, violating, unrecognized, source, at, recorded_at)
WITH if(JSONHas(declaration, 'summary'), JSONExtractRaw(declaration, 'summary'), declaration) AS summary
SELECT if(declared_of['mcp.server.name'] != '', declared_of['mcp.server.name'], server),
    if(declared_of['mcp.server.version'] != '', declared_of['mcp.server.version'], server_version),
    JSONExtractString(summary, 'suite_version'),
    JSONExtract(summary, 'items', 'Map(String, String)'),
    JSONExtractUInt(summary, 'payloads'), JSONExtractUInt(summary, 'conforming'),
    JSONExtractUInt(summary, 'violating'), JSONExtractUInt(summary, 'unrecognized'),
    'otlp', toDateTime64(observed_at, 3, 'UTC'), received_at
FROM {{.Database}}.{{.Scratch}}
WHERE event = 'mcp.conformance' AND isValidJSON(declaration)
