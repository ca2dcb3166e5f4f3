-- When the seal was complete. Hours sealed before that are sealed again.
ALTER TABLE {{.Database}}.slice_seals{{.Local}}{{.OnCluster}} ADD COLUMN IF NOT EXISTS sealed_at DateTime64(6, 'UTC') DEFAULT version
