-- The newest declaration of the option's default, by server and version (D14).
SELECT server, version, argMax(assumeNotNull(declared_default), (at, recorded_at)) AS value,
    max(c.at) AS at_time, argMax(c.recorded_at, c.at) AS recorded
FROM {{.Database}}.capabilities AS c
WHERE declared_default IS NOT NULL AND environment = 'production' AND c.at < {{.AsOf}} AND c.recorded_at <= {{.AsOf}}
GROUP BY server, version
ORDER BY server, version
