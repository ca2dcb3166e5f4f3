-- Half of a record's id is the millisecond at which it was sent, which compresses
-- in the order of the key. Numbers are cut to the bits that those around them have.
ALTER TABLE {{.Database}}.records{{.Local}}{{.OnCluster}}
    MODIFY COLUMN record_id UUID CODEC(ZSTD(1)),
    MODIFY COLUMN observed_at DateTime64(9, 'UTC') CODEC(T64('bit'), ZSTD(1)),
    MODIFY COLUMN seq UInt64 CODEC(T64('bit'), ZSTD(1)),
    MODIFY COLUMN envelope_version Nullable(Int64) CODEC(T64, ZSTD(1)),
    MODIFY COLUMN payload_bytes UInt32 CODEC(T64, ZSTD(1)),
    MODIFY COLUMN meta_bytes UInt32 CODEC(T64, ZSTD(1)),
    MODIFY COLUMN normalized_bytes Nullable(UInt32) CODEC(T64, ZSTD(1)),
    MODIFY COLUMN response_bytes Nullable(UInt64) CODEC(T64, ZSTD(1))
