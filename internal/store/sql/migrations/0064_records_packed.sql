-- Columns without a codec of their own are packed with ZSTD: words that repeat
-- take half of what they take with LZ4.
ALTER TABLE {{.Database}}.records{{.Local}}{{.OnCluster}} MODIFY SETTING default_compression_codec = 'ZSTD(1)'
