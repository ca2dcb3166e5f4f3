-- Finds a slice's rows without reading the month: minutes of events lie close to
-- those of arrival. Parts that are there get the index as they merge.
ALTER TABLE {{.Database}}.normalizations_by_minute{{.Local}}{{.OnCluster}} ADD INDEX IF NOT EXISTS by_arrival arrived TYPE minmax GRANULARITY 1
