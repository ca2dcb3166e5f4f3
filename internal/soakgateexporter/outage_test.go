package soakgateexporter

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exportertest"

	"github.com/soakgate/soakgate/internal/store/embedded/embeddedtest"
)

// switched is a ClickHouse that can be away.
type switched struct {
	dsn, direct string
	away        atomic.Bool
}

func newSwitched(tb testing.TB) *switched {
	tb.Helper()
	s := &switched{direct: embeddedtest.Start(tb)}
	target, err := url.Parse(s.direct)
	require.NoError(tb, err)
	database := target.Path
	target.Path = ""
	onward := httputil.NewSingleHostReverseProxy(target)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.away.Load() {
			onward.ServeHTTP(w, r)
			return
		}
		if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
			conn.Close()
		}
	}))
	tb.Cleanup(proxy.Close)
	s.dsn = proxy.URL + database
	return s
}

func runExporter(tb testing.TB, dsn string) exporter.Logs {
	tb.Helper()
	c := createDefaultConfig().(*Config)
	c.DSN, c.Journal.Directory = configopaque.String(dsn), tb.TempDir()
	c.Batch.MaxAge = time.Second
	e, err := NewFactory().CreateLogs(context.Background(), exportertest.NewNopSettings(Type), c)
	require.NoError(tb, err)
	tb.Cleanup(func() { assert.NoError(tb, e.Shutdown(context.Background())) })
	require.NoError(tb, e.Start(context.Background(), componenttest.NewNopHost()))
	return e
}

// steadily sends requests of 500 records at a rate until stop says so, and
// tells how many records were acknowledged; none may be refused.
func steadily(tb testing.TB, e exporter.Logs, perSecond int, stop func() bool) (sent int) {
	tb.Helper()
	const each = 500
	tick := time.NewTicker(time.Second * each / time.Duration(perSecond))
	defer tick.Stop()
	for !stop() {
		require.NoError(tb, e.ConsumeLogs(context.Background(), envelopes("outage", each)))
		sent += each
		<-tick.C
	}
	return sent
}

// outage is a ClickHouse that is away for so long while 5,000 records a second
// come, and comes back while they go on. It tells how many times as fast as they
// come the backlog drained.
func outage(tb testing.TB, away time.Duration) (drain float64) {
	tb.Helper()
	const rate = 5000
	s := newSwitched(tb)
	e := runExporter(tb, s.dsn)
	i := e.(signal).instance
	require.Eventually(tb, i.connected.Load, time.Minute, 10*time.Millisecond)
	s.away.Store(true)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	sent := steadily(tb, e, rate, func() bool { return time.Since(began) > away })
	runtime.GC()
	runtime.ReadMemStats(&after)
	assert.Less(tb, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(160<<20), "memory beyond one batch")
	backlog := i.journal.Stats().BacklogRows
	require.InDelta(tb, sent, backlog, 600)

	s.away.Store(false)
	back := time.Now()
	sent += steadily(tb, e, rate, func() bool { return i.journal.Stats().BacklogRows < 3*rate })
	took := time.Since(back).Seconds()
	drain = (float64(backlog)/took + rate) / rate
	require.Eventually(tb, func() bool { return stored(tb, s.direct) == strconv.Itoa(sent) }, time.Minute, 50*time.Millisecond)
	require.Eventually(tb, func() bool { return sealed(tb, s.direct) == strconv.Itoa(sent) }, time.Minute, 50*time.Millisecond)
	return drain
}

// sealed is what the seals have counted.
func sealed(tb testing.TB, dsn string) string {
	tb.Helper()
	at := strings.LastIndex(dsn, "/")
	return ask(tb, dsn[:at], "SELECT sum(records) FROM "+dsn[at+1:]+".slice_seals FINAL")
}

// TestOutage is a short outage; BenchmarkOutage measures a longer one.
func TestOutage(t *testing.T) { outage(t, 2*time.Second) }

func BenchmarkOutage(b *testing.B) {
	for b.Loop() {
		b.ReportMetric(outage(b, 60*time.Second), "times-arrival")
	}
}

// BenchmarkAcknowledgement sends 20,000 records a second in requests of 512, as
// an open loop: a request that has to wait does not hold back the next. The disk
// is real, fsync included.
func BenchmarkAcknowledgement(b *testing.B) {
	const rate, each = 20_000, 512
	s := newSwitched(b)
	e := runExporter(b, s.dsn)
	took := make(chan time.Duration, b.N+1)
	tick := time.NewTicker(time.Second * each / rate)
	defer tick.Stop()
	n := 0
	for b.Loop() {
		n++
		request := envelopes("ack", each)
		due := <-tick.C
		go func() {
			assert.NoError(b, e.ConsumeLogs(context.Background(), request))
			took <- time.Since(due)
		}()
	}
	latencies := make([]time.Duration, n)
	for i := range latencies {
		latencies[i] = <-took
	}
	slices.Sort(latencies)
	ms := func(q float64) float64 { return float64(latencies[int(q*float64(n-1))].Microseconds()) / 1000 }
	b.ReportMetric(ms(0.5), "p50-ms")
	b.ReportMetric(ms(0.99), "p99-ms")
	b.ReportMetric(0, "ns/op") // paced: the time of one says nothing
}
