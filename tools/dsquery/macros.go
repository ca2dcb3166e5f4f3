package dsquery

import (
	"fmt"
	"strings"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/data/sqlutil"
)

// macros are those of the ClickHouse data source that our queries use; another one
// fails. $__conditionalAll and $__adHocFilters belong to its front end: no query of
// ours may use them.
var macros = sqlutil.Macros{
	"fromTime": func(q *sqlutil.Query, _ []string) (string, error) { return seconds(q.TimeRange.From), nil },
	"toTime":   func(q *sqlutil.Query, _ []string) (string, error) { return seconds(q.TimeRange.To), nil },
	"timeFilter": ofColumn(func(q *sqlutil.Query, column string) string {
		return column + " >= " + seconds(q.TimeRange.From) + " AND " + column + " <= " + seconds(q.TimeRange.To)
	}),
	"timeInterval": ofColumn(func(q *sqlutil.Query, column string) string {
		return fmt.Sprintf("toStartOfInterval(toDateTime(%s), INTERVAL %d second)", column, max(int64(q.Interval.Seconds()), 1))
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

func seconds(t time.Time) string { return fmt.Sprintf("toDateTime(%d)", t.Unix()) }
