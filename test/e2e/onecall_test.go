package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

// told is what one server sends of one call.
type told struct {
	server string
	trace  pcommon.TraceID
	spans  ptrace.Traces
	logs   plog.Logs
}

const onlyFailure = `{"error_kind":"internal_error","tool":"echo","summary":"It broke.","details":[],"hints":[],"examples":[],"error_code":"INTERNAL_ERROR","retryable":false,"_envelope_version":1}`

// span adds a span of the call; a message makes an exception event of each.
func (o *told) span(name string, kind ptrace.SpanKind, id, parent byte, messages ...string) ptrace.Span {
	if o.spans.ResourceSpans().Len() == 0 {
		o.spans.ResourceSpans().AppendEmpty().Resource().Attributes().PutStr("service.name", o.server)
		o.spans.ResourceSpans().At(0).ScopeSpans().AppendEmpty()
	}
	s := o.spans.ResourceSpans().At(0).ScopeSpans().At(0).Spans().AppendEmpty()
	s.SetName(name)
	s.SetKind(kind)
	s.SetTraceID(o.trace)
	s.SetSpanID(pcommon.SpanID{id})
	if parent != 0 {
		s.SetParentSpanID(pcommon.SpanID{parent})
	}
	s.SetStartTimestamp(pcommon.NewTimestampFromTime(time.Now()))
	s.SetEndTimestamp(pcommon.NewTimestampFromTime(time.Now()))
	for _, m := range messages {
		s.Status().SetCode(ptrace.StatusCodeError)
		e := s.Events().AppendEmpty()
		e.SetName("exception")
		e.Attributes().PutStr("exception.type", "ToolError")
		e.Attributes().PutStr("exception.message", m)
	}
	return s
}

// exceptionLog adds the exception as a log record within a span.
func (o *told) exceptionLog(span byte) {
	rl := o.logs.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr("service.name", o.server)
	r := rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	r.SetTimestamp(pcommon.NewTimestampFromTime(time.Now()))
	r.SetTraceID(o.trace)
	r.SetSpanID(pcommon.SpanID{span})
	r.Body().SetStr("tool failed")
	r.Attributes().PutStr("exception.type", "ToolError")
	r.Attributes().PutStr("exception.message", onlyFailure)
}

// TestOneCallCountsOnce sends calls that several places tell of, in requests of
// their own, and finds each once: one call, one failure.
func TestOneCallCountsOnce(t *testing.T) {
	const call = "tools/call echo"
	cases := []struct {
		name string
		fill func(*told)
	}{
		{"U39: a span without an error, and an envelope in a log record", func(o *told) {
			o.span(call, ptrace.SpanKindServer, 1, 0)
			o.exceptionLog(1)
		}},
		{"U40: two equal exception events", func(o *told) { o.span(call, ptrace.SpanKindServer, 1, 0, onlyFailure, onlyFailure) }},
		{"U41: the exception as an event and as a log record", func(o *told) {
			o.span(call, ptrace.SpanKindServer, 1, 0, onlyFailure)
			o.exceptionLog(1)
		}},
		{"U41: as a log record alone", func(o *told) { o.exceptionLog(1) }},
		{"U42: a mounted server's nested spans", func(o *told) {
			o.span(call, ptrace.SpanKindServer, 3, 2, onlyFailure, onlyFailure)
			o.span("delegate echo", ptrace.SpanKindInternal, 2, 1, onlyFailure)
			o.span("tools/call mounted_echo", ptrace.SpanKindServer, 1, 0, onlyFailure, onlyFailure)
		}},
	}
	c := newCollector(t)
	c.start()
	c.waitSchema()
	for i, tt := range cases {
		o := &told{server: fmt.Sprintf("case_%d", i), trace: pcommon.TraceID{byte(i + 1)}, spans: ptrace.NewTraces(), logs: plog.NewLogs()}
		tt.fill(o)
		body, err := ptraceotlp.NewExportRequestFromTraces(o.spans).MarshalProto()
		require.NoError(t, err)
		c.post("/v1/traces", body)
		body, err = plogotlp.NewExportRequestFromLogs(o.logs).MarshalProto()
		require.NoError(t, err)
		c.post("/v1/logs", body)
	}
	c.waitSealed(2 + 1 + 2 + 1 + 3)
	for i, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			of := func(rollup, sum string) int64 {
				return c.number(fmt.Sprintf("SELECT sum(r.%s) FROM soakgate.%s_unique AS r WHERE server = 'case_%d'", sum, rollup, i))
			}
			assert.Equal(t, int64(1), of("calls_by_minute", "calls"), "calls")
			assert.Equal(t, int64(1), of("errors_by_minute", "errors"), "failures")
			assert.Equal(t, []map[string]any{{"outcome": "error"}}, c.mustQuery(fmt.Sprintf("SELECT outcome FROM soakgate.calls_by_minute_unique AS r WHERE server = 'case_%d' GROUP BY outcome HAVING sum(r.calls) > 0", i)))
		})
	}
	assert.Equal(t, []map[string]any{{"server": "case_0"}},
		c.mustQuery("SELECT any(server) AS server FROM soakgate.records_unique WHERE is_call GROUP BY call_key HAVING uniqExact(outcome) > 1"), "where they disagree is shown")
	require.NoError(t, c.terminate(), c.output)
}

func (c *collector) post(path string, body []byte) {
	c.t.Helper()
	answer, err := http.Post("http://"+c.http+path, "application/x-protobuf", bytes.NewReader(body))
	require.NoError(c.t, err)
	defer answer.Body.Close()
	require.Equal(c.t, http.StatusOK, answer.StatusCode)
}
