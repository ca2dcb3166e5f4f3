package ingest

import (
	"strings"
	"unicode/utf8"

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
	o := w.begin(source, index)
	o.Event = classify.Event(lr.EventName())
	if o.Event == classify.EventUnnamed {
		if v, ok := lr.Attributes().Get("event.name"); ok {
			o.Event = classify.Event(asText(v))
		}
	}
	if !known(o.Event) {
		o.Event = classify.EventUnnamed
	}
	reason := w.body(lr.Body())
	w.logAttributes(lr.Attributes())
	if o.Event == classify.EventUnnamed && len(o.Candidates) == 0 {
		w.ignore(reason)
		return
	}
	for k, v := range lr.Attributes().All() {
		w.attribute(k, v)
	}
	o.TimeUnixNano = uint64(lr.Timestamp())
	o.ObservedTimeUnixNano = uint64(lr.ObservedTimestamp())
	o.TraceID, o.SpanID = lr.TraceID(), lr.SpanID()
	o.Call = o.Event == classify.EventToolCall
	switch {
	case o.ErrorType != "":
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

// body adds the body when it may hold something of ours, and says otherwise
// why not. The body of a named event is always looked at.
func (w *Walker) body(v pcommon.Value) Reason {
	named := w.o.Event != classify.EventUnnamed
	switch v.Type() {
	case pcommon.ValueTypeEmpty:
		return ReasonEmptyBody
	case pcommon.ValueTypeStr:
		if !named && !maybeOurs(v.Str()) {
			return ReasonPlainText
		}
		w.text(classify.CarrierLogBodyText, v.Str(), false)
	case pcommon.ValueTypeMap:
		if v.Map().Len() == 0 && w.o.Event == classify.EventToolCall {
			return ReasonEmptyBody
		}
		if !named && !mapMaybeOurs(v.Map()) {
			return ReasonOtherMap
		}
		w.structure(classify.CarrierLogBodyMap, v)
	case pcommon.ValueTypeBytes:
		if s := string(v.Bytes().AsRaw()); named || maybeOurs(s) {
			w.text(classify.CarrierLogBodyBytes, s, false)
			return ""
		}
		return ReasonPlainText
	default:
		if !named {
			return ReasonOtherType
		}
		w.structure(classify.CarrierLogBodyMap, v)
	}
	return ""
}

// text adds a text carrier. Bytes that are not UTF-8 become U+FFFD, so that one
// bad text cannot spoil the batch that it is stored with.
func (w *Walker) text(carrier classify.Carrier, s string, toolError bool) {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	w.candidate(classify.Candidate{Carrier: carrier, Text: textBytes(s), ToolError: toolError})
}

// logAttributes looks into the attributes that may hold a payload: the error
// envelope itself, and the texts of exceptions.
func (w *Walker) logAttributes(a pcommon.Map) {
	tool := isToolError(a)
	w.payloadAttribute(a, "mcp.error.envelope", tool, true)
	w.payloadAttribute(a, "exception.message", tool, false)
	w.payloadAttribute(a, "error.message", tool, false)
	for _, key := range w.extra {
		w.payloadAttribute(a, key, tool, false)
	}
}

func (w *Walker) payloadAttribute(a pcommon.Map, key string, toolError, ours bool) {
	v, ok := a.Get(key)
	if !ok {
		return
	}
	switch v.Type() {
	case pcommon.ValueTypeMap:
		if ours || mapMaybeOurs(v.Map()) {
			w.structure(classify.CarrierLogAttribute, v)
		}
	case pcommon.ValueTypeStr:
		if ours || toolError || maybeOurs(v.Str()) {
			w.text(classify.CarrierLogAttribute, v.Str(), toolError)
		}
	}
}

// isToolError tells whether an exception's type is a ToolError, with or without
// a module before it.
func isToolError(a pcommon.Map) bool {
	v, ok := a.Get("exception.type")
	return ok && v.Type() == pcommon.ValueTypeStr && strings.HasSuffix(v.Str(), toolError)
}
