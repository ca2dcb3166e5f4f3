package ingest

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/soakgate/soakgate/internal/classify"
)

// found is an observation as a test keeps it: copied out of the walker's
// scratch space.
type found struct {
	classify.Observation
	texts []string
}

// walk runs a walker over logs or traces and returns what it found and ignored.
func walk(t *testing.T, data any, attributes ...string) (all []found, ignored map[Reason]int) {
	t.Helper()
	ignored = map[Reason]int{}
	w := NewWalker(attributes, func(o *classify.Observation) {
		f := found{Observation: *o}
		f.Candidates = append([]classify.Candidate(nil), o.Candidates...)
		f.Attributes = append([]classify.Attribute(nil), o.Attributes...)
		for i, c := range f.Candidates {
			f.texts = append(f.texts, string(c.Text))
			f.Candidates[i].Text = nil
		}
		all = append(all, f)
	}, func(r Reason) { ignored[r]++ })
	switch d := data.(type) {
	case plog.Logs:
		d.MarkReadOnly()
		w.Logs(d)
	case ptrace.Traces:
		d.MarkReadOnly()
		w.Traces(d)
	default:
		t.Fatalf("walk %T", data)
	}
	return all, ignored
}

// logRecord makes a request of one record.
func logRecord(fill func(pcommon.Resource, plog.LogRecord)) plog.Logs {
	logs := plog.NewLogs()
	rl := logs.ResourceLogs().AppendEmpty()
	fill(rl.Resource(), rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty())
	return logs
}

const envelope = `{"_envelope_version":1,"error_kind":"internal_error","error_code":"INTERNAL_ERROR"}`

func TestLogCarriers(t *testing.T) {
	tests := []struct {
		name     string
		fill     func(plog.LogRecord)
		carriers []classify.Carrier
		texts    []string
		ignored  Reason
	}{
		{
			name:     "text body",
			fill:     func(r plog.LogRecord) { r.Body().SetStr("ToolError: " + envelope) },
			carriers: []classify.Carrier{classify.CarrierLogBodyText}, texts: []string{"ToolError: " + envelope},
		},
		{
			name: "map body, members in order and escaped",
			fill: func(r plog.LogRecord) {
				m := r.Body().SetEmptyMap()
				m.PutInt("_envelope_version", 1)
				m.PutStr("s", "a\"\\\n\x01é")
				m.PutEmpty("null")
				m.PutDouble("d", 1.5)
				m.PutDouble("nan", math.NaN())
				m.PutEmptySlice("l").AppendEmpty().SetBool(true)
				m.PutEmptyBytes("b").FromRaw([]byte("hi"))
			},
			carriers: []classify.Carrier{classify.CarrierLogBodyMap},
			texts:    []string{`{"_envelope_version":1,"s":"a\"\\\n\u0001é","null":null,"d":1.5,"nan":1e999,"l":[true],"b":"aGk="}`},
		},
		{
			name:     "bytes body that holds text",
			fill:     func(r plog.LogRecord) { r.Body().SetEmptyBytes().FromRaw([]byte(envelope)) },
			carriers: []classify.Carrier{classify.CarrierLogBodyBytes}, texts: []string{envelope},
		},
		{
			name:     "body that is not UTF-8 is mended",
			fill:     func(r plog.LogRecord) { r.Body().SetStr("\xff\xfe" + envelope) },
			carriers: []classify.Carrier{classify.CarrierLogBodyText}, texts: []string{"\uFFFD" + envelope},
		},
		{
			name: "exception message",
			fill: func(r plog.LogRecord) {
				r.Body().SetStr("tool failed")
				r.Attributes().PutStr("exception.type", "fastmcp.exceptions.ToolError")
				r.Attributes().PutStr("exception.message", "boom")
			},
			carriers: []classify.Carrier{classify.CarrierLogAttribute}, texts: []string{"boom"},
		},
		{
			name: "error.message, in text and in bytes",
			fill: func(r plog.LogRecord) {
				r.Attributes().PutStr("error.message", "ToolError: "+envelope)
				r.Attributes().PutEmptyBytes("mcp.error.envelope").FromRaw([]byte(envelope))
			},
			carriers: []classify.Carrier{classify.CarrierLogAttribute, classify.CarrierLogAttribute}, texts: []string{envelope, "ToolError: " + envelope},
		},
		{
			name:     "configured attribute",
			fill:     func(r plog.LogRecord) { r.Attributes().PutStr("my.error", envelope) },
			carriers: []classify.Carrier{classify.CarrierLogAttribute}, texts: []string{envelope},
		},
		{
			name:     "envelope attribute as a map",
			fill:     func(r plog.LogRecord) { r.Attributes().PutEmptyMap("mcp.error.envelope").PutInt("x", 1) },
			carriers: []classify.Carrier{classify.CarrierLogAttribute}, texts: []string{`{"x":1}`},
		},
		{
			name:     "named event is looked at whatever it holds",
			fill:     func(r plog.LogRecord) { r.SetEventName("mcp.error_envelope"); r.Body().SetStr("oops") },
			carriers: []classify.Carrier{classify.CarrierLogBodyText}, texts: []string{"oops"},
		},
		{
			name:     "named event that holds nothing",
			fill:     func(r plog.LogRecord) { r.SetEventName("mcp.error_envelope") },
			carriers: []classify.Carrier{classify.CarrierLogBodyText}, texts: []string{"null"},
		},
		{
			name: "array body of a named event",
			fill: func(r plog.LogRecord) {
				r.SetEventName("mcp.error_envelope")
				r.Body().SetEmptySlice().AppendEmpty().SetStr("x")
			},
			carriers: []classify.Carrier{classify.CarrierLogBodyMap}, texts: []string{`["x"]`},
		},
		{name: "array", fill: func(r plog.LogRecord) { r.Body().SetEmptySlice().AppendEmpty().SetStr(envelope) }, ignored: ReasonOtherType},
		{name: "bytes that are no text", fill: func(r plog.LogRecord) { r.Body().SetEmptyBytes().FromRaw([]byte{0, 0xff, '{'}) }, ignored: ReasonPlainText},
		{name: "plain text", fill: func(r plog.LogRecord) { r.Body().SetStr("listening on :80") }, ignored: ReasonPlainText},
		{name: "JSON of others", fill: func(r plog.LogRecord) { r.Body().SetStr(`{"level":"info","msg":"x"}`) }, ignored: ReasonPlainText},
		{name: "map of others", fill: func(r plog.LogRecord) { r.Body().SetEmptyMap().PutStr("msg", "x") }, ignored: ReasonOtherMap},
		{name: "number", fill: func(r plog.LogRecord) { r.Body().SetInt(3) }, ignored: ReasonOtherType},
		{name: "nothing", fill: func(plog.LogRecord) {}, ignored: ReasonEmptyBody},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			all, ignored := walk(t, logRecord(func(_ pcommon.Resource, r plog.LogRecord) { tt.fill(r) }), "my.error")
			if tt.ignored != "" {
				assert.Empty(t, all)
				assert.Equal(t, map[Reason]int{tt.ignored: 1}, ignored)
				return
			}
			require.Len(t, all, 1)
			assert.Empty(t, ignored)
			assert.Equal(t, tt.texts, all[0].texts)
			for i, c := range all[0].Candidates {
				assert.Equal(t, tt.carriers[i], c.Carrier)
			}
		})
	}
}

func TestToolCallEvent(t *testing.T) {
	all, _ := walk(t, logRecord(func(res pcommon.Resource, r plog.LogRecord) {
		res.Attributes().PutStr("service.name", "Amazon-SP-MCP")
		r.Attributes().PutStr("event.name", "mcp.tool_call")
		r.Attributes().PutStr("gen_ai.tool.name", "get_order")
		r.Attributes().PutStr("mcp.session.id", "s1")
		r.Attributes().PutInt("jsonrpc.request.id", 7)
		r.Attributes().PutInt("mcp.response.size", 1234)
		r.Attributes().PutStr("error.type", "tool_error")
		r.Attributes().PutStr("other", strings.Repeat("x", 5000))
		r.SetTimestamp(12)
	}))
	require.Len(t, all, 1)
	o := all[0]
	assert.True(t, o.Call)
	assert.Equal(t, "amazon_sp_mcp", o.Source.Server)
	assert.Equal(t, classify.FamilySP, o.Source.Family)
	assert.Equal(t, []any{"get_order", "s1", "7", classify.Some(uint64(1234)), classify.OutcomeError, uint64(12)},
		[]any{o.Tool, o.SessionID, o.RequestID, o.ResponseBytes, o.Outcome, o.TimeUnixNano})
	require.Len(t, o.Attributes, 1)
	assert.Len(t, o.Attributes[0].Value, maxAttributeText)
}

func TestSource(t *testing.T) {
	type attrs map[string]any
	tests := []struct {
		name string
		in   attrs
		want classify.Source
	}{
		{
			name: "everything declared",
			in: attrs{
				"service.name": "amazon-ads-mcp", "service.version": "2.0.1", "service.instance.id": "i",
				"deployment.environment.name": " Production ", "mcp.deployment.id": "d", "host.name": "h",
				"mcp.normalization.meta": true, "mcp.strict_unknown_fields": false, "mcp.replay.id": "r", "mcp.contract_version": "1",
			},
			want: classify.Source{
				Server: "amazon_ads_mcp", Family: classify.FamilyAds, ServerVersion: "2.0.1", Instance: "i",
				Environment: "production", Deployment: "d", DeploymentSource: "mcp.deployment.id",
				Option: classify.SwitchOn, Strict: classify.SwitchOff, ReplayID: "r", ContractVersion: "1",
			},
		},
		{
			name: "a switch of another type is undeclared",
			in:   attrs{"service.name": "x", "mcp.normalization.meta": "true", "mcp.strict_unknown_fields": 1},
			want: classify.Source{Server: "x", Family: classify.FamilyUnknown, Option: classify.SwitchUndeclared, Strict: classify.SwitchUndeclared},
		},
		{
			name: "deployment from cluster and namespace",
			in:   attrs{"k8s.cluster.name": "c", "k8s.namespace.name": "n", "deployment.environment": "staging"},
			want: classify.Source{Family: classify.FamilyUnknown, Environment: "staging", Deployment: "c/n", DeploymentSource: "k8s.namespace.name", Option: classify.SwitchUndeclared, Strict: classify.SwitchUndeclared},
		},
		{
			name: "a namespace alone is none; the host is",
			in:   attrs{"k8s.namespace.name": "n", "host.name": "pod-1"},
			want: classify.Source{Family: classify.FamilyUnknown, Deployment: "pod-1", DeploymentSource: "host.name", Option: classify.SwitchUndeclared, Strict: classify.SwitchUndeclared},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			resource := pcommon.NewResource()
			require.NoError(t, resource.Attributes().FromRaw(tt.in))
			assert.Equal(t, tt.want, *sourceOf(resource))
		})
	}
}

// span adds a span to a trace and returns it.
func span(spans ptrace.SpanSlice, name string, kind ptrace.SpanKind, id, parent byte) ptrace.Span {
	s := spans.AppendEmpty()
	s.SetName(name)
	s.SetKind(kind)
	s.SetTraceID(pcommon.TraceID{9})
	s.SetSpanID(pcommon.SpanID{id})
	if parent != 0 {
		s.SetParentSpanID(pcommon.SpanID{parent})
	}
	return s
}

func exception(s ptrace.Span, kind, message string) {
	e := s.Events().AppendEmpty()
	e.SetName("exception")
	e.Attributes().PutStr("exception.type", kind)
	e.Attributes().PutStr("exception.message", message)
}

func TestToolCallSpans(t *testing.T) {
	tests := []struct {
		name string
		fill func(ptrace.SpanSlice)
		tool string
		call bool
	}{
		{"semantic conventions", func(s ptrace.SpanSlice) {
			x := span(s, "tools/call echo", ptrace.SpanKindServer, 1, 0)
			x.Attributes().PutStr("mcp.method.name", "tools/call")
			x.Attributes().PutStr("gen_ai.tool.name", "echo2")
		}, "echo2", true},
		{"FastMCP without attributes", func(s ptrace.SpanSlice) { span(s, "tools/call echo", ptrace.SpanKindServer, 1, 0) }, "echo", true},
		{"first spans of the Python SDK", func(s ptrace.SpanSlice) {
			span(s, "MCP handle tools/call x", ptrace.SpanKindServer, 1, 0).Attributes().PutStr("mcp.method.name", "tools/call")
		}, "x", true},
		{"client side, ended well", func(s ptrace.SpanSlice) { span(s, "tools/call echo", ptrace.SpanKindClient, 1, 0) }, "", false},
		{"another method", func(s ptrace.SpanSlice) {
			span(s, "tools/list", ptrace.SpanKindServer, 1, 0).Attributes().PutStr("mcp.method.name", "tools/list")
		}, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			traces := ptrace.NewTraces()
			tt.fill(traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans())
			all, ignored := walk(t, traces)
			if !tt.call {
				assert.Empty(t, all)
				assert.Equal(t, map[Reason]int{ReasonOtherSpan: 1}, ignored)
				return
			}
			require.Len(t, all, 1)
			assert.True(t, all[0].Call)
			assert.Equal(t, tt.tool, all[0].Tool)
		})
	}
}

// TestTheCallersSpanIsNotTheServers has the server's error text on the span of the
// client that called it, as FastMCP's client puts it there.
func TestTheCallersSpanIsNotTheServers(t *testing.T) {
	traces := ptrace.NewTraces()
	s := span(traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans(), "tools/call echo", ptrace.SpanKindClient, 1, 0)
	s.Status().SetMessage(envelope)
	all, ignored := walk(t, traces)
	assert.Empty(t, all)
	assert.Equal(t, map[Reason]int{ReasonClientSpan: 1}, ignored)
}

func TestNestedSpansAreOneCall(t *testing.T) {
	traces := ptrace.NewTraces()
	spans := traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	// A mounted server, inner spans first, as a batch processor sends them.
	exception(span(spans, "tools/call x", ptrace.SpanKindServer, 3, 2), "ToolError", envelope)
	exception(span(spans, "delegate x", ptrace.SpanKindInternal, 2, 1), "ToolError", envelope)
	exception(span(spans, "tools/call ns_x", ptrace.SpanKindServer, 1, 0), "ToolError", envelope)
	// The tool calls another tool of its own server through a client: another call.
	span(spans, "tools/call y", ptrace.SpanKindServer, 5, 4)
	span(spans, "POST", ptrace.SpanKindClient, 4, 1)
	all, _ := walk(t, traces)
	require.Len(t, all, 4)
	for _, o := range all[:3] {
		assert.Equal(t, [8]byte{1}, o.CallSpanID)
	}
	assert.Equal(t, [8]byte{5}, o8(all[3]))
}

func o8(f found) [8]byte { return f.CallSpanID }

func TestCallsOfAnotherServerAreTheirOwn(t *testing.T) {
	traces := ptrace.NewTraces()
	of := func(server string) ptrace.SpanSlice {
		rs := traces.ResourceSpans().AppendEmpty()
		rs.Resource().Attributes().PutStr("service.name", server)
		return rs.ScopeSpans().AppendEmpty().Spans()
	}
	span(of("a"), "tools/call a", ptrace.SpanKindServer, 1, 0)
	span(of("b"), "tools/call b", ptrace.SpanKindServer, 2, 1)
	// An exporter may repeat the resource for each span.
	span(of("b"), "tools/call mounted", ptrace.SpanKindServer, 3, 2)
	all, _ := walk(t, traces)
	require.Len(t, all, 3)
	assert.Equal(t, [8]byte{2}, all[1].CallSpanID)
	assert.Equal(t, [8]byte{2}, all[2].CallSpanID)
}

func TestSpanStatus(t *testing.T) {
	traces := ptrace.NewTraces()
	spans := traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	s := span(spans, "tools/call x", ptrace.SpanKindServer, 1, 0)
	s.Status().SetMessage("ToolError: " + envelope)
	s.Attributes().PutStr("rpc.response.status_code", "-32602")
	ok := span(spans, "tools/call y", ptrace.SpanKindServer, 2, 0)
	ok.Attributes().PutInt("rpc.response.status_code", 0)
	span(spans, "work", ptrace.SpanKindInternal, 3, 0).Status().SetMessage("timed out")
	all, ignored := walk(t, traces)
	require.Len(t, all, 2)
	assert.Equal(t, classify.CarrierSpanStatus, all[0].Candidates[0].Carrier)
	assert.True(t, all[0].Candidates[0].ToolError)
	assert.Equal(t, []string{"ToolError: " + envelope}, all[0].texts)
	assert.Equal(t, classify.OutcomeError, all[0].Outcome, "a JSON-RPC error is one, whatever the span's status")
	assert.Equal(t, "-32602", all[0].StatusCode)
	assert.Equal(t, classify.OutcomeSuccess, all[1].Outcome)
	assert.Equal(t, map[Reason]int{ReasonOtherSpan: 1}, ignored)
}

func TestSpansThatNameEachOtherAsParentEnd(t *testing.T) {
	traces := ptrace.NewTraces()
	s := traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	span(s, "tools/call a", ptrace.SpanKindServer, 1, 2)
	span(s, "tools/call b", ptrace.SpanKindServer, 2, 1)
	all, _ := walk(t, traces)
	assert.Len(t, all, 2)
}

func TestDeepStructureEnds(t *testing.T) {
	all, _ := walk(t, logRecord(func(_ pcommon.Resource, r plog.LogRecord) {
		r.SetEventName("mcp.error_envelope")
		v := r.Body()
		for range 10_000 {
			v = v.SetEmptyMap().PutEmpty("a")
		}
	}))
	require.Len(t, all, 1)
	assert.Less(t, len(all[0].texts[0]), 5*(maxValueDepth+2)+len("null")+2*maxValueDepth)
}
