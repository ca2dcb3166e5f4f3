-- A month that gets no more rows is merged into one part, where FINAL has nothing to do: ClickHouse
-- leaves the last few parts of a partition apart for ever, and reading those costs several times as much.
ALTER TABLE {{.Database}}.calls_by_hour{{.Local}}{{.OnCluster}} MODIFY SETTING min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1
