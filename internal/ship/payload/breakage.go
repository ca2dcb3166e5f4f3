package payload

import "strings"

// Breakage is one way in which a server's payload breaks the contract.
type Breakage struct {
	Name string `json:"name"`
	// Violations are what a correct judge must find, and nothing else.
	Violations []Finding `json:"violations"`
	// Advisories come along with it.
	Advisories []Finding `json:"advisories,omitempty"`

	base  base
	apply func(*Payload)
}

// base is the sound payload that a breakage starts from.
type base int

const (
	baseHTTP    base = iota // an envelope for HTTP 500 of the server's own upstream
	baseLimited             // a rate_limited envelope with rate limit and retry-after
	baseBlock               // a successful answer with a renamed and a coerced event
	baseFailed              // an envelope with a renamed and a coerced event
	baseWarned              // a successful answer with a warning
)

func one(rule, path string) []Finding { return []Finding{{rule, path}} }

// set gives a change that sets a root member.
func set(key string, value any) func(*Payload) {
	return func(p *Payload) { p.Doc = p.Doc.With(key, value) }
}

// SetMeta gives a change that sets a member of _meta.
func setMeta(key string, value any) func(*Payload) {
	return func(p *Payload) { p.SetMeta(key, value) }
}

func drop(key string) func(*Payload) {
	return func(p *Payload) { p.Doc = p.Doc.Without(key) }
}

// event gives a change of the first normalization event.
func event(key string, value any) func(*Payload) {
	return func(p *Payload) { p.event0(key, value) }
}

// pair gives a change of kind and code.
func pair(kind, code string) func(*Payload) {
	return func(p *Payload) { p.Doc = p.Doc.With("error_kind", kind).With("error_code", code) }
}

// unreadable makes the payload a text from which no JSON can be had (R6).
func unreadable(spoil func(string) string) func(*Payload) {
	return func(p *Payload) {
		p.Tail = spoil(Text(p.Doc, Compact))
		p.Doc, p.Shape = nil, ""
	}
}

var breakages = []Breakage{
	{Name: "hints-missing", Violations: one("required", "/hints"), apply: drop("hints")},
	{Name: "code-missing", Violations: one("required", "/error_code"), apply: drop("error_code")},
	{Name: "retryable-text", Violations: one("type", "/retryable"), apply: set("retryable", "true")},
	{Name: "summary-null", Violations: one("type", "/summary"), apply: set("summary", nil)},
	{Name: "version-2", Violations: one("const", "/_envelope_version"), apply: set("_envelope_version", 2)},
	{Name: "version-text", Violations: one("type", "/_envelope_version"), apply: set("_envelope_version", "1")},
	{Name: "details-object", Violations: one("type", "/details"), apply: set("details", Object{{"path", ""}})},
	{
		Name: "issue-missing", Violations: one("required", "/details/0/issue"),
		apply: set("details", []any{Object{{"path", "a"}, {"received_type", "int"}}}),
	},
	{Name: "hint-object", Violations: one("type", "/hints/0"), apply: set("hints", []any{Object{{"text", "x"}}})},
	{Name: "stale-pairing", Violations: one("pairing", "/error_kind"), apply: pair("mcp_input_validation", "TOOL_NOT_FOUND")},
	{Name: "reserved-code", Violations: one("reserved", "/error_code"), apply: pair("auth_error", "OAUTH_ERROR")},
	{Name: "schema-code", Violations: one("code_pattern", "/error_code"), apply: pair("mcp_input_validation", "SCHEMA_TYPO")},
	{Name: "foreign-server", Violations: []Finding{{"server_scope", "/error_kind"}, {"server_scope", "/error_code"}}, apply: foreign},
	{
		Name: "off-taxonomy", Violations: one("enum", "/error_kind"), Advisories: unlisted,
		apply: pair("precondition_failed", "ACTIVE_IDENTITY_REQUIRED"),
	},
	{
		Name: "retry-at-root", Violations: one("placement", "/retry_after_seconds"), base: baseLimited,
		apply: func(p *Payload) { p.Doc = p.Doc.With("_meta", Object{}).With("retry_after_seconds", 4) },
	},
	{Name: "rate-limit-empty", Violations: one("at_least_one", "/_meta/rate_limit"), base: baseLimited, apply: setMeta("rate_limit", Object{})},
	{
		Name: "remaining-null", Violations: one("type", "/_meta/rate_limit/remaining"), base: baseLimited,
		apply: setMeta("rate_limit", Object{{"limit_per_second", 3}, {"remaining", nil}}),
	},
	{Name: "retry-negative", Violations: one("minimum", "/_meta/retry_after_seconds"), base: baseLimited, apply: setMeta("retry_after_seconds", -3)},
	{Name: "retry-huge", Violations: one("number_range", "/_meta/retry_after_seconds"), base: baseLimited, apply: setMeta("retry_after_seconds", literal("1e400"))},
	{
		Name: "warning-hints-missing", Violations: one("required", "/_meta/warnings/0/hints"), base: baseWarned,
		apply: setMeta("warnings", []any{Object{{"kind", "upstream_warning"}, {"summary", "s"}, {"details", []any{}}}}),
	},
	{Name: "trailing-text", Violations: one("trailing_data", ""), apply: func(p *Payload) { p.Tail = " (while handling the above)" }},
	{
		Name: "tool-twice", Violations: one("duplicate_key", "/tool"),
		apply: func(p *Payload) { p.Doc = append(p.Doc, Member{"tool", p.Doc.str("tool")}) },
	},
	{Name: "text-cut", Violations: one("invalid_json", ""), apply: unreadable(func(s string) string { return s[:len(s)*3/4] })},
	{
		Name: "text-nan", Violations: one("invalid_json", ""), base: baseLimited,
		apply: unreadable(func(s string) string { return strings.Replace(s, `"remaining":0`, `"remaining":NaN`, 1) }),
	},

	{Name: "block-empty", Violations: one("minItems", "/_meta/normalized"), base: baseBlock, apply: setMeta("normalized", []any{})},
	{Name: "block-object", Violations: one("type", "/_meta/normalized"), base: baseBlock, apply: setMeta("normalized", Normalization(KindRenamed, "limit"))},
	{
		Name: "block-to-missing", Violations: one("required", "/_meta/normalized/0/to"), base: baseBlock,
		apply: setMeta("normalized", []any{Normalization(KindRenamed, "limit").Without("to")}),
	},
	{Name: "block-from-null", Violations: one("type", "/_meta/normalized/0/from"), base: baseFailed, apply: event("from", nil)},
	{Name: "block-off-taxonomy", Violations: one("enum", "/_meta/normalized/0/kind"), base: baseFailed, apply: event("kind", "unknown_field_dropped")},
}

// foreign makes the payload one of the other server's (R52, R69).
func foreign(p *Payload) {
	if strings.HasPrefix(p.Doc.str("error_kind"), "sp") {
		pair("ads_api_http", "ADS_API_HTTP_500")(p)
		return
	}
	pair("sp_api_http", "SP_API_HTTP_500")(p)
}

// Breakages lists every way in which the fleet can break the contract.
func Breakages() []Breakage { return append([]Breakage(nil), breakages...) }

// Broken builds the payload of b for a server.
func (b *Breakage) Broken(prefix, tool string) *Payload {
	var p *Payload
	events := []any{Normalization(KindRenamed, "limit"), Normalization(KindCoerced, "marketplaceIds")}
	switch b.base {
	case baseBlock:
		p = MetaAnswer(tool, Object{{"normalized", events}}, 0)
	case baseWarned:
		p = MetaAnswer(tool, Object{{"warnings", []any{warning("upstream_warning")}}}, 0)
	default:
		want := map[base]string{baseHTTP: "_API_HTTP_500", baseFailed: "_API_HTTP_500", baseLimited: "RATE_LIMITED"}[b.base]
		for _, e := range ErrorsOf(prefix) {
			if strings.HasSuffix(e.code, want) {
				p = Envelope(e, tool)
				break
			}
		}
		if b.base == baseFailed {
			p.SetMeta("normalized", events)
		}
	}
	b.apply(p)
	p.Violations, p.Advisories = b.Violations, append(p.Advisories, b.Advisories...)
	p.Settle()
	return p
}
