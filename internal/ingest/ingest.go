// Package ingest finds observations in OTLP logs and traces. It owns the
// knowledge of carriers: which log bodies, attributes, exception events and
// spans can hold an error envelope, a _meta block or a tool call, and how a
// resource names its server and deployment. It does not judge what it finds,
// keeps nothing, and never changes what it was given.
package ingest

import (
	"strings"
	"time"
	"unicode/utf8"

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
	// ReasonClientSpan is the caller's own span of a tool call, which holds the
	// server's error text but names the caller: the server's span tells of it.
	ReasonClientSpan Reason = "client_span"
	ReasonNotOurs    Reason = "not_ours" // judged, and recognised as none of our shapes
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
		// Read before the others, since it says how to read them.
	case "gen_ai.tool.name":
		o.Tool = w.field(v)
	case "mcp.tool.name":
		if o.Tool == "" {
			o.Tool = w.field(v)
		}
	case "mcp.session.id":
		o.SessionID = w.field(v)
	case "jsonrpc.request.id":
		o.RequestID = w.field(v)
	case "mcp.surface":
		o.Surface = w.field(v)
	case "error.type":
		o.ErrorType = w.field(v)
	case "rpc.response.status_code":
		if s := w.field(v); s != "" && s != "0" && s != "OK" {
			o.StatusCode = s
		}
		w.keep(key, asText(v))
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
	case samplingThreshold, samplingProbability, sampleRate:
		// They are the record's weight.
	default:
		w.keep(key, asText(v))
	}
}

// field is an attribute as text, within the limit of one.
func (w *Walker) field(v pcommon.Value) string {
	s := asText(v)
	short := cut(s)
	w.o.AttributesCut = w.o.AttributesCut || len(short) < len(s)
	return short
}

// keep keeps an attribute as it is, within the limits, and says when it cut.
func (w *Walker) keep(key, value string) {
	o := &w.o
	if len(o.Attributes) == maxAttributes {
		o.AttributesCut = true
		return
	}
	k, v := cut(valid(key)), cut(value)
	o.AttributesCut = o.AttributesCut || len(k) < len(key) || len(v) < len(value)
	o.Attributes = append(o.Attributes, classify.Attribute{Key: k, Value: v})
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

// cut is s within maxAttributeText, at the end of a character.
func cut(s string) string {
	if len(s) <= maxAttributeText {
		return s
	}
	end := maxAttributeText
	for end > maxAttributeText-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

// valid is s with U+FFFD for what is not UTF-8: protobuf cannot carry such text,
// but senders that write it by hand do.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

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
