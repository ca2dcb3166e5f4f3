-- The same for the table in front of a cluster's; on a single server it is there already.
ALTER TABLE {{.Database}}.records{{.OnCluster}} ADD COLUMN IF NOT EXISTS call_alias Nullable(UInt64) AFTER call_key
