-- The same for the table in front of a cluster's; on a single server it is there already.
ALTER TABLE {{.Database}}.slice_seals{{.OnCluster}} ADD COLUMN IF NOT EXISTS sealed_at DateTime64(6, 'UTC') DEFAULT version
