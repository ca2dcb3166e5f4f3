package dsquery

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
	"github.com/grafana/grafana-plugin-sdk-go/data"
)

func run(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// open waits for the schema, and for the query to give a number above least.
func open(t *testing.T, dsn, query string, least int64) *ClickHouse {
	t.Helper()
	c, err := OpenClickHouse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	var n sql.NullInt64
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		err = c.db.QueryRowContext(t.Context(), query).Scan(&n)
		if err == nil && n.Int64 > least {
			return c
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s gave %d, wanted above %d: %v", query, n.Int64, least, err)
		}
	}
}

// variables asks a dashboard's variables, each with the values of those before it,
// cut or replaced by pick: the queries by place, and the values.
func variables(t testing.TB, c *ClickHouse, d Dashboard, over backend.TimeRange, pick func([]string) []string) (map[string]backend.DataQuery, Choices) {
	t.Helper()
	queries, chosen := map[string]backend.DataQuery{}, Choices{}
	for _, v := range d.Templating.List {
		if v.Type != "query" {
			continue
		}
		text, err := chosen.Interpolate(v.Query, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		query := backend.DataQuery{RefID: v.Name, TimeRange: over, JSON: fmt.Appendf(nil, `{"rawSql":%s,"format":1}`, quoted(text))}
		frames, err := c.Query(t.Context(), query)
		if err != nil {
			t.Fatalf("%s, variable %s: %v", d.UID, v.Name, err)
		}
		var values []string
		for row := range frames[0].Rows() {
			if s, ok := frames[0].Fields[0].ConcreteAt(row); ok {
				values = append(values, fmt.Sprint(s))
			}
		}
		queries[d.UID+"/variable "+v.Name], chosen[v.Name] = query, pick(values)
	}
	return queries, chosen
}

// choices are the values of a dashboard's variables.
func choices(t *testing.T, c *ClickHouse, d Dashboard, over backend.TimeRange, pick func([]string) []string) Choices {
	t.Helper()
	_, chosen := variables(t, c, d, over, pick)
	return chosen
}

// rows asks every ClickHouse query of the dashboards, and tells how many rows each gave.
func rows(t *testing.T, c *ClickHouse, over backend.TimeRange, pick func([]string) []string) map[string]int {
	t.Helper()
	dashboards, err := ReadDashboards("../../dashboards")
	if err != nil || len(dashboards) < 5 {
		t.Fatalf("%d dashboards: %v", len(dashboards), err)
	}
	got := map[string]int{}
	for _, d := range dashboards {
		chosen := choices(t, c, d, over, pick)
		queries, err := d.Queries()
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range queries {
			if q.Datasource != ClickHouseType {
				continue
			}
			ready, err := q.Ready(chosen, over)
			if err != nil {
				t.Fatal(err)
			}
			frames, err := c.Query(context.Background(), ready)
			if err != nil {
				t.Errorf("%s: %v", q.Place, err)
				continue
			}
			if err := fits(q, frames[0]); err != nil {
				t.Errorf("%s: %v", q.Place, err)
			}
			got[q.Place] = frames[0].Rows()
		}
	}
	return got
}

// fits tells whether a frame has the columns that its panel draws. An empty frame
// has them too, but for a time series, which is not known before it has rows.
func fits(q Query, f *data.Frame) error {
	count := map[bool]int{}
	times := 0
	for _, field := range f.Fields {
		for row := range field.Len() {
			if v, err := field.NullableFloatAt(row); err == nil && v != nil && (math.IsNaN(*v) || math.IsInf(*v, 0)) {
				return fmt.Errorf("column %s holds %v, which panels show as it is", field.Name, *v)
			}
		}
		if field.Type().Time() {
			times++
		} else {
			count[field.Type().Numeric()]++
		}
	}
	kind := "annotation"
	if q.Panel != nil {
		kind = q.Panel.Type
	}
	switch {
	case f.Rows() == 0, kind == "table" && len(f.Fields) > 0:
		return nil
	case kind == "timeseries" && times == 1 && count[true] > 0 && count[false] == 0:
		return nil
	case kind == "state-timeline" && times == 1 && count[true]+count[false] > 0:
		return nil
	case (kind == "stat" || kind == "bargauge") && count[true] > 0:
		return nil
	case kind == "annotation" && times > 0 && count[false] > 0:
		return nil
	}
	return fmt.Errorf("a panel of type %s cannot draw %d columns of time, %d of numbers, %d of text", kind, times, count[true], count[false])
}

// rare are queries that have no rows on a fleet that is as it should be.
var rare = []string{"Agent API", "Rejected", "Holes in collecting", "version change"}

// unbound are queries that have rows whatever the variables hold: the collector's own,
// and figures, which are one row.
var unbound = []string{"soakgate-collector/", "Holes in collecting", "soakgate-errors/Calls/", "soakgate-errors/Of the errors/", "soakgate-contract/Envelopes/"}

// TestEveryQuery asks every query of every dashboard on a fleet that was shipped.
func TestEveryQuery(t *testing.T) {
	r := collector(t)
	dsn := r.dsn
	r.ship(t, "demo")
	r.ship(t, "fleet")
	run(t, "complaint", "add", "--dsn", dsn, "--server", "amazon_sp_mcp", "--kind", "parsing", "--ref", "T-1", "--note", "it's, \\ odd", "--by", "test")
	run(t, "complaint", "review", "--dsn", dsn, "--server", "amazon_sp_mcp", "--by", "test")
	run(t, "conformance", "../../schemas/examples/response-meta/valid", "--record", dsn, "--server", "amazon_sp_mcp", "--server-version", "1.0.0")
	c := open(t, dsn, "SELECT sum(records) FROM soakgate.slice_seals FINAL", 20_000)
	over := backend.TimeRange{From: time.Now().Add(-21 * 24 * time.Hour), To: time.Now().Add(time.Minute)}
	if n := alerts(t, c); n < 2 {
		t.Errorf("%d alerts have something to tell of a fleet with malformed blocks and new values", n)
	}
	sameFacts(t, judging{running: r, sources: Sources{ClickHouse: c}})
	for name, pick := range map[string]func([]string) []string{
		"all":     func(v []string) []string { return v },
		"one":     func(v []string) []string { return v[:min(1, len(v))] },
		"two":     func(v []string) []string { return v[:min(2, len(v))] },
		"none":    func([]string) []string { return nil },
		"hostile": func([]string) []string { return []string{`o'brien\, "x"`, `') OR 1=1 --`} },
	} {
		t.Run(name, func(t *testing.T) {
			got := rows(t, c, over, pick)
			t.Logf("%d queries", len(got))
			for place, n := range got {
				named := func(s string) bool { return strings.Contains(place, s) }
				if name == "all" && n == 0 && !slices.ContainsFunc(rare, named) {
					t.Errorf("%s gave no rows", place)
				}
				if (name == "hostile" || name == "none") && n > 0 && !slices.ContainsFunc(unbound, named) {
					t.Errorf("%s gave %d rows of servers that are not chosen", place, n)
				}
			}
		})
	}
}

// sameFacts holds the comparison of servers to its promise: what upstream answered to
// either of them stands in one row, whatever prefix the server gives it.
func sameFacts(t *testing.T, j judging) {
	t.Helper()
	f, err := j.panel("contract", "Same codes for the same facts")
	if err != nil {
		t.Fatal(err)
	}
	servers := map[string]int{}
	for row := range f.Rows() {
		servers[cell(f, "code", row)]++
	}
	for _, code := range []string{"api_http / API_HTTP_404", "api_client / TOOL_EXECUTION_FAILED", "rate_limited / API_HTTP_429"} {
		if servers[code] != 2 {
			t.Errorf("%s is in %d servers' rows: %v", code, servers[code], servers)
		}
	}
}

// TestEmptyStore asks the same of a store that holds nothing.
func TestEmptyStore(t *testing.T) {
	c := open(t, collector(t).dsn, "SELECT max(version) FROM soakgate.schema_migrations", 0)
	over := backend.TimeRange{From: time.Now().Add(-24 * time.Hour), To: time.Now()}
	rows(t, c, over, func(v []string) []string { return v })
	if n := alerts(t, c); n > 0 {
		t.Errorf("%d alerts tell of a store that holds nothing", n)
	}
}
