package store

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/classify"
)

// TestWhatACallsRecordsKnow has the records of calls in one slice, and spread
// over slices in both orders, sealed as they come and all at once: the call counts
// once, with what any of its records knows.
func TestWhatACallsRecordsKnow(t *testing.T) {
	with := func(o classify.Observation, change func(*classify.Observation)) classify.Observation {
		change(&o)
		return o
	}
	call := with(event(classify.EventToolCall, "", at(10, 0, 0), 1), func(o *classify.Observation) { o.Outcome = classify.OutcomeSuccess })
	failure := event(classify.EventErrorEnvelope, envelope("auth_error", "AUTHENTICATION_ERROR", ""), at(10, 0, 0), 1)
	broken := with(call, func(o *classify.Observation) { o.Outcome, o.ErrorType = classify.OutcomeError, "tool_error" })
	sampled := with(call, func(o *classify.Observation) { o.SamplingWeight = 4 * classify.UnsampledWeight })
	timed := with(call, func(o *classify.Observation) { o.Duration = classify.Some(7 * time.Nanosecond) })
	inner := with(call, func(o *classify.Observation) {
		o.Event, o.SpanID, o.CallSpanID = classify.EventUnnamed, [8]byte{2}, [8]byte{1}
	})
	innerFailure := with(failure, func(o *classify.Observation) { o.SpanID = [8]byte{2} })
	named := with(call, func(o *classify.Observation) { o.SessionID, o.RequestID = "s", "r" })
	spanless := with(failure, func(o *classify.Observation) {
		o.TraceID, o.SpanID, o.SessionID, o.RequestID = [16]byte{}, [8]byte{}, "s", "r"
	})
	type row = map[string]any
	one := func(outcome, mistake string) row {
		return row{"outcome": outcome, "mistake": mistake, "calls": "1", "weight": "1000000", "duration": "0"}
	}
	cases := []struct {
		name    string
		records []classify.Observation
		call    row
		errors  int // weighted, in millionths
	}{
		{"a success", []classify.Observation{call}, one("success", ""), 0},
		{"the envelope tells of the failure", []classify.Observation{call, failure}, one("error", "caller"), 1000000},
		{"the envelope knows whose mistake it was", []classify.Observation{broken, failure}, one("error", "caller"), 1000000},
		{"a call of a sampled span, and an envelope of all", []classify.Observation{sampled, failure}, one("error", "caller"), 1000000},
		{"a success of a sampled span, and its _meta", []classify.Observation{sampled, event(classify.EventResponseMeta, normalized, at(10, 0, 0), 1)}, one("success", ""), 0},
		{"one record knows how long it took", []classify.Observation{failure, timed}, row{"outcome": "error", "mistake": "caller", "calls": "1", "weight": "1000000", "duration": "7"}, 1000000},
		{"the log record of a span within the call", []classify.Observation{call, inner, innerFailure}, one("error", "caller"), 1000000},
		{"the log record comes with the span within", []classify.Observation{innerFailure, inner, call}, one("error", "caller"), 1000000},
		{"session and request id join what has no span", []classify.Observation{named, spanless}, one("error", "caller"), 1000000},
		{"and with a record of the span alone", []classify.Observation{spanless, named, timed}, row{"outcome": "error", "mistake": "caller", "calls": "1", "weight": "1000000", "duration": "7"}, 1000000},
	}
	for _, spread := range []time.Duration{0, Slice, -Slice} {
		t.Run(spread.String(), func(t *testing.T) {
			s := testStore(t)
			f := newFeed(t, s)
			for i := range 3 {
				var request []classify.Observation
				for _, tt := range cases {
					if i < len(tt.records) {
						o := tt.records[i]
						o.Source = source()
						o.Source.Deployment = tt.name
						request = append(request, o)
					}
				}
				f.send(at(10, 20, 1).Add(time.Duration(i)*spread), request...)
				seal(t, s)
			}
			for range 3 {
				seal(t, s)
			}
			assert.Zero(t, seal(t, s), "a slice is marked again and again")
			for _, tt := range cases {
				assert.Equal(t, []row{tt.call}, ask(t, s, `SELECT outcome, mistake, toString(sum(c.calls)) AS calls, toString(sum(c.weighted_calls)) AS weight, toString(sum(c.duration_ns_sum)) AS duration
FROM DB.calls_by_minute_unique AS c WHERE c.calls > 0 AND deployment = '`+tt.name+"' GROUP BY outcome, mistake ORDER BY ALL"), tt.name)
				assert.Equal(t, tt.errors, count(t, s, "sum(weighted_errors) FROM DB.errors_by_minute_unique WHERE deployment = '"+tt.name+"'"), tt.name)
			}
			before := rollups(t, s)
			sealer, err := NewSealer(s, uuid.New())
			require.NoError(t, err)
			_, err = sealer.Reseal(t.Context(), at(0, 0, 0), at(48, 0, 0))
			require.NoError(t, err)
			assert.Equal(t, before, rollups(t, s))
		})
	}
}
