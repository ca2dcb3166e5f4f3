package ingest

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/soakgate/soakgate/internal/classify"
)

// perRequest is the size of a request of the SDKs' batch processors.
const perRequest = 512

// ordinary are texts as other servers log them.
var ordinary = map[string]string{
	"text": `2026-12-01T10:00:00Z INFO request served method=GET path=/orders/903-1234567-7654321 status=200 duration_ms=12.4`,
	"json": `{"time":"2026-12-01T10:00:00.123456Z","level":"INFO","logger":"http.access","msg":"request served","method":"GET","path":"/orders/903-1234567-7654321",` +
		`"status":200,"duration_ms":12.4,"client":{"ip":"192.0.2.7","agent":"python-requests/2.32"},"trace_id":"0af7651916cd43dd8448eb211c80319c"}`,
	"json that says error": `{"time":"2026-12-01T10:00:00.123456Z","level":"ERROR","logger":"http.access","msg":"request failed","error":"connection reset by peer",` +
		`"meta":{"attempt":3},"path":"/orders/903-1234567-7654321","status":502,"trace_id":"0af7651916cd43dd8448eb211c80319c"}`,
}

// ordinaryLogs is a request of log records that are not ours.
func ordinaryLogs(body string) plog.Logs {
	logs := plog.NewLogs()
	rl := logs.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr("service.name", "shop")
	records := rl.ScopeLogs().AppendEmpty().LogRecords()
	for i := range perRequest {
		r := records.AppendEmpty()
		r.SetTimestamp(pcommon.Timestamp(1796000000000000000 + i))
		r.SetSeverityText("INFO")
		r.Body().SetStr(body)
		for _, key := range []string{"code.file.path", "code.function.name", "code.line.number", "thread.name"} {
			r.Attributes().PutStr(key, "some/value.py")
		}
	}
	return logs
}

// ordinarySpans is a request of an HTTP server's spans.
func ordinarySpans() ptrace.Traces {
	traces := ptrace.NewTraces()
	rs := traces.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "shop")
	spans := rs.ScopeSpans().AppendEmpty().Spans()
	for i := range perRequest {
		s := span(spans, "GET /orders/{id}", []ptrace.SpanKind{ptrace.SpanKindServer, ptrace.SpanKindClient, ptrace.SpanKindInternal}[i%3], byte(i), 0)
		for _, key := range []string{"http.request.method", "url.path", "http.route", "server.address", "http.response.status_code", "network.protocol.version"} {
			s.Attributes().PutStr(key, "value")
		}
	}
	return traces
}

// BenchmarkNotOurs is the price of what passes by. The aim: text and
// spans below 100 ns a record, JSON below 1.5 us, nothing allocated for it.
func BenchmarkNotOurs(b *testing.B) {
	for _, name := range []string{"text", "json", "json that says error"} {
		b.Run(name, func(b *testing.B) { benchmarkLogs(b, ordinaryLogs(ordinary[name])) })
	}
	b.Run("spans", func(b *testing.B) { benchmarkTraces(b, ordinarySpans()) })
}

// TestPassingByAllocatesNothing holds that what is not ours costs a request's
// own few allocations, and none a record.
func TestPassingByAllocatesNothing(t *testing.T) {
	check := func(name string, walk func(*Walker)) {
		t.Run(name, func(t *testing.T) {
			w, ignored := counter(t)
			walk(w)
			require.Equal(t, perRequest, *ignored)
			assert.LessOrEqual(t, testing.AllocsPerRun(20, func() { walk(w) }), 2.0, "allocations a request of %d", perRequest)
		})
	}
	for name, body := range ordinary {
		logs := ordinaryLogs(body)
		check(name, func(w *Walker) { w.Logs(logs) })
	}
	traces := ordinarySpans()
	check("spans", func(w *Walker) { w.Traces(traces) })
}

// counter is a walker that counts what it lets go by, and judges the rest as the
// exporter does.
func counter(tb testing.TB) (w *Walker, ignored *int) {
	tb.Helper()
	classifier, err := classify.New()
	if err != nil {
		tb.Fatal(err)
	}
	batch := classify.NewBatch(classifier)
	ignored = new(int)
	w = NewWalker(nil, func(o *classify.Observation) {
		if !batch.Classify(o, func(*classify.Record) {}) {
			*ignored++
		}
	}, func(Reason) { *ignored++ })
	return w, ignored
}

func benchmarkLogs(b *testing.B, logs plog.Logs) {
	w, ignored := counter(b)
	measure(b, ignored, func() { w.Logs(logs) })
}

func benchmarkTraces(b *testing.B, traces ptrace.Traces) {
	w, ignored := counter(b)
	measure(b, ignored, func() { w.Traces(traces) })
}

func measure(b *testing.B, ignored *int, walk func()) {
	walk()
	if *ignored != perRequest {
		b.Fatalf("%d of %d are not ours", *ignored, perRequest)
	}
	b.ReportAllocs()
	took := cpuTime(func() {
		for b.Loop() {
			walk()
		}
	})
	b.ReportMetric(float64(took.Nanoseconds())/float64(b.N*perRequest), "cpu-ns/record")
}

const validEnvelope = `{"error_kind":"internal_error","tool":"get_order","summary":"it broke","details":[],"hints":["try again"],"examples":[],"error_code":"INTERNAL_ERROR","retryable":false,"_envelope_version":1}`

// BenchmarkOurs is the price of finding and judging an envelope, by carrier.
func BenchmarkOurs(b *testing.B) {
	classifier, err := classify.New()
	if err != nil {
		b.Fatal(err)
	}
	batch := classify.NewBatch(classifier)
	found := 0
	w := NewWalker(nil, func(o *classify.Observation) {
		if batch.Classify(o, func(*classify.Record) {}) {
			found++
		}
	}, func(Reason) {})
	for _, carrier := range []string{"text", "map"} {
		logs := ordinaryLogs(validEnvelope)
		for i, r := range logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().All() {
			r.Attributes().PutStr("mcp.session.id", fmt.Sprint(i))
			if carrier == "map" {
				var members map[string]any
				if err := json.Unmarshal([]byte(validEnvelope), &members); err != nil {
					b.Fatal(err)
				}
				_ = r.Body().SetEmptyMap().FromRaw(members)
			}
		}
		b.Run(carrier, func(b *testing.B) {
			found = 0
			w.Logs(logs)
			if found != perRequest {
				b.Fatalf("%d of %d are found", found, perRequest)
			}
			b.ReportAllocs()
			took := cpuTime(func() {
				for b.Loop() {
					w.Logs(logs)
				}
			})
			b.ReportMetric(float64(took.Nanoseconds())/float64(b.N*perRequest), "cpu-ns/record")
		})
	}
}
