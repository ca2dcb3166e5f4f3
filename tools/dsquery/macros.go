package dsquery

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/data/sqlutil"
)

// macros are those of the ClickHouse data source that its backend expands.
// $__conditionalAll and $__adHocFilters belong to its front end: no query of
// ours may use them.
var macros = sqlutil.Macros{
	"fromTime":    func(q *sqlutil.Query, _ []string) (string, error) { return seconds(q.TimeRange.From), nil },
	"toTime":      func(q *sqlutil.Query, _ []string) (string, error) { return seconds(q.TimeRange.To), nil },
	"fromTime_ms": func(q *sqlutil.Query, _ []string) (string, error) { return millis(q.TimeRange.From), nil },
	"toTime_ms":   func(q *sqlutil.Query, _ []string) (string, error) { return millis(q.TimeRange.To), nil },
	"interval_s":  func(q *sqlutil.Query, _ []string) (string, error) { return strconv.FormatInt(step(q), 10), nil },
	"timeFilter": ofColumn(func(q *sqlutil.Query, column string) string {
		return between(column, seconds(q.TimeRange.From), seconds(q.TimeRange.To))
	}),
	"timeFilter_ms": ofColumn(func(q *sqlutil.Query, column string) string {
		return between(column, millis(q.TimeRange.From), millis(q.TimeRange.To))
	}),
	"dateFilter": ofColumn(func(q *sqlutil.Query, column string) string {
		return between(column, day(q.TimeRange.From), day(q.TimeRange.To))
	}),
	"timeInterval": ofColumn(func(q *sqlutil.Query, column string) string {
		return fmt.Sprintf("toStartOfInterval(toDateTime(%s), INTERVAL %d second)", column, step(q))
	}),
	"timeInterval_ms": ofColumn(func(q *sqlutil.Query, column string) string {
		return fmt.Sprintf("toStartOfInterval(toDateTime64(%s, 3), INTERVAL %d millisecond)", column, max(q.Interval.Milliseconds(), 1))
	}),
}

// ofColumn is a macro of one argument.
func ofColumn(expand func(*sqlutil.Query, string) string) sqlutil.MacroFunc {
	return func(q *sqlutil.Query, arguments []string) (string, error) {
		if len(arguments) != 1 || strings.TrimSpace(arguments[0]) == "" {
			return "", fmt.Errorf("a macro wants one argument, a column, and has %q", arguments)
		}
		return expand(q, arguments[0]), nil
	}
}

func between(column, from, to string) string {
	return column + " >= " + from + " AND " + column + " <= " + to
}

func seconds(t time.Time) string { return fmt.Sprintf("toDateTime(%d)", t.Unix()) }
func millis(t time.Time) string  { return fmt.Sprintf("fromUnixTimestamp64Milli(%d)", t.UnixMilli()) }
func day(t time.Time) string     { return "toDate('" + t.Format(time.DateOnly) + "')" }

func step(q *sqlutil.Query) int64 { return max(int64(q.Interval.Seconds()), 1) }
