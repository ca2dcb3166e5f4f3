package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMigrateKeepsTheGivenDays: where collectors do not migrate, the command gives
// the tables their retention, and leaves it alone when no days are given.
func TestMigrateKeepsTheGivenDays(t *testing.T) {
	c := newCollector(t)
	c.start()
	c.waitSchema()
	kept := func() (payloads, records, rollups int64) {
		t.Helper()
		days := func(table, pattern string) int64 {
			return c.number("SELECT toInt64(extract(create_table_query, '" + pattern + "')) FROM system.tables WHERE database = 'soakgate' AND name = '" + table + "'")
		}
		return days("records", "`payload`.*? TTL .*?toIntervalDay.([0-9]+)"),
			days("records", "ORDER BY .*? TTL .*?toIntervalDay.([0-9]+)"),
			days("calls_by_minute", "ORDER BY .*? TTL .*?toIntervalDay.([0-9]+)")
	}
	holds := func(want ...int64) {
		t.Helper()
		payloads, records, rollups := kept()
		require.Equal(t, want, []int64{payloads, records, rollups})
	}
	holds(30, 100, 400)

	out, stderr, status := c.run("migrate", "up", "--payload-days", "7", "--records-days", "50", "--rollup-days", "300")
	require.Zero(t, status, stderr)
	require.Contains(t, out, "changed: payloads of records are kept 30 days, 7 are configured")
	holds(7, 50, 300)

	out, stderr, status = c.run("migrate", "up")
	require.Zero(t, status, stderr)
	require.NotContains(t, out, "changed")
	holds(7, 50, 300)

	_, stderr, status = c.run("migrate", "up", "--payload-days", "60", "--records-days", "50")
	require.Equal(t, 2, status)
	require.Contains(t, stderr, "records not shorter than payloads")
}
