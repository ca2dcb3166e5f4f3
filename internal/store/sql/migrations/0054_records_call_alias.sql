-- Another key that records of the same call may have: of a span within the call,
-- or of session and request id where call_key is of the span.
ALTER TABLE {{.Database}}.records{{.Local}}{{.OnCluster}} ADD COLUMN IF NOT EXISTS call_alias Nullable(UInt64) CODEC(ZSTD(1)) AFTER call_key
