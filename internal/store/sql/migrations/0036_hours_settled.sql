-- Up to where hours of arrival can be read from the rollups by hour: the first hour
-- of which a slice was sealed since the hour was. From there on the rollups by
-- minute tell.
CREATE VIEW IF NOT EXISTS {{.Database}}.hours_settled{{.OnCluster}} AS
SELECT if(countIf(s.sealed >= h.version) > 0, minIf(s.hour, s.sealed >= h.version), max(s.hour) + 3600) AS through
FROM (SELECT toStartOfHour(slice) AS hour, max(sealed_at) AS sealed FROM {{.Database}}.slice_seals GROUP BY hour) AS s
LEFT JOIN (SELECT hour, max(version) AS version FROM {{.Database}}.hour_seals GROUP BY hour) AS h ON s.hour = h.hour
