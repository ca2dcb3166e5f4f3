package store

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Drift is one table whose rows are kept for another time than is configured,
// and the statement that changes it.
type Drift struct {
	Table, What string // What is "payloads" or "rows"
	Have, Want  int    // days
	Statement   string
}

// String says it in one line.
func (d Drift) String() string {
	return fmt.Sprintf("%s of %s are kept %d days, %d are configured: %s", d.What, d.Table, d.Have, d.Want, d.Statement)
}

var (
	columnTTL = regexp.MustCompile("`([a-z_.]+)` [^`]*? TTL toDateTime\\(received_at\\) \\+ toIntervalDay\\((\\d+)\\)")
	rowsTTL   = regexp.MustCompile(`ORDER BY [\s\S]*?TTL ([\s\S]+?) \+ toIntervalDay\((\d+)\)`)
)

// Drifts compares the tables with a retention.
func (s *Store) Drifts(ctx context.Context, keep Retention) ([]Drift, error) {
	result, err := s.conn.Query(ctx, "SELECT name, create_table_query FROM system.tables WHERE database = ? AND engine LIKE '%MergeTree' AND name NOT LIKE '.%' ORDER BY name", s.database)
	if err != nil {
		return nil, s.wrap("read the tables' retention", err)
	}
	type table struct{ name, query string }
	tables, err := scanAll(result, func(t *table, scan scanner) error { return scan(&t.name, &t.query) })
	if err != nil {
		return nil, s.wrap("read the tables' retention", err)
	}
	var drifts []Drift
	for _, t := range tables {
		plain := strings.TrimSuffix(t.name, "_local")
		alter := "ALTER TABLE " + s.database + "." + t.name + s.onCluster() + " "
		var columns []string
		payloads := keep.PayloadDays
		defined, _, _ := strings.Cut(t.query, " ENGINE = ")
		for _, found := range columnTTL.FindAllStringSubmatch(defined, -1) {
			if have, _ := strconv.Atoi(found[2]); have != keep.PayloadDays {
				payloads = have
				columns = append(columns, fmt.Sprintf("MODIFY COLUMN %s TTL toDateTime(received_at) + INTERVAL %d DAY", found[1], keep.PayloadDays))
			}
		}
		if len(columns) > 0 {
			drifts = append(drifts, Drift{Table: t.name, What: "payloads", Have: payloads, Want: keep.PayloadDays, Statement: alter + strings.Join(columns, ", ")})
		}
		found := rowsTTL.FindStringSubmatch(t.query)
		if found == nil || plain == "seal_leases" {
			continue
		}
		want := keep.RollupDays
		if plain == "records" || plain == "slice_writes" {
			want = keep.RecordsDays
		}
		if have, _ := strconv.Atoi(found[2]); have != want {
			drifts = append(drifts, Drift{
				Table: t.name, What: "rows", Have: have, Want: want,
				Statement: fmt.Sprintf("%sMODIFY TTL %s + INTERVAL %d DAY", alter, found[1], want),
			})
		}
	}
	return drifts, nil
}

// Retain makes existing tables keep their rows as long as is configured, and
// tells what it changed. ClickHouse drops what is past the new time in the
// background.
func (s *Store) Retain(ctx context.Context, keep Retention) ([]Drift, error) {
	drifts, err := s.Drifts(ctx, keep)
	if err != nil {
		return nil, err
	}
	for i, d := range drifts {
		if err := s.conn.Exec(ctx, d.Statement); err != nil {
			return drifts[:i], s.wrap("change the retention of "+d.Table, err)
		}
	}
	return drifts, nil
}
