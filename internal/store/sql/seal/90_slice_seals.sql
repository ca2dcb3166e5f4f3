-- That the slice is sealed: written last, so that a seal cut short is done again.
INSERT INTO {{.Database}}.slice_seals (slice, version, collector, records, calls)
SELECT {{.Slice}}, {{.Version}}, toUUID('{{.Collector}}'), count(), countIf(call_first)
FROM {{.Database}}.{{.Scratch}}
