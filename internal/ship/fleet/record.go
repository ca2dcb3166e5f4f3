package fleet

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/trace"
)

// callsPerSession is how many neighbouring calls share a session id.
const callsPerSession = 16

// Resource is what the process declares of itself.
func (s *Source) Resource() []attribute.KeyValue {
	attrs := []attribute.KeyValue{
		attribute.String("service.name", s.server.Name),
		attribute.String("service.version", s.phase.Version),
		attribute.String("service.instance.id", s.instance),
		attribute.String("deployment.environment.name", s.deployment.Environment),
		attribute.String("mcp.deployment.id", s.deployment.ID),
		attribute.Bool("mcp.normalization.meta", s.phase.Option),
		attribute.Bool("mcp.strict_unknown_fields", s.deployment.Strict),
		attribute.String("mcp.contract_version", "1"),
	}
	if s.replay != "" {
		attrs = append(attrs, attribute.String("mcp.replay.id", s.replay))
	}
	return attrs
}

// Index is the item's source, as its place in Stream.Sources.
func (it *Item) Index() int { return it.src.index }

// Record is the item as its server logs it, and the span it is logged in.
func (s *Stream) Record(it Item) (log.Record, trace.SpanContext) {
	v := &it.src.pool.variants[it.variant]
	var r log.Record
	r.SetTimestamp(it.at)
	r.SetObservedTimestamp(it.at)
	r.SetSeverity(v.severity)
	r.SetSeverityText(v.severity.String())
	r.SetBody(v.body)
	switch v.named {
	case namedField:
		r.SetEventName(v.Event)
	case namedAttribute:
		r.AddAttributes(attribute.String("event.name", v.Event))
	}
	r.AddAttributes(v.attrs...)
	if v.Outcome != "" {
		r.AddAttributes(
			attribute.String("mcp.session.id", fmt.Sprintf("%016x", mix64(s.key^it.call/callsPerSession)^uint64(it.src.index))),
			attribute.String("jsonrpc.request.id", strconv.FormatUint(it.call, 10)),
		)
	}
	return r, s.span(it.call)
}

// span is the span of a call: the same for all that tell of it, and of no
// other call.
func (s *Stream) span(call uint64) trace.SpanContext {
	var t trace.TraceID
	var sp trace.SpanID
	a := mix64(s.key ^ call)
	binary.BigEndian.PutUint64(t[:8], a)
	binary.BigEndian.PutUint64(t[8:], mix64(a)|1) // an id of zeros only is none
	binary.BigEndian.PutUint64(sp[:], mix64(a^s.key)|1)
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: t, SpanID: sp, TraceFlags: trace.FlagsSampled})
}

// eventName is the name that travels with the record, "" when none does.
func (v *variant) eventName() string {
	if v.named == unnamed {
		return ""
	}
	return v.Event
}
