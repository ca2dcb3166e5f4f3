-- What servers declared of themselves in the slice (R114 to R117, D14).
INSERT INTO {{.Database}}.capabilities
    (server, version, environment, deployment, contract_version, error_kinds, declared_default, tools, at, recorded_at)
WITH if(JSONHas(payload, 'openbridge_envelope'), JSONExtractRaw(payload, 'openbridge_envelope'), payload) AS declared
SELECT server, server_version, environment, deployment,
    JSONExtract(declared, 'contract_version', 'Nullable(Int64)'),
    JSONExtract(declared, 'error_kinds', 'Array(String)'),
    JSONExtract(payload, 'env_vars', 'MCP_SCHEMA_KEY_NORMALIZATION_META', 'default', 'Nullable(Bool)'),
    JSONExtract(payload, 'tools', 'Array(String)'),
    toDateTime64(observed_at, 3, 'UTC'), received_at
FROM {{.Database}}.records
WHERE received_at >= {{.Begin}} AND received_at < {{.End}}
  AND (server, sent_minute) IN (SELECT server, sent_minute FROM {{.Database}}.{{.Scratch}} WHERE event = 'mcp.capabilities')
  AND record_id IN (SELECT record_id FROM {{.Database}}.{{.Scratch}} WHERE event = 'mcp.capabilities')
  AND isValidJSON(payload)
