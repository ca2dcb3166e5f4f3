package dsquery

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
)

// grow makes the rollups large: the shipped rows for a hundred instances, as if each
// had arrived when it happened, in the rollups by minute and by hour.
func grow(t *testing.T, c *ClickHouse) {
	t.Helper()
	const copies = "FROM soakgate.%[1]s_by_minute AS m FINAL CROSS JOIN numbers(100) AS n SETTINGS max_partitions_per_insert_block = 0"
	for _, name := range []string{"activity", "calls", "errors", "rate_limits", "blocks", "normalizations", "warnings"} {
		var shared, values []string
		rows, err := c.db.QueryContext(t.Context(), `SELECT name FROM system.columns WHERE database = 'soakgate' AND table = $1`, name+"_by_minute")
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var column string
			if err := rows.Scan(&column); err != nil {
				t.Fatal(err)
			}
			shared = append(shared, column)
			switch column {
			case "arrived":
				values = append(values, "m.minute")
			case "instance":
				values = append(values, "concat(m.instance, '-', toString(n.number))")
			default:
				values = append(values, "m."+column)
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		insert := "INSERT INTO soakgate.%[1]s_by_%[2]s (" + strings.Join(shared, ", ") + ") SELECT " + strings.Join(values, ", ") + " " + copies
		statements := []string{fmt.Sprintf(insert, name, "minute")}
		if name == "calls" || name == "errors" || name == "rate_limits" {
			byHour := strings.NewReplacer("(minute, arrived", "(hour, arrived", "m.minute, m.minute", "toStartOfHour(m.minute), toStartOfHour(m.minute)")
			// Not added up by hour: more rows than there would be, and as well in order.
			statements = append([]string{byHour.Replace(fmt.Sprintf(insert, name, "hour"))}, statements...)
		}
		for _, s := range statements {
			if _, err := c.db.ExecContext(t.Context(), s); err != nil {
				t.Fatalf("%v\n%s", err, s)
			}
		}
	}
}

// granules is one index step of a plan: chosen of those before it.
var granules = regexp.MustCompile(`Granules: (\d+)/(\d+)`)

// looksBack is the one panel that compares the range with the week before it.
const looksBack = "First seen in this time range"

// TestAnHourReadsFewGranules asks how each query would read one hour of large
// rollups: a small part of them.
func TestAnHourReadsFewGranules(t *testing.T) {
	r := collector(t)
	r.ship(t, "demo")
	c := open(t, r.dsn, "SELECT sum(records) FROM soakgate.slice_seals FINAL", 15_000)
	grow(t, c)
	at := time.Now().Add(-7 * 24 * time.Hour).Truncate(time.Hour)
	j, large := judging{running: r, sources: Sources{ClickHouse: c}}, 0
	for place, plan := range j.plans(t, backend.TimeRange{From: at, To: at.Add(time.Hour)}) {
		for table, part := range readsOf(plan) {
			steps := granules.FindAllStringSubmatch(part, -1)
			if len(steps) == 0 {
				continue
			}
			chosen, _ := strconv.Atoi(steps[len(steps)-1][1])
			all, _ := strconv.Atoi(steps[0][2])
			if all < 50 {
				continue
			}
			large++
			t.Logf("%d of %d: %s, %s", chosen, all, place, table)
			if chosen*5 > all && !strings.Contains(place, looksBack) {
				t.Errorf("%s reads %d of %d granules of %s:\n%s", place, chosen, all, table, part)
			}
		}
	}
	if large < 10 {
		t.Errorf("only %d reads of large tables were seen", large)
	}
}
