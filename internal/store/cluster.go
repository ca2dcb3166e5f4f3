package store

import (
	"fmt"
	"regexp"
	"strings"
)

// OnCluster makes Migrate and Retain work on all of a cluster's servers: tables
// are Replicated ones with the ending _local, behind Distributed ones with the
// names that everything reads and writes. Empty is a single server.
func (s *Store) OnCluster(cluster string) error {
	if cluster != "" && !clusterName.MatchString(cluster) {
		return fmt.Errorf("cluster %q: use letters, digits, dots, underscores and dashes only", cluster)
	}
	s.cluster = cluster
	return nil
}

// clusterSettings let queries with IN and JOIN over Distributed tables, and over
// tables of one server, mean what they mean on a single server, where they
// change nothing.
var clusterSettings = map[string]any{"distributed_product_mode": "global", "prefer_global_in_and_join": 1}

var clusterName = regexp.MustCompile(`^[A-Za-z0-9_.{}-]+$`)

// shardKeys say which server of a cluster has a row. All versions of a row must
// meet on one shard, so a key is made of columns of the table's sorting key, or
// of what the record id fixes; never of chance. Records of one call share its
// trace.
var shardKeys = map[string]string{
	"records":              "sipHash64(if(trace_id = '', toString(record_id), trace_id))",
	"schema_migrations":    "version",
	"slice_writes":         "sipHash64(slice)",
	"slice_seals":          "sipHash64(slice)",
	"hour_seals":           "sipHash64(hour)",
	"seal_leases":          "sipHash64(sealer)",
	"collector_heartbeats": "sipHash64(journal_id)",
	"rejected_records":     "sipHash64(id)",
	"replays":              "sipHash64(replay_id)",
	"lateness_by_day":      "sipHash64(server, arrived)",
	"lateness_by_hour":     "sipHash64(server, arrived)",
}

// shardKey is the key of a table: of registers the server, of rollups also the
// slice, so that a busy server does not stay on one shard.
func shardKey(table string) string {
	if key, ok := shardKeys[table]; ok {
		return key
	}
	if strings.HasSuffix(table, "_by_minute") || strings.HasSuffix(table, "_by_hour") {
		return "sipHash64(server, arrived)"
	}
	return "sipHash64(server)"
}

// local is the name of the table that holds a table's rows.
func (s *Store) local(table string) string {
	if s.cluster == "" {
		return s.database + "." + table
	}
	return s.database + "." + table + "_local"
}

// onCluster is the clause of DDL statements, with a blank before it.
func (s *Store) onCluster() string {
	if s.cluster == "" {
		return ""
	}
	return " ON CLUSTER '" + s.cluster + "'"
}

// ddlValues are what the migrations take of all this.
func (s *Store) ddlValues() map[string]string {
	values := map[string]string{"Database": s.database, "OnCluster": s.onCluster(), "Local": "", "Replicated": ""}
	if s.cluster != "" {
		values["Local"], values["Replicated"] = "_local", "Replicated"
	}
	return values
}

var createTable = regexp.MustCompile(`(?m)^CREATE TABLE IF NOT EXISTS \w+\.(\w+)_local `)

// distributed is the statement that makes the table in front of the one that a
// migration makes, "" where there is none.
func (s *Store) distributed(migration string) string {
	made := createTable.FindStringSubmatch(migration)
	if s.cluster == "" || made == nil {
		return ""
	}
	table := made[1]
	return fmt.Sprintf("CREATE TABLE IF NOT EXISTS %[1]s.%[2]s%[3]s AS %[1]s.%[2]s_local\nENGINE = Distributed('%[4]s', '%[1]s', '%[2]s_local', %[5]s)",
		s.database, table, s.onCluster(), s.cluster, shardKey(table))
}
