-- Who seals. A sealer holds the lease while it works, so that two collectors
-- neither do the same work nor interleave their rows. Nothing is lost with it.
CREATE TABLE IF NOT EXISTS {{.Database}}.seal_leases{{.Local}}{{.OnCluster}}
(
    sealer UUID,
    until  DateTime64(6, 'UTC'),
    at     DateTime64(6, 'UTC')
)
ENGINE = {{.Replicated}}ReplacingMergeTree(at)
ORDER BY sealer
TTL toDateTime(at) + INTERVAL 1 DAY
