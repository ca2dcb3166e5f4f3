package ingest

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/soakgate/soakgate/internal/classify"
)

// judged is a record as a test keeps it.
type judged struct {
	classify.Record
	rules []classify.Rule // of its advisories
}

var arrival = time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)

// judge walks a request and judges what it finds, as the exporter does.
func judge(t testing.TB, logs plog.Logs, traces ptrace.Traces) (all []judged, ignored int) {
	t.Helper()
	classifier, err := classify.New()
	require.NoError(t, err)
	batch := classify.NewBatch(classifier)
	batch.Reset(arrival, [16]byte{1})
	w := NewWalker(nil, func(o *classify.Observation) {
		if !batch.Classify(o, func(r *classify.Record) {
			j := judged{Record: *r}
			observation := *r.Observation
			j.Observation = &observation
			for _, a := range r.Advisories {
				j.rules = append(j.rules, a.Rule)
			}
			all = append(all, j)
		}) {
			ignored++
		}
	}, func(Reason) { ignored++ })
	w.Logs(logs)
	w.Traces(traces)
	return all, ignored
}

// TestTimes is U17, U18 and U19: each time has its rule.
func TestTimes(t *testing.T) {
	sent := func(at time.Time) uint64 { return uint64(at.UnixNano()) }
	wild := uint64(18446744073709551615)
	before1970 := time.Date(1677, 9, 21, 0, 12, 44, 0, time.UTC).UnixNano()
	for _, tt := range []struct {
		name           string
		time, observed uint64
		want           time.Time
		source         classify.TimeSource
		rule           classify.Rule
		text           string
	}{
		{"sent", sent(arrival.Add(-time.Hour)), sent(arrival), arrival.Add(-time.Hour), classify.TimeSourceEvent, "", ""},
		{"observed only", 0, sent(arrival.Add(-time.Minute)), arrival.Add(-time.Minute), classify.TimeSourceObserved, "", ""},
		{"neither", 0, 0, arrival, classify.TimeSourceArrival, classify.RuleTimeMissing, ""},
		{"one nanosecond", 1, 0, time.Unix(0, 1).UTC(), classify.TimeSourceEvent, "", ""},
		{"forty days old", sent(arrival.AddDate(0, 0, -40)), 0, arrival.AddDate(0, 0, -40), classify.TimeSourceEvent, "", ""},
		{"27 hours off", sent(arrival.Add(-27 * time.Hour)), 0, arrival.Add(-27 * time.Hour), classify.TimeSourceEvent, "", ""},
		{"the year 1677, as signed 64 bits", uint64(before1970), 0, arrival, classify.TimeSourceArrival, classify.RuleTimeOutOfRange, strconv.FormatUint(uint64(before1970), 10)},
		{"the year 2262", 9223372036854775807, 0, arrival, classify.TimeSourceArrival, classify.RuleTimeOutOfRange, "9223372036854775807"},
		{"the year 2300", 10413792000000000000, 0, arrival, classify.TimeSourceArrival, classify.RuleTimeOutOfRange, "10413792000000000000"},
		{"the last", wild, 0, arrival, classify.TimeSourceArrival, classify.RuleTimeOutOfRange, "18446744073709551615"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all, ignored := judge(t, logRecord(func(_ pcommon.Resource, r plog.LogRecord) {
				r.Body().SetStr(envelope)
				r.SetTimestamp(pcommon.Timestamp(tt.time))
				r.SetObservedTimestamp(pcommon.Timestamp(tt.observed))
			}), ptrace.NewTraces())
			require.Len(t, all, 1)
			assert.Zero(t, ignored)
			assert.Equal(t, tt.want, all[0].ObservedAt)
			assert.Equal(t, tt.source, all[0].TimeSource)
			assert.Equal(t, tt.text, all[0].SentTime)
			if tt.rule != "" {
				assert.Contains(t, all[0].rules, tt.rule)
			}
		})
	}
}

func TestManyAttributes(t *testing.T) {
	members := make(map[string]any, 100_000)
	for i := range 100_000 {
		members[fmt.Sprintf("a%06d", i)] = "x"
	}
	all, _ := judge(t, logRecord(func(_ pcommon.Resource, r plog.LogRecord) {
		r.Body().SetStr(envelope)
		require.NoError(t, r.Attributes().FromRaw(members))
	}), ptrace.NewTraces())
	require.Len(t, all, 1)
	assert.Len(t, all[0].Attributes, maxAttributes)
	assert.Contains(t, all[0].rules, classify.RuleAttributesCut, "what is not kept is told")
}

func TestAttributesAreMendedAndCut(t *testing.T) {
	long := strings.Repeat("é", maxAttributeText) // two bytes each
	all, _ := judge(t, logRecord(func(res pcommon.Resource, r plog.LogRecord) {
		res.Attributes().PutStr("service.name", "a\xffb")
		r.Body().SetStr(envelope)
		r.Attributes().PutStr("gen_ai.tool.name", "t\xfe")
		r.Attributes().PutStr("bad\xff", "v\xff")
		r.Attributes().PutStr("long", "x"+long)
		r.Attributes().PutStr("mcp.session.id", long)
	}), ptrace.NewTraces())
	require.Len(t, all, 1)
	o := all[0].Observation
	assert.Equal(t, "a\uFFFDb", o.Source.Server)
	assert.Equal(t, "t\uFFFD", o.Tool)
	assert.Len(t, o.SessionID, maxAttributeText)
	require.Len(t, o.Attributes, 2)
	assert.Equal(t, classify.Attribute{Key: "bad\uFFFD", Value: "v\uFFFD"}, o.Attributes[0])
	assert.Equal(t, "x"+long[:maxAttributeText-2], o.Attributes[1].Value, "cut at the end of a character")
	assert.Contains(t, all[0].rules, classify.RuleAttributesCut)
}

// TestAttributesOfWrongTypes gives each attribute that has a meaning another type.
func TestAttributesOfWrongTypes(t *testing.T) {
	put := map[string]func(pcommon.Value){
		"map":   func(v pcommon.Value) { v.SetEmptyMap().PutStr("a", "b") },
		"slice": func(v pcommon.Value) { v.SetEmptySlice().AppendEmpty().SetInt(1) },
		"bytes": func(v pcommon.Value) { v.SetEmptyBytes().FromRaw([]byte{0xff}) },
		"bool":  func(v pcommon.Value) { v.SetBool(true) },
		"float": func(v pcommon.Value) { v.SetDouble(-1.5) },
		"empty": func(pcommon.Value) {},
	}
	keys := []string{
		"event.name", "gen_ai.tool.name", "mcp.tool.name", "mcp.session.id", "jsonrpc.request.id", "mcp.surface", "error.type", "exception.type",
		"exception.message", "error.message", "mcp.error.envelope", "mcp.response.size", "mcp.tool_call.duration_ms", "SampleRate", "sampling.threshold",
	}
	for name, set := range put {
		t.Run(name, func(t *testing.T) {
			all, _ := judge(t, logRecord(func(res pcommon.Resource, r plog.LogRecord) {
				for _, key := range []string{"service.name", "mcp.deployment.id", "mcp.normalization.meta", "deployment.environment.name"} {
					set(res.Attributes().PutEmpty(key))
				}
				r.SetEventName("mcp.tool_call")
				r.Body().SetStr(envelope)
				for _, key := range keys {
					set(r.Attributes().PutEmpty(key))
				}
			}), ptrace.NewTraces())
			require.NotEmpty(t, all)
			for _, r := range all {
				assertText(t, &r.Record)
				assert.False(t, r.ResponseBytes.Set, "%v is no size", r.ResponseBytes)
				assert.False(t, r.Duration.Set)
				assert.Equal(t, uint64(classify.UnsampledWeight), r.SamplingWeight)
			}
		})
	}
}

// assertText holds that all texts of a record are UTF-8.
func assertText(t *testing.T, r *classify.Record) {
	t.Helper()
	texts := []string{r.Source.Server, r.Source.Deployment, r.Source.Instance, r.Source.Environment, r.Observation.Tool, r.SessionID, r.RequestID, r.Surface, r.ErrorType, string(r.Payload), string(r.Event)}
	for _, a := range r.Attributes {
		texts = append(texts, a.Key, a.Value)
	}
	for _, s := range texts {
		assert.True(t, utf8.ValidString(s), "%q", s)
	}
}

// TestExceptionsWithoutAMessage is U45: the type is what is left.
func TestExceptionsWithoutAMessage(t *testing.T) {
	t.Run("log record", func(t *testing.T) {
		all, _ := judge(t, logRecord(func(_ pcommon.Resource, r plog.LogRecord) {
			r.Body().SetStr("tool failed")
			r.Attributes().PutStr("exception.type", "fastmcp.exceptions.ToolError")
			r.Attributes().PutStr("exception.stacktrace", "")
		}), ptrace.NewTraces())
		require.Len(t, all, 1)
		assert.True(t, all[0].Opaque)
		assert.Equal(t, classify.OutcomeError, all[0].Failed())
		assert.Equal(t, "fastmcp.exceptions.ToolError", all[0].ErrorType)
	})
	t.Run("span", func(t *testing.T) {
		traces := ptrace.NewTraces()
		s := span(traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans(), "tools/call x", ptrace.SpanKindServer, 1, 0)
		s.Status().SetCode(ptrace.StatusCodeError)
		e := s.Events().AppendEmpty()
		e.SetName("exception")
		e.Attributes().PutStr("exception.type", "ValueError")
		all, _ := judge(t, plog.NewLogs(), traces)
		require.Len(t, all, 1)
		assert.Equal(t, classify.OutcomeError, all[0].Failed())
		assert.Equal(t, "ValueError", all[0].ErrorType)
	})
	t.Run("a handled exception is no failure", func(t *testing.T) {
		traces := ptrace.NewTraces()
		s := span(traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans(), "tools/call x", ptrace.SpanKindServer, 1, 0)
		exception(s, "KeyError", "'cache'")
		all, _ := judge(t, plog.NewLogs(), traces)
		require.Len(t, all, 1)
		assert.Equal(t, classify.OutcomeSuccess, all[0].Failed())
		assert.Empty(t, all[0].ErrorType)
	})
}

// TestFormsOfOneEnvelope is U44: the same envelope in four forms.
func TestFormsOfOneEnvelope(t *testing.T) {
	forms := map[string]func(pcommon.Value){
		"map": func(v pcommon.Value) {
			require.NoError(t, v.FromRaw(map[string]any{"_envelope_version": 1, "error_kind": "internal_error", "error_code": "INTERNAL_ERROR"}))
		},
		"text":  func(v pcommon.Value) { v.SetStr(envelope) },
		"bytes": func(v pcommon.Value) { v.SetEmptyBytes().FromRaw([]byte(envelope)) },
	}
	for name, set := range forms {
		all, _ := judge(t, logRecord(func(_ pcommon.Resource, r plog.LogRecord) { set(r.Body()) }), ptrace.NewTraces())
		require.Len(t, all, 1, name)
		assert.Equal(t, classify.ShapeEnvelope, all[0].Shape, name)
		assert.Equal(t, classify.Some("internal_error"), all[0].ErrorKind, name)
		assert.Len(t, all[0].Violations, 6, name)
	}
	all, _ := judge(t, logRecord(func(_ pcommon.Resource, r plog.LogRecord) {
		r.Body().SetStr(`{'error_kind': 'internal_error', '_envelope_version': 1}`)
	}), ptrace.NewTraces())
	require.Len(t, all, 1)
	assert.True(t, all[0].Opaque)
	assert.Contains(t, all[0].Hint, "printed form of a Python dict")
}

// TestMetaForms is U46: what proxies leave of _meta.
func TestMetaForms(t *testing.T) {
	const other = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for _, tt := range []struct {
		name, body string
		rules      []classify.Rule
		kept       string
	}{
		{"absent", `{"result":1}`, nil, ""},
		{"empty", `{"_meta":{}}`, nil, ""},
		{"null", `{"_meta":null}`, []classify.Rule{classify.RuleType}, ""},
		{"vendor key", `{"_meta":{"com.example/trace":{"a":1},"warnings":[]}}`, nil, "com.example/trace"},
		{"traceparent", `{"_meta":{"traceparent":"` + other + `","warnings":[]}}`, nil, other},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all, _ := judge(t, logRecord(func(_ pcommon.Resource, r plog.LogRecord) {
				r.SetEventName("mcp.response_meta")
				r.SetTraceID(pcommon.TraceID{7})
				r.SetSpanID(pcommon.SpanID{8})
				r.Body().SetStr(tt.body)
			}), ptrace.NewTraces())
			require.Len(t, all, 1)
			var rules []classify.Rule
			for _, v := range all[0].Violations {
				rules = append(rules, v.Rule)
			}
			assert.Equal(t, tt.rules, rules)
			assert.Contains(t, string(all[0].Payload), tt.kept)
			assert.Equal(t, [16]byte{7}, all[0].TraceID, "the record's own ids count, never those in _meta")
		})
	}
}

// TestErrorTypes is U43: whose mistake a value of error.type was.
func TestErrorTypes(t *testing.T) {
	for value, want := range map[string]classify.Mistake{
		"403": classify.MistakeCaller, "-32602": classify.MistakeCaller, "-32603": classify.MistakeServer,
		"tool_error": classify.MistakeServer, "builtins.ValueError": classify.MistakeServer, "429": classify.MistakeUpstream,
	} {
		traces := ptrace.NewTraces()
		s := span(traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans(), "tools/call x", ptrace.SpanKindServer, 1, 0)
		s.Attributes().PutStr("error.type", value)
		all, _ := judge(t, plog.NewLogs(), traces)
		require.Len(t, all, 1)
		assert.Equal(t, want, all[0].Mistake(), value)
	}
}
