package dsquery

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
)

// TestFrames asks the engine for columns of many types: what the data source makes
// of them, and what it would let pass and no panel can draw.
func TestFrames(t *testing.T) {
	c := open(t, collector(t).dsn, "SELECT 1", 0)
	over := backend.TimeRange{From: time.Unix(1_796_036_400, 0).UTC(), To: time.Unix(1_796_040_000, 0).UTC()}
	for _, q := range []struct {
		name, sql    string
		format       int
		want, failed string
	}{
		{"wide", "SELECT $__timeInterval(at) AS time, s, count() AS n FROM (SELECT toDateTime(1796036400 + number * 30) AS at, ['a','b'][1 + number % 2] AS s FROM numbers(8)) WHERE $__timeFilter(at) GROUP BY time, s ORDER BY time", 0, `{"s":"b"}`, ""},
		{"nulls", "SELECT NULL::Nullable(UInt8) AS n, 'x'::LowCardinality(Nullable(String)) AS l", 1, `[[null],["x"]]`, ""},
		{"no rows", "SELECT now() AS time, 'a' AS s, 1 AS v WHERE 0", 0, `"values":[]`, ""},
		{"unsorted", "SELECT arrayJoin([toDateTime(1796036460), toDateTime(1796036400)]) AS time, 'a' AS s, 1 AS v", 0, "", "not sorted in ascending order"},
		{"no time", "SELECT 1 AS v", 0, "", "needs a time column"},
		{"decimal", "SELECT toDecimal64(1.5, 2) AS d", 1, "", "has type Decimal"},
		{"array", "SELECT [1] AS a", 1, "", "has type Array"},
		{"no such column", "SELECT nope", 1, "", "nope"},
	} {
		t.Run(q.name, func(t *testing.T) {
			frames, err := c.Query(t.Context(), backend.DataQuery{
				RefID: "A", TimeRange: over, Interval: time.Minute, JSON: fmt.Appendf(nil, `{"format":%d,"rawSql":%s}`, q.format, quoted(q.sql)),
			})
			switch {
			case q.failed != "":
				if err == nil || !strings.Contains(err.Error(), q.failed) {
					t.Errorf("error %v, wanted %s", err, q.failed)
				}
				return
			case err != nil:
				t.Fatal(err)
			}
			if out, _ := json.Marshal(frames); !strings.Contains(string(out), q.want) {
				t.Errorf("%s, wanted %s", out, q.want)
			}
		})
	}
}
