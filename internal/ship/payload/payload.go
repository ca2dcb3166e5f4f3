// Package payload builds what MCP servers put into log records: envelopes,
// telemetry of answers, declarations, and every way to break them.
//
// It owns the Truth: what a payload holds, read off the parts that it was built
// from. It refuses to judge a payload that it did not build, and knows nothing
// of OTLP but the log API's values.
package payload

import "strings"

// Finding is one broken rule or advisory of the contract: rule and JSON Pointer.
type Finding struct {
	Rule string `json:"rule"`
	Path string `json:"path"`
}

// Truth is what one payload holds. It is read off the parts the payload was
// built from, never off a classifier's answer.
type Truth struct {
	Event, Tool, Outcome string
	Ours, Opaque, Twin   bool
	Shape                string // "" when nothing in it is recognised
	Kind, Code, Legacy   string // "" when absent or not text
	Violations           []Finding
	Advisories           []Finding
	Normalized, Warnings []string // kinds, verbatim, one an event or warning
	Block                bool     // the key normalized stands under _meta (D6)
	NormalizedBytes      int64    // of the member normalized in compact JSON (D10)
	RateLimit            bool     // _meta.rate_limit has a member of a legal type
	AtZero, Textual      bool     // remaining is 0; a limit or remaining is text
	RetryAfter           float64  // seconds, negative when absent
	AnswerBytes          int64    // mcp.response.size, negative when not sent
}

// The outcomes of a call.
const (
	OutcomeSuccess = "success"
	OutcomeError   = "error"
)

// Payload is a document and what is true of it.
type Payload struct {
	Doc  Object
	Tail string // text behind the object, for text bodies
	Truth
}

// meta is the payload's _meta, empty when it has none.
func (p *Payload) meta() Object {
	v, _ := p.Doc.get("_meta")
	o, _ := v.(Object)
	return o
}

// SetMeta sets a member of _meta.
func (p *Payload) SetMeta(key string, value any) {
	p.Doc = p.Doc.With("_meta", p.meta().With(key, value))
}

// event0 sets a member of the first normalization event.
func (p *Payload) event0(key string, value any) {
	v, _ := p.meta().get("normalized")
	events := append([]any{}, v.([]any)...)
	events[0] = events[0].(Object).With(key, value)
	p.SetMeta("normalized", events)
}

// Envelope is the error envelope of an error of the tables (R22).
func Envelope(e ErrorCase, tool string) *Payload {
	details := []any{Object{{"path", e.path}, {"issue", e.issue}, {"received_type", e.received}}}
	p := &Payload{Doc: Object{
		{"error_kind", e.kind},
		{"tool", tool},
		{"summary", e.summary},
		{"details", details},
		{"hints", []any{"Inspect details, then correct the call."}},
		{"examples", []any{}},
		{"error_code", e.code},
		{"retryable", e.retryable},
		{"_envelope_version", 1},
	}}
	if e.legacy != "" {
		p.Doc = p.Doc.With("legacy_error_kind", e.legacy)
	}
	for _, m := range e.meta {
		p.SetMeta(m.Key, m.Value)
	}
	p.Event, p.Tool, p.Outcome, p.Shape = EventEnvelope, tool, OutcomeError, "mcp_envelope_v1"
	p.Advisories = e.advisories
	return p
}

// MetaAnswer is the telemetry of a successful call: the bare block, or behind
// the whole answer when items says how many rows that has.
func MetaAnswer(tool string, meta Object, items int) *Payload {
	p := &Payload{}
	if items > 0 {
		rows := make([]any, items)
		for i := range rows {
			rows[i] = Object{{"id", 700100 + i}, {"state", "ENABLED"}, {"name", "Sample row of an answer"}}
		}
		p.Doc = Object{{"items", rows}, {"next_token", "eyJwYWdlIjoyfQ=="}}
	}
	p.Doc = p.Doc.With("_meta", meta)
	p.Event, p.Tool, p.Outcome, p.Shape = EventMeta, tool, OutcomeSuccess, "meta_success"
	return p
}

// Settle reads the rest of the truth off the finished document.
func (p *Payload) Settle() {
	p.Ours, p.RetryAfter, p.AnswerBytes = true, -1, -1
	p.Kind, p.Code, p.Legacy = p.Doc.str("error_kind"), p.Doc.str("error_code"), p.Doc.str("legacy_error_kind")
	meta := p.meta()
	if v, ok := meta.get("normalized"); ok {
		p.Block = true
		p.NormalizedBytes = int64(len(`"normalized":`) + len(Text(v, Compact)))
		p.Normalized = kinds(v)
	}
	if v, ok := meta.get("warnings"); ok {
		p.Warnings = kinds(v)
	}
	if v, ok := meta.get("rate_limit"); ok {
		limits, _ := v.(Object)
		for _, m := range limits {
			switch v := m.Value.(type) {
			case string:
				p.RateLimit = true
				p.Textual = p.Textual || m.Key != "reset_at"
			case int, float64:
				p.RateLimit = true
				p.AtZero = p.AtZero || m.Key == "remaining" && (v == 0 || v == 0.0)
			}
		}
	}
	switch v, _ := meta.get("retry_after_seconds"); v := v.(type) {
	case int:
		p.RetryAfter = float64(v)
	case float64:
		p.RetryAfter = v
	}
}

// kinds lists the kind of every row that has one.
func kinds(v any) []string {
	rows, _ := v.([]any)
	var out []string
	for _, r := range rows {
		o, _ := r.(Object)
		if k := o.str("kind"); k != "" {
			out = append(out, k)
		}
	}
	return out
}

// Malformed tells whether the block breaks a rule of its own. A kind outside
// the five is a matter of the taxonomy instead (D6, D11).
func (t *Truth) Malformed() bool {
	const at = "/_meta/normalized"
	for _, f := range t.Violations {
		inside := f.Path == at || strings.HasPrefix(f.Path, at+"/")
		if inside && (f.Rule != "enum" || !strings.HasSuffix(f.Path, "/kind")) {
			return true
		}
	}
	return false
}
