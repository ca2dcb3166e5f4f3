package dsquery

import (
	"context"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
)

// big are the tables that grow with traffic; the registers do not.
var big = regexp.MustCompile(`ReadFromMergeTree \(soakgate\.(\w+_by_(?:minute|hour|day)|records)\)`)

// bounds are conditions on the time that a panel shows: of the event in rollups, of
// arrival in the others. Which hours are settled is a condition on arrival too, and
// bounds no panel.
var bounds = map[bool]*regexp.Regexp{
	true:  regexp.MustCompile(`Condition: .*\b(minute|hour)\b`),
	false: regexp.MustCompile(`Condition: .*\b(arrived|received_at)\b`),
}

// byServer tells whether a table's key begins with the server, then environment and
// time of the event.
func byServer(table string) bool {
	return !strings.HasPrefix(table, "records ") && !strings.HasPrefix(table, "lateness_by_day ")
}

// plans is how ClickHouse would read each query of the dashboards over a range.
func (j judging) plans(t *testing.T, over backend.TimeRange) map[string]string {
	t.Helper()
	chosen, err := j.everything(over)
	if err != nil {
		t.Fatal(err)
	}
	dashboards, err := ReadDashboards("../../dashboards")
	if err != nil {
		t.Fatal(err)
	}
	plans := map[string]string{}
	for _, d := range dashboards {
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
			fields := map[string]any{}
			if err := json.Unmarshal(ready.JSON, &fields); err != nil {
				t.Fatal(err)
			}
			fields["rawSql"], fields["format"] = "EXPLAIN indexes = 1\n"+fields["rawSql"].(string), 1
			if ready.JSON, err = json.Marshal(fields); err != nil {
				t.Fatal(err)
			}
			frames, err := j.sources.ClickHouse.Query(context.Background(), ready)
			if err != nil {
				t.Errorf("%s: %v", q.Place, err)
				continue
			}
			var plan strings.Builder
			for row := range frames[0].Rows() {
				plan.WriteString(cell(frames[0], frames[0].Fields[0].Name, row) + "\n")
			}
			plans[q.Place] = plan.String()
		}
	}
	return plans
}

// readsOf are the parts of a plan that read a big table, by its name and place. Each
// begins with a table's name and ends before the next.
func readsOf(plan string) map[string]string {
	reads := map[string]string{}
	found := big.FindAllStringSubmatchIndex(plan, -1)
	for i, at := range found {
		end := len(plan)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		reads[plan[at[2]:at[3]]+" "+strconv.Itoa(i+1)] = plan[at[0]:end]
	}
	return reads
}

// TestPanelsReadByTheIndex asks ClickHouse how it would read each query: every big
// table by a condition on time that an index serves, and by server where that is the
// head of the key.
func TestPanelsReadByTheIndex(t *testing.T) {
	r := collector(t)
	r.ship(t, "demo")
	c := open(t, r.dsn, "SELECT sum(records) FROM soakgate.slice_seals FINAL", 15_000)
	j, reads := judging{running: r, sources: Sources{ClickHouse: c}}, 0
	for place, plan := range j.plans(t, month()) {
		for table, part := range readsOf(plan) {
			reads++
			if !bounds[byServer(table)].MatchString(part) {
				t.Errorf("%s reads %s without a bound on time:\n%s", place, table, part)
			}
			if byServer(table) && !strings.Contains(part, "server in ") {
				t.Errorf("%s reads %s without its key's head:\n%s", place, table, part)
			}
		}
	}
	if reads < 30 {
		t.Errorf("only %d reads of big tables were seen", reads)
	}
}
