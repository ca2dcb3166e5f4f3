-- The share of each code in a server's errors. The servers' own prefixes of kind and
-- code are taken off, so that the same fact stands in one row (R75).
SELECT concat(replaceRegexpOne(ifNull(toString(error_kind), 'none given'), '^(sp|ads|openbridge)_', ''), ' / ',
        replaceRegexpOne(ifNull(toString(error_code), 'none given'), '^(SP|ADS|OPENBRIDGE)_', '')) AS code,
    server, sum(c.errors) / sum(sum(c.errors)) OVER (PARTITION BY server) AS share
FROM
(
    SELECT server, error_kind, error_code, sum(e.errors) AS errors
    FROM {{.Database}}.errors_hourly AS e
    WHERE server IN (${server:singlequote}) AND environment IN (${environment:singlequote}) AND $__timeFilter(hour)
      AND deployment IN (${deployment:singlequote}) AND server_version IN (${version:singlequote}) AND tool IN (${tool:singlequote}) AND shape = 'mcp_envelope_v1' AND e.errors > 0
    GROUP BY server, error_kind, error_code
) AS c
GROUP BY code, server
ORDER BY code, server
LIMIT 400
