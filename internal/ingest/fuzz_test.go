package ingest

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/soakgate/soakgate/internal/classify"
)

// FuzzRequests walks whatever decodes as OTLP, in both encodings, and holds:
// each log record and span is either observed once or ignored once, the request
// is not changed, all that is observed is UTF-8 and bounded, weights lie in their
// range, and no two records of a request share an id.
func FuzzRequests(f *testing.F) {
	logs := logRecord(func(res pcommon.Resource, r plog.LogRecord) {
		res.Attributes().PutStr("service.name", "amazon_sp_mcp")
		r.Body().SetStr("ToolError: " + envelope)
		r.Attributes().PutStr("exception.type", "ToolError")
		r.Attributes().PutStr("exception.message", envelope)
		r.Attributes().PutInt("SampleRate", 3)
	})
	named := logRecord(func(_ pcommon.Resource, r plog.LogRecord) {
		r.SetEventName("mcp.tool_call")
		r.Body().SetEmptyMap().PutEmptySlice("_meta").AppendEmpty().SetEmptyBytes().FromRaw([]byte{0xff})
	})
	traces := ptrace.NewTraces()
	spans := traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	s := span(spans, "tools/call x", ptrace.SpanKindServer, 1, 2)
	s.TraceState().FromRaw("ot=th:c")
	s.Status().SetMessage(envelope)
	exception(s, "ToolError", envelope)
	span(spans, "tools/call y", ptrace.SpanKindServer, 2, 1)
	for _, l := range []plog.Logs{logs, named} {
		binary, _ := plogotlp.NewExportRequestFromLogs(l).MarshalProto()
		text, _ := plogotlp.NewExportRequestFromLogs(l).MarshalJSON()
		f.Add(binary)
		f.Add(text)
	}
	binary, _ := ptraceotlp.NewExportRequestFromTraces(traces).MarshalProto()
	text, _ := ptraceotlp.NewExportRequestFromTraces(traces).MarshalJSON()
	f.Add(binary)
	f.Add(text)
	classifier, err := classify.New()
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, decode := range []func(plogotlp.ExportRequest) error{
			func(r plogotlp.ExportRequest) error { return r.UnmarshalProto(body) },
			func(r plogotlp.ExportRequest) error { return r.UnmarshalJSON(body) },
		} {
			r := plogotlp.NewExportRequest()
			if decode(r) != nil {
				continue
			}
			before, _ := r.MarshalProto()
			c := check{t: t, batch: classify.NewBatch(classifier)}
			c.walk(r.Logs().LogRecordCount(), func(w *Walker) { w.Logs(r.Logs()) })
			after, _ := r.MarshalProto()
			assert.Equal(t, before, after)
		}
		for _, decode := range []func(ptraceotlp.ExportRequest) error{
			func(r ptraceotlp.ExportRequest) error { return r.UnmarshalProto(body) },
			func(r ptraceotlp.ExportRequest) error { return r.UnmarshalJSON(body) },
		} {
			r := ptraceotlp.NewExportRequest()
			if decode(r) != nil {
				continue
			}
			before, _ := r.MarshalProto()
			c := check{t: t, batch: classify.NewBatch(classifier)}
			c.walk(r.Traces().SpanCount(), func(w *Walker) { w.Traces(r.Traces()) })
			after, _ := r.MarshalProto()
			assert.Equal(t, before, after)
		}
	})
}

// check walks one request and holds the invariants.
type check struct {
	t     *testing.T
	batch *classify.Batch
}

func (c *check) walk(things int, walk func(*Walker)) {
	c.batch.Reset(arrival, [16]byte{1})
	told, ids := 0, map[classify.ID]bool{}
	w := NewWalker([]string{"extra"}, func(o *classify.Observation) {
		told++
		assert.LessOrEqual(c.t, len(o.Attributes), maxAttributes)
		assert.GreaterOrEqual(c.t, o.SamplingWeight, uint64(classify.UnsampledWeight))
		assert.LessOrEqual(c.t, o.SamplingWeight, uint64(maxWeight))
		for _, candidate := range o.Candidates {
			assert.True(c.t, utf8.Valid(candidate.Text))
		}
		c.batch.Classify(o, func(r *classify.Record) {
			assertText(c.t, r)
			assert.False(c.t, ids[r.ID], "two records share an id")
			ids[r.ID] = true
			assert.Less(c.t, r.ObservedAt.Year(), 2107)
			assert.Greater(c.t, r.ObservedAt.Year(), 1969)
		})
	}, func(Reason) { told++ })
	walk(w)
	assert.Equal(c.t, things, told, "each is observed or ignored, once")
}
