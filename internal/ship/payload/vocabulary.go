package payload

import "strings"

// The event names of log records.
const (
	EventEnvelope     = "mcp.error_envelope"
	EventMeta         = "mcp.response_meta"
	EventCall         = "mcp.tool_call"
	EventCapabilities = "mcp.capabilities"
	EventConformance  = "mcp.conformance"
)

// ErrorKinds is the closed taxonomy (R40 to R49).
var ErrorKinds = []string{
	"mcp_input_validation", "tool_not_found", "sp_api_http", "ads_api_http", "sp_api_client",
	"ads_api_client", "auth_error", "rate_limited", "sandbox_runtime", "internal_error",
}

// The closed set of normalization kinds (R83). The last two exclude each other
// on one deployment (R86).
const (
	KindRenamed  = "renamed"
	KindDropped  = "dropped_alias"
	KindCoerced  = "coerced"
	KindPassed   = "unknown_field_passed_through"
	KindRejected = "unknown_field_rejected"
)

// ErrorCase is one way in which a call fails. {p} and {P} stand for the
// server's prefix in small and in capital letters.
type ErrorCase struct {
	kind, code, issue       string
	path, received, summary string
	retryable               bool
	only                    string // prefix of the one server that has it
	Weight                  int
	Tool                    string // "" is any tool of the server
	Surface                 string // "" is direct
	legacy                  string
	meta                    Object
	advisories              []Finding
}

// schemaCodes are the codes of the JSON-Schema validators (R71).
var schemaCodes = []string{
	"TYPE_MISMATCH", "REQUIRED", "MAX_ITEMS", "MIN_ITEMS", "MAX_LENGTH", "MIN_LENGTH", "MAXIMUM", "MINIMUM",
	"ENUM_MISMATCH", "PATTERN_MISMATCH", "FORMAT_INVALID", "ADDITIONAL_PROPERTIES", "ONE_OF_FAILED", "ANY_OF_FAILED",
	"ALL_OF_FAILED", "UNIQUE_ITEMS", "CONST_MISMATCH", "MULTIPLE_OF", "VALIDATION_FAILED",
}

var unlisted = []Finding{{"code_unlisted", "/error_code"}}

// errorTable holds the errors that are not of the nineteen validators.
var errorTable = []ErrorCase{
	{kind: "mcp_input_validation", code: "INPUT_VALIDATION_FAILED", issue: "Input should be a valid integer", Weight: 9},
	{kind: "mcp_input_validation", code: "SCHEMA_IDENTITY_NOT_FOUND", issue: "No identity has this id", only: "sp", Tool: "set_active_identity", Weight: 2},
	{kind: "tool_not_found", code: "TOOL_NOT_FOUND", issue: "Unknown tool", Tool: "get_ordres", Weight: 5},
	{kind: "tool_not_found", code: "TOOL_NOT_FOUND", issue: "Unknown tool", Tool: "get_ordres", legacy: "mcp_input_validation", Weight: 2},
	{kind: "{p}_api_http", code: "{P}_API_HTTP_400", issue: "The request is malformed", Weight: 5},
	{kind: "{p}_api_http", code: "{P}_API_HTTP_404", issue: "No such resource", Weight: 6},
	{kind: "{p}_api_http", code: "{P}_API_HTTP_409", issue: "The resource has changed meanwhile", Weight: 2},
	{kind: "{p}_api_http", code: "{P}_API_HTTP_500", issue: "The upstream failed", retryable: true, Weight: 5},
	{kind: "{p}_api_http", code: "{P}_API_HTTP_503", issue: "The upstream is busy", retryable: true, meta: Object{{"retry_after_seconds", 2.5}}, Weight: 4},
	{kind: "{p}_api_http", code: "{P}_API_HTTP_504", issue: "The upstream did not answer", retryable: true, Weight: 2},
	{kind: "sp_api_http", code: "OPENBRIDGE_HTTP_502", issue: "The internal service failed", only: "sp", retryable: true, Weight: 2},
	{kind: "{p}_api_client", code: "TOOL_EXECUTION_FAILED", issue: "The client could not build the request", Weight: 3},
	{kind: "{p}_api_client", code: "BODY_COERCION_INVALID_JSON", issue: "The body is text, and not JSON", Weight: 2},
	{kind: "auth_error", code: "AUTHENTICATION_ERROR", issue: "The refresh token was refused", Weight: 3},
	{kind: "auth_error", code: "{P}_API_HTTP_401", issue: "The access token has expired", retryable: true, Weight: 3},
	{kind: "auth_error", code: "{P}_API_HTTP_403", issue: "The identity may not do this", Weight: 2},
	{
		kind: "rate_limited", code: "RATE_LIMITED", issue: "The pre-flight limiter is full", retryable: true, Weight: 3,
		meta: Object{{"rate_limit", Object{{"limit_per_second", 0.5}, {"remaining", 0}}}, {"retry_after_seconds", 4}},
	},
	{
		kind: "rate_limited", code: "{P}_API_HTTP_429", issue: "Too many requests", retryable: true, Weight: 5,
		meta: Object{{"rate_limit", Object{{"limit_per_second", "burst"}, {"reset_at", "1777000000"}}}, {"retry_after_seconds", 1.5}},
	},
	{kind: "rate_limited", code: "{P}_API_HTTP_429", issue: "Too many requests", retryable: true, Weight: 2},
	{kind: "sandbox_runtime", code: "CODE_MODE_SANDBOX_LIMITATION", issue: "The module is not allowed in the sandbox", Tool: "execute", Surface: "sandbox", Weight: 3},
	{kind: "internal_error", code: "INTERNAL_ERROR", issue: "Unhandled exception", Tool: "unknown_tool", Weight: 5},
	{kind: "internal_error", code: "CONFIGURATION_ERROR", issue: "A setting is missing", advisories: unlisted, Weight: 1},
	{
		kind: "internal_error", code: "INTERNAL_ERROR", Weight: 1, advisories: []Finding{{"nested_envelope", "/details/0/issue"}},
		issue: `ToolError: {"error_kind":"auth_error","tool":"t","summary":"s","details":[],"hints":[],"examples":[],"error_code":"AUTHENTICATION_ERROR","retryable":false,"_envelope_version":1}`,
	},
}

// ErrorsOf gives the errors that a server with this prefix can have. A server
// without one has those that name no upstream.
func ErrorsOf(prefix string) []ErrorCase {
	all := make([]ErrorCase, 0, len(errorTable)+len(schemaCodes))
	for _, c := range schemaCodes {
		all = append(all, ErrorCase{kind: "mcp_input_validation", code: "SCHEMA_" + c, issue: "Does not fit the schema", path: "filters/0/marketplaceId", received: "str", Weight: 1})
	}
	fill := strings.NewReplacer("{p}", prefix, "{P}", strings.ToUpper(prefix))
	var out []ErrorCase
	for _, e := range append(all, errorTable...) {
		if (e.only != "" && e.only != prefix) || (prefix == "" && strings.Contains(e.kind+e.code, "{")) {
			continue
		}
		e.kind, e.code = fill.Replace(e.kind), fill.Replace(e.code)
		e.summary = "The call failed: " + strings.ToLower(e.issue[:1]) + "..."
		if e.received == "" {
			e.received = "dict"
		}
		out = append(out, e)
	}
	return out
}

// Normalization is an event of the kind, as the servers' middleware records it (R84, R85).
func Normalization(kind, field string) Object {
	alias := strings.ToUpper(field[:1]) + field[1:]
	switch kind {
	case KindRenamed:
		return Object{{"kind", kind}, {"from", alias}, {"to", field}, {"reason", "schema_canonical_key"}}
	case KindDropped:
		return Object{{"kind", kind}, {"from", alias}, {"canonical", field}, {"reason", "canonical_key_also_present"}}
	case KindCoerced:
		return Object{{"kind", kind}, {"field", field}, {"from_type", "str"}, {"to_type", "list"}, {"reason", "schema_array_wrap"}}
	}
	return Object{{"kind", kind}, {"field", alias + "s"}, {"reason", "no_schema_match"}, {"suggestions", []any{field}}}
}

// warning is a row of _meta.warnings (R99).
func warning(kind string) Object {
	return Object{{"kind", kind}, {"summary", "299 - sample warning"}, {"details", []any{}}, {"hints", []any{"Read the changelog."}}}
}

// warningKinds are the vocabularies by prefix (R100).
var warningKinds = map[string][]string{
	"":    {"upstream_warning", "cached_or_stale_data", "partial_results"},
	"sp":  {"upstream_warning", "cached_or_stale_data", "partial_results", "marketplace_not_enabled_for_identity", "deprecated_parameter_accepted"},
	"ads": {"upstream_warning", "cached_or_stale_data", "partial_results", "profile_scope_warning", "deprecated_parameter_accepted"},
}

// ToolsOf are the registered tools by prefix.
var ToolsOf = map[string][]string{
	"": {"list_products", "get_product", "list_stores", "execute"},
	"sp": {
		"get_orders", "get_order_items", "list_reports", "create_report", "get_report_document", "search_catalog",
		"get_listing", "patch_listing", "get_inventory", "submit_feed", "set_active_identity", "execute",
	},
	"ads": {
		"list_campaigns", "create_campaign", "update_campaign", "list_ad_groups", "list_keywords", "query_targets",
		"get_report", "create_export", "list_profiles", "get_budget_usage", "set_active_identity", "execute",
	},
}

// Fields are arguments of tools.
var Fields = []string{"marketplaceIds", "orderStatuses", "createdAfter", "nextToken", "campaignIdFilter", "stateFilter", "maxResults"}

// Noise are log lines that any server writes and that are not ours.
var Noise = []any{
	"GET /health 200 in 3 ms",
	"[warn] cache miss for key catalog:us, loading",
	"Traceback (most recent call last): connection reset by peer",
	"",
	`["a","b"]`,
	Object{{"level", "info"}, {"msg", "token refreshed"}, {"seconds", 0.25}},
	Object{{"detail", []any{Object{{"loc", []any{"body"}}, {"msg", "field required"}, {"type", "missing"}}}}},
	Object{{"error", "plain text of an older form"}},
}

// Opaque are texts of a ToolError without an envelope (R5, R15).
var Opaque = []string{"ToolError: upstream hung up", "Error calling tool 'execute': timed out", "internal_error: the call failed"}
