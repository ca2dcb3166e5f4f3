package ingest

import (
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/soakgate/soakgate/internal/classify"
)

// Logs walks all log records of a request, in order.
func (w *Walker) Logs(logs plog.Logs) {
	index := 0
	for _, rl := range logs.ResourceLogs().All() {
		source := sourceOf(rl.Resource())
		for _, sl := range rl.ScopeLogs().All() {
			for _, lr := range sl.LogRecords().All() {
				w.log(source, index, lr)
				index++
			}
		}
	}
}

func (w *Walker) log(source *classify.Source, index int, lr plog.LogRecord) {
	event := classify.Event(lr.EventName())
	found := w.look(lr.Attributes())
	if event == classify.EventUnnamed {
		event = classify.Event(found.event)
	}
	if !known(event) {
		event = classify.EventUnnamed
	}
	body := lr.Body()
	if event == classify.EventUnnamed && !found.any() {
		if reason := passBy(body); reason != "" {
			w.ignore(reason)
			return
		}
	}
	o := w.begin(source, index)
	o.Event = event
	reason := w.body(body)
	w.payloads(lr.Attributes(), &found)
	if event == classify.EventUnnamed && len(o.Candidates) == 0 {
		w.ignore(reason)
		return
	}
	if len(o.Candidates) == 0 && event != classify.EventToolCall {
		w.text(classify.CarrierLogBodyText, "null", false) // it announces what it does not hold
	}
	for k, v := range lr.Attributes().All() {
		w.attribute(k, v)
	}
	o.SamplingWeight = sampledWeight(lr.Attributes())
	o.TimeUnixNano = uint64(lr.Timestamp())
	o.ObservedTimeUnixNano = uint64(lr.ObservedTimestamp())
	o.TraceID, o.SpanID = lr.TraceID(), lr.SpanID()
	o.Call = o.Event == classify.EventToolCall
	if o.ErrorType == "" {
		o.ErrorType = cut(valid(found.exceptionType))
	}
	switch {
	case o.ErrorType != "", o.Call && o.StatusCode != "":
		o.Outcome = classify.OutcomeError
	case o.Call:
		o.Outcome = classify.OutcomeSuccess
	}
	w.visit(o)
}

func known(e classify.Event) bool {
	switch e {
	case classify.EventErrorEnvelope, classify.EventResponseMeta, classify.EventToolCall,
		classify.EventCapabilities, classify.EventConformance:
		return true
	}
	return false
}

// passBy says why a body that nobody named is not worth a look, "" when it is.
// Most of what servers log ends here, so it does nothing else.
func passBy(v pcommon.Value) Reason {
	switch v.Type() {
	case pcommon.ValueTypeEmpty:
		return ReasonEmptyBody
	case pcommon.ValueTypeStr:
		if !maybeOurs(v.Str()) {
			return ReasonPlainText
		}
	case pcommon.ValueTypeMap:
		if !mapMaybeOurs(v.Map()) {
			return ReasonOtherMap
		}
	case pcommon.ValueTypeBytes:
		if !maybeOurs(string(v.Bytes().AsRaw())) {
			return ReasonPlainText
		}
	default:
		return ReasonOtherType
	}
	return ""
}

// body adds the body when it may hold something of ours, and says otherwise
// why not. The body of a named event is always looked at.
func (w *Walker) body(v pcommon.Value) Reason {
	if w.o.Event == classify.EventUnnamed {
		if reason := passBy(v); reason != "" {
			return reason
		}
	}
	switch v.Type() {
	case pcommon.ValueTypeEmpty:
		return ReasonEmptyBody
	case pcommon.ValueTypeStr:
		w.text(classify.CarrierLogBodyText, v.Str(), false)
	case pcommon.ValueTypeBytes:
		w.text(classify.CarrierLogBodyBytes, string(v.Bytes().AsRaw()), false)
	case pcommon.ValueTypeMap:
		if v.Map().Len() == 0 && w.o.Event == classify.EventToolCall {
			return ReasonEmptyBody
		}
		w.structure(classify.CarrierLogBodyMap, v)
	default:
		w.structure(classify.CarrierLogBodyMap, v)
	}
	return ""
}

// text adds a text carrier. Bytes that are not UTF-8 become U+FFFD, so that one
// bad text cannot spoil the batch that it is stored with.
func (w *Walker) text(carrier classify.Carrier, s string, toolError bool) {
	w.candidate(classify.Candidate{Carrier: carrier, Text: textBytes(valid(s)), ToolError: toolError})
}

// Carriers among attributes, the most telling first.
var payloadKeys = [...]string{"mcp.error.envelope", "exception.message", "error.message"}

// looked is what one pass over a log record's attributes finds.
type looked struct {
	event         string
	exceptionType string
	payloads      [len(payloadKeys)]pcommon.Value
	has           [len(payloadKeys)]bool
	extra         bool // one of the configured attributes is there
}

// any tells whether an attribute may hold a payload, or says that a tool failed.
func (l *looked) any() bool {
	return l.extra || l.has != [len(payloadKeys)]bool{} || strings.HasSuffix(l.exceptionType, toolError)
}

// take keeps the first value of a repeated key, as readers of OTLP do.
func (l *looked) take(i int, v pcommon.Value) {
	if !l.has[i] {
		l.payloads[i], l.has[i] = v, true
	}
}

// look reads the attributes once. Keys are told apart by their length first, so
// that the attributes of ordinary records cost a comparison each.
func (w *Walker) look(a pcommon.Map) (l looked) {
	for k, v := range a.All() {
		switch k {
		case "event.name":
			if l.event == "" {
				l.event = asText(v)
			}
		case "exception.type":
			if v.Type() == pcommon.ValueTypeStr {
				l.exceptionType = v.Str()
			}
		case payloadKeys[0]:
			l.take(0, v)
		case payloadKeys[1]:
			l.take(1, v)
		case payloadKeys[2]:
			l.take(2, v)
		default:
			if len(w.extra) > 0 && slices.Contains(w.extra, k) {
				l.extra = true
			}
		}
	}
	return l
}

// payloads adds the attributes that may hold a payload: the envelope itself, and
// the texts of exceptions. A ToolError without a message is a failed call of
// which no more is known: some handlers drop messages that are no text.
func (w *Walker) payloads(a pcommon.Map, l *looked) {
	tool := strings.HasSuffix(l.exceptionType, toolError)
	before := len(w.o.Candidates)
	for i, v := range l.payloads {
		if l.has[i] {
			w.payload(v, tool, i == 0)
		}
	}
	if l.extra {
		for _, key := range w.extra {
			if v, ok := a.Get(key); ok {
				w.payload(v, tool, false)
			}
		}
	}
	if tool && len(w.o.Candidates) == before {
		w.text(classify.CarrierLogAttribute, l.exceptionType, true)
	}
}

func (w *Walker) payload(v pcommon.Value, toolError, ours bool) {
	switch v.Type() {
	case pcommon.ValueTypeMap:
		if ours || mapMaybeOurs(v.Map()) {
			w.structure(classify.CarrierLogAttribute, v)
		}
	case pcommon.ValueTypeEmpty:
	default:
		s := asText(v)
		if v.Type() == pcommon.ValueTypeBytes {
			s = string(v.Bytes().AsRaw())
		}
		if ours || toolError || maybeOurs(s) {
			w.text(classify.CarrierLogAttribute, s, toolError)
		}
	}
}

// isToolError tells whether an exception's type is a ToolError, with or without
// a module before it.
func isToolError(a pcommon.Map) bool {
	v, ok := a.Get("exception.type")
	return ok && v.Type() == pcommon.ValueTypeStr && strings.HasSuffix(v.Str(), toolError)
}
