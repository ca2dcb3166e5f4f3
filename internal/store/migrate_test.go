package store

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files")

// ddl is all that Migrate would run on an empty database.
func ddl(t *testing.T, s *Store) []string {
	t.Helper()
	migrations, err := s.Migrations(t.Context(), DefaultRetention)
	require.NoError(t, err)
	statements := []string{"CREATE DATABASE IF NOT EXISTS " + s.database + s.onCluster() + "\n"}
	for _, m := range migrations {
		for _, text := range []string{m.text, m.front} {
			if text != "" {
				statements = append(statements, strings.TrimRight(text, "\n")+"\n")
			}
		}
	}
	return statements
}

// TestDDLOfACluster holds the statements for a cluster against a golden file,
// and has the engine parse each; a cluster is not at hand.
func TestDDLOfACluster(t *testing.T) {
	const golden = "testdata/cluster.golden.sql"
	s, err := Open(testDSN(t))
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, s.OnCluster("soak"))
	statements := ddl(t, s)
	text := strings.ReplaceAll(strings.Join(statements, ";\n\n")+";\n", s.database, "soakgate")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(text), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), text, "go test ./internal/store -run DDLOfACluster -update writes it anew")
	drifts := []string{"ALTER TABLE " + s.local("records") + s.onCluster() + " MODIFY TTL toDateTime(received_at) + INTERVAL 3 DAY"}
	for _, st := range append(statements, drifts...) {
		var formatted string
		require.NoError(t, s.conn.QueryRow(t.Context(), "SELECT formatQuery(?)", st).Scan(&formatted), st)
		if !strings.HasPrefix(formatted, "INSERT") {
			assert.Contains(t, formatted, "ON CLUSTER soak")
		}
	}
}

// TestShardKeys asks the engine whether each table's shard key is made of what
// its versions have in common.
func TestShardKeys(t *testing.T) {
	s := testStore(t)
	for _, row := range ask(t, s, "SELECT name, sorting_key FROM system.tables WHERE database || '.' = 'DB.' AND engine LIKE '%MergeTree'") {
		name := row["name"].(string)
		if name == "records" { // by the trace and the record id, of which the record id is made, or which it is
			continue
		}
		key := shardKey(name)
		columns := strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(key, "sipHash64("), ")"), ", ")
		for column := range columns {
			assert.Contains(t, strings.Split(row["sorting_key"].(string), ", "), column, name)
		}
	}
}

func TestClusterNames(t *testing.T) {
	s := &Store{}
	for name, good := range map[string]bool{"": true, "soak": true, "{cluster}": true, "a-b.c_1": true, "a b": false, "x' y": false} {
		assert.Equal(t, good, s.OnCluster(name) == nil, name)
	}
}

// TestRetentionOfExistingTables changes the configured retention (U16).
func TestRetentionOfExistingTables(t *testing.T) {
	s := testStore(t)
	drifts, err := s.Drifts(t.Context(), DefaultRetention)
	require.NoError(t, err)
	require.Empty(t, drifts)
	keep := Retention{PayloadDays: 3, RecordsDays: 9, RollupDays: 77}
	f := newFeed(t, s)
	f.send(at(10, 0, 0), failureOf(1))
	changed, err := s.Retain(t.Context(), keep)
	require.NoError(t, err)
	assert.Len(t, changed, 22, "%v", changed)
	for table, want := range map[string]string{
		"records  ":             "trace_id` String CODEC(ZSTD(1)) TTL toDateTime(received_at) + toIntervalDay(3)",
		"records":               "payload` String CODEC(ZSTD(3)) TTL toDateTime(received_at) + toIntervalDay(3)",
		"records ":              "TTL toDateTime(received_at) + toIntervalDay(9) SETTINGS",
		"slice_writes":          "TTL slice + toIntervalDay(9)",
		"slice_seals":           "TTL slice + toIntervalDay(77)",
		"calls_by_minute":       "TTL arrived + toIntervalDay(77)",
		"calls_by_hour":         "TTL arrived + toIntervalDay(77)",
		"hour_seals":            "TTL hour + toIntervalDay(77)",
		"lateness_by_day":       "TTL arrived + toIntervalDay(77)",
		"collector_heartbeats":  "TTL minute + toIntervalDay(77)",
		"blocks_by_minute":      "TTL arrived + toIntervalDay(77)",
		"seal_leases":           "toIntervalDay(1)",
		"violations_by_minute":  "toIntervalDay(77)",
		"rate_limits_by_minute": "toIntervalDay(77)",
	} {
		var query string
		require.NoError(t, s.conn.QueryRow(t.Context(), "SELECT create_table_query FROM system.tables WHERE database = ? AND name = ?", s.database, strings.TrimSpace(table)).Scan(&query))
		assert.Contains(t, query, want, table)
	}
	again, err := s.Retain(t.Context(), keep)
	require.NoError(t, err)
	assert.Empty(t, again)
	assert.Equal(t, 1, count(t, s, "countIf(notEmpty(payload)) FROM DB.records"), "what is not past the time stays")

	_, err = s.Retain(t.Context(), Retention{PayloadDays: 1, RecordsDays: 9, RollupDays: 77})
	require.NoError(t, err)
	require.NoError(t, s.conn.Exec(t.Context(), "OPTIMIZE TABLE "+s.database+".records FINAL"))
	assert.Equal(t, 1, count(t, s, "countIf(empty(payload) AND error_kind = 'internal_error') FROM DB.records"), "an expired payload leaves its record")
}

// TestMissingColumnIsNamed: a table that lacks what is written is refused at
// start, not at the first insert (U15).
func TestMissingColumnIsNamed(t *testing.T) {
	s := testStore(t)
	for _, column := range []string{"records.surface", "calls_by_minute.duration_count", "collector_heartbeats.parked_records"} {
		table, name, _ := strings.Cut(column, ".")
		require.NoError(t, s.conn.Exec(t.Context(), "ALTER TABLE "+s.database+"."+table+" DROP COLUMN "+name))
		_, err := s.Migrate(t.Context(), DefaultRetention, "test")
		require.ErrorContains(t, err, column)
		require.ErrorContains(t, s.CheckSchema(t.Context()), column)
	}
}
