-- What the slice holds. The table is in memory: a restart of ClickHouse empties
-- it, and a seal that finds it empty ends.
CREATE TABLE {{.Database}}.{{.Scratch}}_rows ENGINE = Memory AS
SELECT server, sent_minute, record_id, call_key
FROM {{.Database}}.records
WHERE received_at >= {{.Begin}} AND received_at < {{.End}}
