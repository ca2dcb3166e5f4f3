package classify

import (
	"math"
	"strconv"
	"time"
)

// TimeSource says which clock an event's time comes from.
type TimeSource string

// The time sources, in the order in which they are tried.
const (
	TimeSourceEvent    TimeSource = "event"    // timeUnixNano
	TimeSourceObserved TimeSource = "observed" // observedTimeUnixNano
	TimeSourceArrival  TimeSource = "arrival"  // the collector's clock
)

// Advisories that speak of the record around a payload, not of the payload.
const (
	RuleTimeMissing    Rule = "time_missing"      // no time was sent: such a record is never merged with a repeat
	RuleTimeOutOfRange Rule = "time_out_of_range" // the time sent cannot be stored: the arrival time stands in
	RuleNoCallKey      Rule = "no_call_key"       // nothing joins the record with others of the same call
	RuleAttributesCut  Rule = "attributes_cut"    // the carrier had more or longer attributes than are kept
)

// maxEventNanos is the first instant that ClickHouse's minute functions cannot
// hold: 2106-02-06T00:00:00Z. The 32 bit second count wraps a day later.
var maxEventNanos = uint64(time.Date(2106, 2, 6, 0, 0, 0, 0, time.UTC).UnixNano())

// ID is the identity of a record: equal for every delivery of the same thing.
type ID [16]byte

// Record is an observation with its judgement: one row of the store.
type Record struct {
	*Observation
	Judgement

	ID         ID
	Carrier    Carrier
	Payload    []byte // the chosen candidate's text, nil for a plain call
	ReceivedAt time.Time
	ObservedAt time.Time
	TimeSource TimeSource
	// SentMinute is the minute of the time as sent, zero when none was sent or
	// it was out of range. Unlike ObservedAt it is equal for every delivery.
	SentMinute time.Time
	// SentTime is the time as sent, as text, where it could not be stored.
	SentTime string
	CallKey  Optional[uint64]
	// CallAlias is another key that records of the same call may have.
	CallAlias Optional[uint64]
}

// eventTime sets the record's times from what was sent, or else from arrival.
func (r *Record) eventTime() {
	sent, source := r.TimeUnixNano, TimeSourceEvent
	if sent == 0 {
		sent, source = r.ObservedTimeUnixNano, TimeSourceObserved
	}
	r.SentMinute, r.SentTime = time.Unix(0, 0).UTC(), ""
	switch {
	case sent == 0:
		r.ObservedAt, r.TimeSource = r.ReceivedAt, TimeSourceArrival
		r.advise(RuleTimeMissing, "no event time was sent: set timeUnixNano, or at least observedTimeUnixNano")
	case sent >= maxEventNanos:
		r.ObservedAt, r.TimeSource = r.ReceivedAt, TimeSourceArrival
		r.SentTime = strconv.FormatUint(sent, 10)
		r.advise(RuleTimeOutOfRange, "the event time lies outside 1970-01-01 to 2106-02-06: the arrival time stands in")
	default:
		// Below maxEventNanos, so the conversion cannot wrap.
		r.ObservedAt, r.TimeSource = time.Unix(0, int64(sent)).UTC(), source
		r.SentMinute = r.ObservedAt.Truncate(time.Minute)
	}
}

func (r *Record) advise(rule Rule, message string) {
	r.Advisories = append(r.Advisories, Finding{Rule: rule, Message: message})
}

// IsCall tells whether the record is evidence of a tool call: the call itself,
// or an answer, which some call must have had.
func (r *Record) IsCall() bool {
	switch r.Event {
	case EventCapabilities, EventConformance:
		return false
	}
	return r.Call || r.Recognized || r.Opaque || len(r.Violations) > 0
}

// Failed tells how the call ended, from the payload where it says so (R7: the
// object decides, not the carrier), else from the carrier.
func (r *Record) Failed() Outcome {
	switch {
	case !r.IsCall():
		return r.Outcome
	case r.Shape == ShapeEnvelope, r.Shape == ShapeAgentError, r.Opaque:
		return OutcomeError
	case !r.Recognized && len(r.Violations) > 0: // a text that purports to be an envelope (R6)
		return OutcomeError
	case r.Outcome != OutcomeUnknown:
		return r.Outcome
	case r.Shape == ShapeMetaSuccess, r.Shape == ShapeAgentSuccess:
		return OutcomeSuccess
	}
	return OutcomeUnknown
}

// ToolName is the tool as the envelope names it, else as the carrier does.
func (r *Record) ToolName() string {
	if r.Observation.Tool == "" && r.Judgement.Tool.Set {
		return r.Judgement.Tool.Value
	}
	return r.Observation.Tool
}

// lengthUint32 is a length as the store keeps it, cut at the type's end.
func lengthUint32(n int) uint32 { return uint32(min(n, math.MaxUint32)) }

// PayloadBytes is the length of the payload's text as found.
func (r *Record) PayloadBytes() uint32 { return lengthUint32(len(r.Payload)) }
