-- The same for blocks_by_hour.
ALTER TABLE {{.Database}}.blocks_by_hour{{.Local}}{{.OnCluster}} MODIFY SETTING min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1
