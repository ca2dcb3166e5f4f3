// Package ingest finds observations in OTLP logs and traces. It owns the
// knowledge of carriers: which log bodies, attributes, exception events and
// spans can hold an error envelope, a _meta block or a tool call, and how a
// resource names its server and deployment. It does not judge what it finds,
// keeps nothing, and never changes what it was given.
package ingest

import (
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/soakgate/soakgate/internal/classify"
)

// Reason says why a log record or span was let go by: a closed set, used as a
// metric label.
type Reason string

// The reasons.
const (
	ReasonEmptyBody Reason = "empty_body" // a log record without a body or an exception
	ReasonPlainText Reason = "plain_text" // text that can hold none of our objects
	ReasonOtherMap  Reason = "other_map"  // a structured body without a member of ours
	ReasonOtherType Reason = "other_type" // a body that is a number, a boolean or a list
	ReasonOtherSpan Reason = "other_span" // a span that is no tool call and holds no text of ours
	ReasonNotOurs   Reason = "not_ours"   // judged, and recognised as none of our shapes
)

// Limits on what is kept of a carrier's attributes.
const (
	// maxAttributes bounds the attributes kept with a record: beyond the
	// hundreds of the semantic conventions, but far below what a hostile sender
	// can put into one record.
	maxAttributes = 64
	// maxAttributeText bounds one attribute's text, in bytes.
	maxAttributeText = 1024
)

// Walker finds observations. It reuses its scratch space from one request to
// the next. Not safe for concurrent use.
type Walker struct {
	extra  []string // further log attributes that may hold a payload
	o      classify.Observation
	buffer []byte
	ignore func(Reason)
	visit  func(*classify.Observation)
}

// NewWalker makes a Walker that hands observations to visit, and the reason for
// each record or span that it lets go by to ignore. An observation is valid
// until visit returns. Log attributes named in payloadAttributes are looked
// into besides the usual ones.
func NewWalker(payloadAttributes []string, visit func(*classify.Observation), ignore func(Reason)) *Walker {
	return &Walker{extra: payloadAttributes, visit: visit, ignore: ignore}
}

// begin clears the observation for the next record or span.
func (w *Walker) begin(source *classify.Source, index int) *classify.Observation {
	w.o = classify.Observation{
		Source:         source,
		Index:          index,
		Candidates:     w.o.Candidates[:0],
		Attributes:     w.o.Attributes[:0],
		SamplingWeight: classify.UnsampledWeight,
	}
	w.buffer = w.buffer[:0]
	return &w.o
}

// attribute takes one attribute of a log record or span: into its field when it
// has one, else among those that are kept as they are.
func (w *Walker) attribute(key string, v pcommon.Value) {
	o := &w.o
	switch key {
	case "event.name":
		if o.Event == classify.EventUnnamed {
			o.Event = classify.Event(asText(v))
		}
	case "gen_ai.tool.name":
		o.Tool = asText(v)
	case "mcp.tool.name":
		if o.Tool == "" {
			o.Tool = asText(v)
		}
	case "mcp.session.id":
		o.SessionID = asText(v)
	case "jsonrpc.request.id":
		o.RequestID = asText(v)
	case "mcp.surface":
		o.Surface = asText(v)
	case "error.type":
		o.ErrorType = asText(v)
	case "mcp.response.size":
		if v.Type() == pcommon.ValueTypeInt && v.Int() >= 0 {
			o.ResponseBytes = classify.Some(uint64(v.Int()))
		}
	case "mcp.tool_call.duration_ms":
		if ms, ok := number(v); ok && ms >= 0 && ms < 1e12 {
			o.Duration = classify.Some(time.Duration(ms * float64(time.Millisecond)))
		}
	case "exception.message", "exception.stacktrace", "error.message", "mcp.error.envelope":
		// Carriers, or texts too long and too personal to keep beside the payload.
	default:
		if len(o.Attributes) < maxAttributes {
			o.Attributes = append(o.Attributes, classify.Attribute{Key: key, Value: cut(asText(v))})
		}
	}
}

func number(v pcommon.Value) (float64, bool) {
	switch v.Type() {
	case pcommon.ValueTypeInt:
		return float64(v.Int()), true
	case pcommon.ValueTypeDouble:
		return v.Double(), true
	}
	return 0, false
}

func cut(s string) string { return s[:min(len(s), maxAttributeText)] }

// candidate adds a text of this carrier to those to be judged.
func (w *Walker) candidate(c classify.Candidate) {
	w.o.Candidates = append(w.o.Candidates, c)
}

// structure adds a map or list as the compact JSON that it stands for.
func (w *Walker) structure(carrier classify.Carrier, v pcommon.Value) {
	start := len(w.buffer)
	w.buffer = appendJSON(w.buffer, v, 0)
	w.candidate(classify.Candidate{Carrier: carrier, Text: w.buffer[start:], Reserialised: true})
}
