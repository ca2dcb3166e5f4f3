package ingest

import (
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/soakgate/soakgate/internal/classify"
)

// toolsCall is the MCP method whose SERVER spans are tool calls.
const toolsCall = "tools/call"

// Traces walks all spans of a request, in order.
func (w *Walker) Traces(traces ptrace.Traces) {
	nest := nesting{sources: make([]*classify.Source, traces.ResourceSpans().Len())}
	index := 0
	for i, rs := range traces.ResourceSpans().All() {
		nest.sources[i] = sourceOf(rs.Resource())
	}
	for i, rs := range traces.ResourceSpans().All() {
		source := nest.sources[i]
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				w.span(source, index, span, traces, &nest)
				index++
			}
		}
	}
}

func (w *Walker) span(source *classify.Source, index int, span ptrace.Span, traces ptrace.Traces, nest *nesting) {
	tool, call := toolCall(span)
	if !call && span.Events().Len() == 0 && span.Status().Message() == "" {
		w.ignore(ReasonOtherSpan)
		return
	}
	if span.Kind() == ptrace.SpanKindClient && isToolsCall(span) {
		w.ignore(ReasonClientSpan)
		return
	}
	o := w.begin(source, index)
	exceptionType := w.exceptions(span.Events(), call)
	if s := span.Status().Message(); s != "" && maybeOurs(s) {
		w.text(classify.CarrierSpanStatus, s, strings.HasPrefix(s, toolError))
	}
	if !call && len(o.Candidates) == 0 {
		w.ignore(ReasonOtherSpan)
		return
	}
	for k, v := range span.Attributes().All() {
		w.attribute(k, v)
	}
	if o.Tool == "" {
		o.Tool = cut(valid(tool))
	}
	if weight, ok := tracestateWeight(span.TraceState().AsRaw()); ok {
		o.SamplingWeight = weight
	} else {
		o.SamplingWeight = sampledWeight(span.Attributes())
	}
	o.Call = call
	o.TimeUnixNano = uint64(span.EndTimestamp())
	if o.TimeUnixNano == 0 {
		o.TimeUnixNano = uint64(span.StartTimestamp())
	}
	if start, end := span.StartTimestamp(), span.EndTimestamp(); call && start != 0 && end >= start {
		o.Duration = classify.Some(time.Duration(end - start))
	}
	o.TraceID, o.SpanID, o.ParentSpanID = span.TraceID(), span.SpanID(), span.ParentSpanID()
	o.CallSpanID = nest.callOf(traces, span)
	if call {
		o.Outcome = spanOutcome(span, o)
	}
	// An exception event alone is no failure: what caught it may have recorded it.
	if o.ErrorType == "" && (!call || o.Outcome == classify.OutcomeError) {
		o.ErrorType = exceptionType
	}
	w.visit(o)
}

// spanOutcome reads how a call's span ended. No error on a span is weak
// evidence of success: an envelope elsewhere overrules it.
func spanOutcome(span ptrace.Span, o *classify.Observation) classify.Outcome {
	if span.Status().Code() == ptrace.StatusCodeError || o.ErrorType != "" || o.StatusCode != "" {
		return classify.OutcomeError
	}
	return classify.OutcomeSuccess
}

// exceptions adds the messages of a span's exception events, and returns the
// type of the first. On a call's span each is a candidate; elsewhere only those
// that may be ours. A ToolError whose message was dropped, as handlers do with
// what is no text, still says that the tool failed.
func (w *Walker) exceptions(events ptrace.SpanEventSlice, call bool) (exceptionType string) {
	for _, e := range events.All() {
		if e.Name() != "exception" {
			continue
		}
		a := e.Attributes()
		if exceptionType == "" {
			exceptionType = text(a, "exception.type")
		}
		tool := isToolError(a)
		v, ok := a.Get("exception.message")
		if !ok {
			if tool {
				w.text(classify.CarrierSpanException, exceptionType, true)
			}
			continue
		}
		if s := asText(v); tool || call || maybeOurs(s) {
			w.text(classify.CarrierSpanException, s, tool)
		}
	}
	return exceptionType
}

// toolCall tells whether a span is a tool call of a server, and of which tool.
// It knows the semantic conventions' form, and the older ones of FastMCP and of
// the MCP SDKs, whose tool stands in the span's name alone.
func toolCall(span ptrace.Span) (tool string, ok bool) {
	if span.Kind() != ptrace.SpanKindServer || !isToolsCall(span) {
		return "", false
	}
	_, tool, _ = strings.Cut(span.Name(), toolsCall+" ")
	return tool, true
}

// isToolsCall tells whether a span, of a client or of a server, is a tool call.
func isToolsCall(span ptrace.Span) bool {
	if strings.HasPrefix(strings.TrimPrefix(span.Name(), "MCP handle "), toolsCall+" ") {
		return true
	}
	a := span.Attributes()
	v, has := a.Get("mcp.method.name")
	if !has {
		v, has = a.Get("rpc.method")
	}
	return has && v.Type() == pcommon.ValueTypeStr && v.Str() == toolsCall
}

// nesting finds the call that a span belongs to within one request. A mounted
// server gives several SERVER spans for one call, and an exception is recorded
// on each span that it passes through.
type nesting struct {
	sources []*classify.Source // by the place of their resource
	spans   map[spanKey]node
}

type spanKey struct {
	trace pcommon.TraceID
	span  pcommon.SpanID
}

type node struct {
	parent pcommon.SpanID
	source *classify.Source
	call   bool
	client bool
}

// maxNesting bounds the walk to the root, so that spans that name each other as
// parent cannot hold it.
const maxNesting = 256

// callOf is the outermost tool call around the span, itself included, among the
// spans of this request; zero when there is none. The walk ends where the call
// came from outside: at another process, or at a client's span.
func (n *nesting) callOf(traces ptrace.Traces, span ptrace.Span) pcommon.SpanID {
	if n.spans == nil {
		n.read(traces)
	}
	var call pcommon.SpanID
	id := span.SpanID()
	home := n.spans[spanKey{span.TraceID(), id}].source
	for range maxNesting {
		at, ok := n.spans[spanKey{span.TraceID(), id}]
		if !ok || *at.source != *home || at.client {
			break
		}
		if at.call {
			call = id
		}
		id = at.parent
	}
	return call
}

func (n *nesting) read(traces ptrace.Traces) {
	n.spans = make(map[spanKey]node, traces.SpanCount())
	for i, rs := range traces.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, s := range ss.Spans().All() {
				_, call := toolCall(s)
				n.spans[spanKey{s.TraceID(), s.SpanID()}] = node{
					parent: s.ParentSpanID(), source: n.sources[i], call: call, client: s.Kind() == ptrace.SpanKindClient,
				}
			}
		}
	}
}
