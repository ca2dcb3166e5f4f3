package classify

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// kept is a record as a test keeps it: copied out of the batch's scratch space.
type kept struct {
	Record
	advisories []Rule
}

func newTestBatch(t *testing.T) *Batch {
	t.Helper()
	c, err := New()
	require.NoError(t, err)
	return NewBatch(c)
}

var arrival = time.Date(2026, 3, 1, 12, 0, 0, 123e6, time.UTC)

// classify makes one request of observations and returns their records.
func (b *Batch) classifyAll(nonce byte, observations ...Observation) []kept {
	b.Reset(arrival, [16]byte{nonce})
	var all []kept
	for i := range observations {
		b.Classify(&observations[i], func(r *Record) {
			k := kept{Record: *r}
			for _, a := range r.Advisories {
				k.advisories = append(k.advisories, a.Rule)
			}
			all = append(all, k)
		})
	}
	return all
}

const goodEnvelope = `{"error_kind":"internal_error","tool":"inner","summary":"s","details":[],"hints":[],"examples":[],"error_code":"INTERNAL_ERROR","retryable":false,"_envelope_version":1}`

func observed(event Event, texts ...string) Observation {
	o := Observation{
		Source: &Source{Server: "amazon_sp_mcp", Family: FamilySP, Deployment: "d", Instance: "i"},
		Event:  event, TimeUnixNano: uint64(arrival.Add(-time.Minute).UnixNano()),
		TraceID: [16]byte{1}, SpanID: [8]byte{2}, SamplingWeight: UnsampledWeight,
	}
	for _, text := range texts {
		o.Candidates = append(o.Candidates, Candidate{Carrier: CarrierSpanException, Text: []byte(text), ToolError: true})
	}
	return o
}

func TestClassifyChooses(t *testing.T) {
	other := `{"_envelope_version":1,"error_kind":"auth_error","error_code":"AUTHENTICATION_ERROR"}`
	plain := observed(EventUnnamed, "hello")
	plain.Candidates[0].ToolError = false
	call := observed(EventUnnamed)
	call.Call = true
	failing := observed(EventUnnamed, "it broke", "ToolError: "+goodEnvelope)
	tests := []struct {
		name   string
		o      Observation
		shapes []Shape
		opaque bool
	}{
		{"one envelope", observed(EventUnnamed, goodEnvelope), []Shape{ShapeEnvelope}, false},
		{"the same object twice is one", observed(EventUnnamed, goodEnvelope, "RuntimeError: ToolError: "+goodEnvelope), []Shape{ShapeEnvelope}, false},
		{"in another spelling too", observed(EventUnnamed, goodEnvelope, "{ \"error_code\":\"INTERNAL_ERROR\", "+strings.Replace(strings.TrimPrefix(goodEnvelope, "{"), `"error_code":"INTERNAL_ERROR",`, "", 1)), []Shape{ShapeEnvelope}, false},
		{"two, and the first again", observed(EventUnnamed, goodEnvelope, other, " "+goodEnvelope, other), []Shape{ShapeEnvelope, ShapeEnvelope}, false},
		{"two objects are two", observed(EventUnnamed, goodEnvelope, other), []Shape{ShapeEnvelope, ShapeEnvelope}, false},
		{"an envelope wins over an opaque text before it", failing, []Shape{ShapeEnvelope}, false},
		{"an opaque text alone is kept", observed(EventUnnamed, "it broke"), []Shape{ShapeUnknown}, true},
		{"a call without any text", call, []Shape{ShapeUnknown}, false},
		{"a named event of something else", observed(EventErrorEnvelope, `{"a":1}`), []Shape{ShapeUnknown}, true},
		{"a named event of nothing", observed(EventErrorEnvelope, "null"), []Shape{ShapeUnknown}, true},
		{"nobody's text", plain, nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newTestBatch(t)
			b.Reset(arrival, [16]byte{})
			n := 0
			ours := b.Classify(&tt.o, func(r *Record) {
				assert.Equal(t, tt.shapes[n], r.Shape)
				assert.Equal(t, tt.opaque, r.Opaque)
				n++
			})
			assert.Len(t, tt.shapes, n)
			assert.Equal(t, len(tt.shapes) > 0, ours)
		})
	}
}

func TestIdentity(t *testing.T) {
	base := observed(EventErrorEnvelope, goodEnvelope)
	first := newTestBatch(t).classifyAll(1, base)[0].ID
	same := func(name string, change func(*Observation)) {
		t.Run("same "+name, func(t *testing.T) {
			o := observed(EventErrorEnvelope, goodEnvelope)
			change(&o)
			assert.Equal(t, first, newTestBatch(t).classifyAll(9, o)[0].ID)
		})
	}
	differs := func(name string, change func(*Observation)) {
		t.Run("other "+name, func(t *testing.T) {
			o := observed(EventErrorEnvelope, goodEnvelope)
			source := *o.Source
			o.Source = &source
			change(&o)
			assert.NotEqual(t, first, newTestBatch(t).classifyAll(1, o)[0].ID)
		})
	}
	same("delivery", func(*Observation) {})
	same("attributes in another order, or none", func(o *Observation) { o.Attributes = []Attribute{{"b", "1"}, {"a", "2"}} })
	same("parent span", func(o *Observation) { o.ParentSpanID = [8]byte{7} })
	same("place in the request", func(o *Observation) { o.Index = 40 })
	differs("server", func(o *Observation) { o.Source.Server = "x" })
	differs("deployment", func(o *Observation) { o.Source.Deployment = "x" })
	differs("instance", func(o *Observation) { o.Source.Instance = "x" })
	differs("trace", func(o *Observation) { o.TraceID[3] = 1 })
	differs("span", func(o *Observation) { o.SpanID[3] = 1 })
	differs("time", func(o *Observation) { o.TimeUnixNano++ })
	differs("event", func(o *Observation) { o.Event = EventUnnamed })
	differs("tool", func(o *Observation) { o.Tool = "x" })
	differs("session", func(o *Observation) { o.SessionID = "x" })
	differs("request", func(o *Observation) { o.RequestID = "x" })
	differs("carrier", func(o *Observation) { o.Candidates[0].Carrier = CarrierLogBodyText })
	differs("payload", func(o *Observation) { o.Candidates[0].Text = []byte(goodEnvelope + " ") })
	differs("border between texts", func(o *Observation) { o.Source.Server, o.Source.Deployment = "amazon_sp_mcpd", "" })
}

func TestOrdinals(t *testing.T) {
	b := newTestBatch(t)
	o := observed(EventErrorEnvelope, goodEnvelope)
	once := b.classifyAll(1, o, o, o)
	require.Len(t, once, 3)
	again := b.classifyAll(2, o, o, o)
	ids := map[ID]bool{}
	for i := range once {
		ids[once[i].ID] = true
		assert.Equal(t, once[i].ID, again[i].ID, "a retry repeats the request")
	}
	assert.Len(t, ids, 3, "equal records of one request stay apart")
}

func TestUntimedRecordsAreNeverMerged(t *testing.T) {
	o := observed(EventErrorEnvelope, goodEnvelope)
	o.TimeUnixNano = 0
	b := newTestBatch(t)
	first, second := b.classifyAll(1, o, o), b.classifyAll(2, o)
	assert.NotEqual(t, first[0].ID, first[1].ID)
	assert.NotEqual(t, first[0].ID, second[0].ID)
	assert.Contains(t, first[0].advisories, RuleTimeMissing)
}

func TestEventTime(t *testing.T) {
	edge := uint64(time.Date(2106, 2, 6, 0, 0, 0, 0, time.UTC).UnixNano())
	tests := []struct {
		name           string
		time, observed uint64
		want           time.Time
		source         TimeSource
		advisory       Rule
		sent           string
	}{
		{name: "as sent", time: 90e9, observed: 1, want: time.Unix(90, 0).UTC(), source: TimeSourceEvent},
		{name: "observed", observed: 90e9, want: time.Unix(90, 0).UTC(), source: TimeSourceObserved},
		{name: "neither", want: arrival, source: TimeSourceArrival, advisory: RuleTimeMissing},
		{name: "one nanosecond", time: 1, want: time.Unix(0, 1).UTC(), source: TimeSourceEvent},
		{name: "last", time: edge - 1, want: time.Unix(0, int64(edge-1)).UTC(), source: TimeSourceEvent},
		{name: "first beyond", time: edge, want: arrival, source: TimeSourceArrival, advisory: RuleTimeOutOfRange, sent: fmt.Sprint(edge)},
		{name: "beyond int64", time: 1<<63 + 5, want: arrival, source: TimeSourceArrival, advisory: RuleTimeOutOfRange, sent: "9223372036854775813"},
		{name: "greatest", time: 1<<64 - 1, want: arrival, source: TimeSourceArrival, advisory: RuleTimeOutOfRange, sent: "18446744073709551615"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := observed(EventErrorEnvelope, goodEnvelope)
			o.TimeUnixNano, o.ObservedTimeUnixNano = tt.time, tt.observed
			r := newTestBatch(t).classifyAll(1, o)[0]
			assert.Equal(t, tt.want, r.ObservedAt)
			assert.Equal(t, tt.source, r.TimeSource)
			assert.Equal(t, tt.sent, r.SentTime)
			if tt.advisory == "" {
				assert.Empty(t, r.advisories)
				assert.Equal(t, tt.want.Truncate(time.Minute), r.SentMinute)
			} else {
				assert.Equal(t, []Rule{tt.advisory}, r.advisories)
				assert.Equal(t, int64(0), r.SentMinute.Unix(), "the key that merging goes by is fixed by the sender alone")
			}
		})
	}
}

func TestCallKey(t *testing.T) {
	key := func(change func(*Observation)) Optional[uint64] {
		o := observed(EventErrorEnvelope, goodEnvelope)
		change(&o)
		return newTestBatch(t).classifyAll(1, o)[0].CallKey
	}
	bySpan := key(func(*Observation) {})
	require.True(t, bySpan.Set)
	assert.Equal(t, bySpan, key(func(o *Observation) { o.SpanID, o.CallSpanID = [8]byte{9}, [8]byte{2} }), "a span within the call")
	assert.Equal(t, bySpan, key(func(o *Observation) { o.SessionID, o.RequestID = "s", "r" }), "the span comes first")
	assert.NotEqual(t, bySpan, key(func(o *Observation) { o.TraceID[0] = 9 }))
	noTrace := func(o *Observation) { o.TraceID, o.SpanID = [16]byte{}, [8]byte{} }
	bySession := key(func(o *Observation) { noTrace(o); o.SessionID, o.RequestID = "s", "r" })
	require.True(t, bySession.Set)
	assert.NotEqual(t, bySession, key(func(o *Observation) { noTrace(o); o.SessionID, o.RequestID = "s", "r2" }))
	assert.False(t, key(func(o *Observation) { noTrace(o); o.RequestID = "r" }).Set, "a request id without its session says nothing")

	alias := func(change func(*Observation)) Optional[uint64] {
		o := observed(EventErrorEnvelope, goodEnvelope)
		change(&o)
		return newTestBatch(t).classifyAll(1, o)[0].CallAlias
	}
	assert.False(t, alias(func(*Observation) {}).Set)
	assert.Equal(t, bySession, alias(func(o *Observation) { o.SessionID, o.RequestID = "s", "r" }), "what has no span has this key")
	assert.Equal(t, bySpan, alias(func(o *Observation) { o.CallSpanID = [8]byte{9} }), "a log record of a span within the call has that span's key")
	assert.False(t, alias(func(o *Observation) { noTrace(o); o.SessionID, o.RequestID = "s", "r" }).Set)

	o := observed(EventErrorEnvelope, goodEnvelope)
	noTrace(&o)
	assert.Equal(t, []Rule{RuleNoCallKey}, newTestBatch(t).classifyAll(1, o)[0].advisories)
}

func TestCallsOutcomesAndMistakes(t *testing.T) {
	kind := func(kind, code string) string {
		return fmt.Sprintf(`{"error_kind":%q,"error_code":%q,"_envelope_version":1}`, kind, code)
	}
	call := func(outcome Outcome, errorType string) Observation {
		o := observed(EventToolCall)
		o.Call, o.Outcome, o.ErrorType = true, outcome, errorType
		return o
	}
	opaque := observed(EventUnnamed, "it broke")
	capability := observed(EventCapabilities, `{"openbridge_envelope":{"contract_version":1,"error_kinds":[]}}`)
	tests := []struct {
		name    string
		o       Observation
		call    bool
		outcome Outcome
		mistake Mistake
	}{
		{"input validation", observed(EventErrorEnvelope, kind("mcp_input_validation", "INPUT_VALIDATION_FAILED")), true, OutcomeError, MistakeCaller},
		{"tool not found", observed(EventErrorEnvelope, kind("tool_not_found", "TOOL_NOT_FOUND")), true, OutcomeError, MistakeCaller},
		{"auth", observed(EventErrorEnvelope, kind("auth_error", "AUTHENTICATION_ERROR")), true, OutcomeError, MistakeCaller},
		{"sandbox", observed(EventErrorEnvelope, kind("sandbox_runtime", "CODE_MODE_SANDBOX_LIMITATION")), true, OutcomeError, MistakeCaller},
		{"upstream", observed(EventErrorEnvelope, kind("sp_api_http", "SP_API_HTTP_500")), true, OutcomeError, MistakeUpstream},
		{"ads upstream", observed(EventErrorEnvelope, kind("ads_api_http", "ADS_API_HTTP_500")), true, OutcomeError, MistakeUpstream},
		{"rate limit", observed(EventErrorEnvelope, kind("rate_limited", "RATE_LIMITED")), true, OutcomeError, MistakeUpstream},
		{"client", observed(EventErrorEnvelope, kind("sp_api_client", "TOOL_EXECUTION_FAILED")), true, OutcomeError, MistakeServer},
		{"ads client", observed(EventErrorEnvelope, kind("ads_api_client", "TOOL_EXECUTION_FAILED")), true, OutcomeError, MistakeServer},
		{"internal", observed(EventErrorEnvelope, goodEnvelope), true, OutcomeError, MistakeServer},
		{"unknown kind", observed(EventErrorEnvelope, kind("odd", "X")), true, OutcomeError, MistakeServer},
		{"opaque", opaque, true, OutcomeError, MistakeServer},
		{"unreadable", observed(EventErrorEnvelope, `{"error_kind":"inter`), true, OutcomeError, MistakeServer},
		{"success", call(OutcomeSuccess, ""), true, OutcomeSuccess, MistakeNone},
		{"invalid params", call(OutcomeError, "-32602"), true, OutcomeError, MistakeCaller},
		{"invalid params, by the status code", func() Observation { o := call(OutcomeError, "McpError"); o.StatusCode = "-32602"; return o }(), true, OutcomeError, MistakeCaller},
		{"not found by HTTP", call(OutcomeError, "404"), true, OutcomeError, MistakeCaller},
		{"refused by HTTP", call(OutcomeError, "403"), true, OutcomeError, MistakeCaller},
		{"too many requests", call(OutcomeError, "429"), true, OutcomeError, MistakeUpstream},
		{"an exception's class", call(OutcomeError, "ValueError"), true, OutcomeError, MistakeServer},
		{"nobody said", call(OutcomeUnknown, ""), true, OutcomeUnknown, MistakeNone},
		{"_meta of a success", observed(EventResponseMeta, `{"_meta":{"retry_after_seconds":1}}`), true, OutcomeSuccess, MistakeNone},
		{"an envelope overrules a call that looked well", func() Observation {
			o := observed(EventUnnamed, goodEnvelope)
			o.Call, o.Outcome = true, OutcomeSuccess
			return o
		}(), true, OutcomeError, MistakeServer},
		{"capabilities are no call", capability, false, OutcomeUnknown, MistakeNone},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			all := newTestBatch(t).classifyAll(1, tt.o)
			require.Len(t, all, 1)
			r := &all[0].Record
			assert.Equal(t, tt.call, r.IsCall())
			assert.Equal(t, tt.outcome, r.Failed())
			assert.Equal(t, tt.mistake, r.Mistake())
		})
	}
}

func TestToolName(t *testing.T) {
	o := observed(EventErrorEnvelope, goodEnvelope)
	assert.Equal(t, "inner", newTestBatch(t).classifyAll(1, o)[0].ToolName())
	o.Tool = "outer"
	assert.Equal(t, "outer", newTestBatch(t).classifyAll(1, o)[0].ToolName())
}

func TestNameServer(t *testing.T) {
	for _, tt := range []struct {
		in, stored string
		family     Family
	}{
		{"amazon_sp_mcp", "amazon_sp_mcp", FamilySP},
		{" Amazon-ADS-mcp ", "amazon_ads_mcp", FamilyAds},
		{"openbridge-mcp", "openbridge_mcp", FamilyOpenbridge},
		{"Walmart-MCP", "Walmart-MCP", FamilyUnknown},
		{"", "", FamilyUnknown},
	} {
		stored, family := NameServer(tt.in)
		assert.Equal(t, tt.stored, stored)
		assert.Equal(t, tt.family, family)
	}
}
