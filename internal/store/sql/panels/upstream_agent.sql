-- Codes of the agent API, never summed with those of MCP (R148).
SELECT time, server, ifNull(toString(error_code), 'none given') AS code, errors
FROM
(
    SELECT $__timeInterval(hour) AS time, server, error_code, sum(e.errors) AS errors
    FROM {{.Database}}.errors_hourly AS e
    WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(hour)
      AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND tool IN (${tool:singlequote}) AND shape = 'agent_error' AND e.errors > 0
    GROUP BY time, server, error_code
)
ORDER BY time, server, code
