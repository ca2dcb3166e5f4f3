package payload

import (
	"strconv"
	"strings"
)

// Block is a _meta with normalization events: one of each kind, of one field.
func Block(kinds []string, field string) Object {
	events := make([]any, len(kinds))
	for i, k := range kinds {
		events[i] = Normalization(k, field)
	}
	return Object{{"normalized", events}}
}

// LongBlock is a _meta with n renamed fields.
func LongBlock(n int) Object {
	events := make([]any, n)
	for i := range events {
		events[i] = Normalization(KindRenamed, "field"+strconv.Itoa(100+i))
	}
	return Object{{"normalized", events}}
}

// Normalize gives the payload the events of a block.
func (p *Payload) Normalize(block Object) {
	events, _ := block.get("normalized")
	p.SetMeta("normalized", events)
}

// Telemetry is a choice of _meta without normalization: rate limits in numbers
// and in text, retry-after, one warning and two. Successive i go through all
// limits and all warnings of the server.
func Telemetry(prefix string, i int) []Object {
	limits := []Object{
		{{"limit_per_second", 5.0}, {"remaining", 3}, {"reset_at", "2026-05-01T00:00:00Z"}},
		{{"limit_per_second", 0.5}, {"remaining", 0}},
		{{"limit_per_second", "unlimited"}, {"remaining", "burst"}, {"reset_at", "1714074153"}},
		{{"reset_at", "tomorrow"}},
	}
	ws := warningKinds[prefix]
	return []Object{
		{{"rate_limit", limits[i%4]}},
		{{"retry_after_seconds", 0.25}, {"rate_limit", limits[(i+1)%4]}},
		{{"warnings", []any{warning(ws[i%len(ws)])}}},
		{{"warnings", []any{warning(ws[(i+1)%len(ws)]), warning(ws[(i+3)%len(ws)])}}, {"schema_branches", 2}},
	}
}

// JSONRPC is a failed tools/call as the wire has it, around its text (R1).
func JSONRPC(t string, s Spacing) string {
	return Text(Object{{"jsonrpc", "2.0"}, {"id", 11}, {"result", Object{
		{"content", []any{Object{{"type", "text"}, {"text", t}}}}, {"isError", true},
	}}}, s)
}

// Capabilities is the body of mcp.capabilities (R114, D14): contract version,
// the server's error kinds and tools, and the default that it declares for
// MCP_SCHEMA_KEY_NORMALIZATION_META.
func Capabilities(prefix string, metaDefault bool) Object {
	var declared, tools []any
	for _, k := range ErrorKinds {
		if owner, _, _ := strings.Cut(k, "_api_"); owner == k || owner == prefix {
			declared = append(declared, k)
		}
	}
	for _, t := range ToolsOf[prefix] {
		tools = append(tools, t)
	}
	return Object{
		{"openbridge_envelope", Object{{"contract_version", 1}, {"error_kinds", declared}}},
		{"env_vars", Object{{"MCP_SCHEMA_KEY_NORMALIZATION_META", Object{{"default", metaDefault}}}}},
		{"tools", tools},
	}
}

// Conformance is the body of mcp.conformance: the summary of one run of the
// suite, in which the named item failed, or none with "". Item 5 is not tested,
// as on all servers (K17).
func Conformance(failed string) Object {
	items, violating := Object{}, 0
	for i := 1; i <= 6; i++ {
		state := "pass"
		switch item := strconv.Itoa(i); {
		case item == failed:
			state, violating = "fail", 1
		case i == 5:
			state = "not_tested"
		}
		items = items.With(strconv.Itoa(i), state)
	}
	return Object{{"summary", Object{
		{"payloads", 45},
		{"conforming", 45 - violating},
		{"violating", violating},
		{"unrecognized", 0},
		{"items", items},
		{"suite_version", "1.4.0"},
	}}}
}
