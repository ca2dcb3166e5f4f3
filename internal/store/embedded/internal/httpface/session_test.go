package httpface_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNothingPassesFromOneRequestToTheNext(t *testing.T) {
	f := newFace(t)
	f.ok("CREATE TABLE t (a UInt8) ENGINE = MergeTree ORDER BY a")
	fresh := f.ok("SELECT arraySort(groupArray(name)) FROM system.settings WHERE changed")
	threads := f.ok("SELECT getSetting('max_threads')")
	for _, c := range []call{
		{query: params("max_threads", "3", "log_comment", "mine"), body: "SELECT 1"},
		{query: params("max_threads", "3"), body: "INSERT INTO t FORMAT CSV\n1\n"},
		{query: params("max_threads", "3"), body: "CREATE TABLE IF NOT EXISTS t (a UInt8) ENGINE = Memory"},
		{query: params("max_threads", "3"), body: "SELECT throwIf(1)"},
		{body: "INSERT INTO t SETTINGS max_threads = 3 FORMAT CSV\nbad\n"},
		{body: "SELECT 1 SETTINGS max_threads = 3"},
		{method: "GET", query: params("query", "SELECT 1")},
		{path: "/system", body: "SELECT * FROM one"},
		{query: params("param_x", "1"), body: "SELECT {x:UInt8}"},
	} {
		f.do(c)
		for range 3 {
			require.Equal(t, fresh, f.ok("SELECT arraySort(groupArray(name)) FROM system.settings WHERE changed"), "after %+v", c)
			require.Equal(t, threads, f.ok("SELECT getSetting('max_threads')"), "after %+v", c)
			require.Equal(t, f.database+"\n", f.ok("SELECT currentDatabase()"), "after %+v", c)
			resp, body := f.do(call{body: "SELECT {x:UInt8}"})
			require.NotEqual(t, 200, resp.StatusCode, body)
		}
	}
	for statement, want := range map[string]string{
		"SET max_threads = 3":                 "SET would change the session",
		"/* c */ set\nmax_threads=3":          "SET would change the session",
		"USE system":                          "USE would change the session",
		"CREATE TEMPORARY TABLE x (a UInt8)":  "temporary table",
		"CREATE OR REPLACE TEMPORARY TABLE x": "temporary table",
	} {
		resp, body := f.do(call{body: statement})
		require.Equal(t, http.StatusForbidden, resp.StatusCode, body)
		require.Contains(t, body, want)
	}
}

// slow runs until it is told to stop.
const slow = "SELECT count() FROM numbers(1000000000000) WHERE NOT ignore(sipHash64(number, 'cancel-me'))"

// running counts this test's slow queries in the engine.
func (f *face) running() string {
	return f.ok("SELECT count() FROM system.processes WHERE position(query, 'cancel' || '-me') > 0 AND current_database = '" + f.database + "'")
}

func TestClientThatGoesAwayTakesItsQueryWithIt(t *testing.T) {
	f := newFace(t)
	f.ok("CREATE TABLE sink (a UInt64) ENGINE = Null")
	for _, tc := range []struct{ name, statement string }{
		{"taken piece by piece", slow},
		{"held as a whole", slow + " FORMAT JSON"},
		{"insert from a query", "INSERT INTO sink " + slow},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := &face{tb: t, base: f.base, database: f.database}
			ctx, cancel := context.WithCancel(t.Context())
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.base+"/"+f.database, strings.NewReader(tc.statement))
			require.NoError(t, err)
			failed := make(chan error, 1)
			go func() {
				resp, err := http.DefaultClient.Do(req)
				if err == nil {
					err = resp.Body.Close()
				}
				failed <- err
			}()
			require.Eventually(t, func() bool { return f.running() == "1\n" }, 10*time.Second, 50*time.Millisecond, "the query never ran")
			gone := time.Now()
			cancel()
			require.Error(t, <-failed)
			require.Eventually(t, func() bool { return f.running() == "0\n" }, 10*time.Second, 50*time.Millisecond, "the query still runs")
			t.Logf("ended %v after the client went", time.Since(gone).Round(time.Millisecond))
		})
	}
}

func TestQueriesRunAtOnceAndCountExactly(t *testing.T) {
	f := newFace(t)
	f.ok("CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a")
	const writers, inserts, rows = 4, 10, 1000
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range inserts {
				f.do(call{query: params("query", "INSERT INTO t FORMAT Native"), body: string(numbers(t, (w*inserts+i)*rows, rows))})
			}
		})
	}
	for range 12 { // more than run at a time
		wg.Go(func() {
			for range 5 {
				if resp, body := f.do(call{body: "SELECT count() % 1000, count() <= 40000 FROM t"}); resp.StatusCode != 200 || body != "0\t1\n" {
					t.Errorf("a reader saw %s %q", resp.Status, body)
				}
			}
		})
	}
	wg.Wait()
	total := writers * inserts * rows
	require.Equal(t, fmt.Sprintf("%d\t%d\t%d\n", total, total, total*(total-1)/2), f.ok("SELECT count(), uniqExact(a), sum(a) FROM t"))
}
