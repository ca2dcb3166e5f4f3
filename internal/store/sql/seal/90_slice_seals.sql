-- That the slice is sealed: written last, so that a seal cut short is done
-- again, and only when its tables outlived all statements before.
INSERT INTO {{.Database}}.slice_seals (slice, version, sealed_at, collector, records, calls)
SELECT {{.Slice}}, {{.Version}}, now64(6, 'UTC'), toUUID('{{.Collector}}'), count(), countIf(call_first)
FROM {{.Database}}.{{.Scratch}}
HAVING throwIf((SELECT count() FROM {{.Database}}.{{.Scratch}}_rows) = 0, 'the tables of this seal were lost in a restart of ClickHouse') = 0
