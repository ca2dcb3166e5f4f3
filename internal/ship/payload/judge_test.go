package payload

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// judge finds the violations of a JSON value by the contract's catalogue. It is
// the shortest reading of the rules that the payloads here can break, made for
// these tests alone.
func judge(prefix string, v map[string]any) []Finding {
	j := &judgement{prefix: prefix}
	if _, ok := v["error_kind"]; ok {
		j.envelope(v)
	}
	if m, ok := v["_meta"].(map[string]any); ok {
		j.meta(m)
	}
	return j.found
}

type judgement struct {
	prefix string
	found  []Finding
}

func (j *judgement) add(rule, path string) { j.found = append(j.found, Finding{rule, path}) }

// members checks that each named member is there and of its type.
func (j *judgement) members(v map[string]any, at string, want map[string]string) {
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if got, ok := v[k]; !ok {
			j.add("required", at+"/"+k)
		} else if typeOf(got) != want[k] {
			j.add("type", at+"/"+k)
		}
	}
}

func typeOf(v any) string {
	switch v := v.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return "number"
		}
		return "integer"
	}
	return "null"
}

func (j *judgement) envelope(v map[string]any) {
	j.members(v, "", map[string]string{
		"error_kind": "string", "tool": "string", "summary": "string", "details": "array", "hints": "array",
		"examples": "array", "error_code": "string", "retryable": "boolean", "_envelope_version": "integer",
	})
	if n, ok := v["_envelope_version"].(json.Number); ok && n != "1" {
		j.add("const", "/_envelope_version")
	}
	details, _ := v["details"].([]any)
	for i, d := range details {
		row, _ := d.(map[string]any)
		j.members(row, fmt.Sprintf("/details/%d", i), map[string]string{"path": "string", "issue": "string", "received_type": "string"})
	}
	hints, _ := v["hints"].([]any)
	for i, h := range hints {
		if typeOf(h) != "string" {
			j.add("type", fmt.Sprintf("/hints/%d", i))
		}
	}
	if _, ok := v["retry_after_seconds"]; ok {
		j.add("placement", "/retry_after_seconds")
	}
	kind, _ := v["error_kind"].(string)
	code, isText := v["error_code"].(string)
	j.names(kind, code, isText)
}

// names judges kind and code: taxonomy, scope, pattern, pairing.
func (j *judgement) names(kind, code string, isText bool) {
	known := []string{
		"mcp_input_validation", "tool_not_found", "sp_api_http", "ads_api_http", "sp_api_client",
		"ads_api_client", "auth_error", "rate_limited", "sandbox_runtime", "internal_error",
	}
	if !slices.Contains(known, kind) {
		j.add("enum", "/error_kind")
		return
	}
	other := map[string]string{"sp": "ads", "ads": "sp"}[j.prefix]
	if other != "" && strings.HasPrefix(kind, other+"_") {
		j.add("server_scope", "/error_kind")
	}
	if other != "" && strings.HasPrefix(code, strings.ToUpper(other)+"_") {
		j.add("server_scope", "/error_code")
	}
	if slices.Contains([]string{"OAUTH_ERROR", "TOKEN_ERROR", "PERMISSION_DENIED"}, code) {
		j.add("reserved", "/error_code")
		return
	}
	want, listed := pairs(code)
	switch {
	case !isText:
	case !listed && (strings.HasPrefix(code, "SCHEMA_") || strings.Contains(code, "_HTTP_")):
		j.add("code_pattern", "/error_code")
	case listed && !slices.Contains(want, kind), kind == "tool_not_found" && code != "TOOL_NOT_FOUND":
		j.add("pairing", "/error_kind")
	}
}

var upstream = regexp.MustCompile(`^(SP_API|ADS_API|OPENBRIDGE)_HTTP_([45]\d\d)$`)

// pairs gives the kinds that a code goes with, and whether it is in the vocabulary.
func pairs(code string) ([]string, bool) {
	client := []string{"sp_api_client", "ads_api_client"}
	validation := []string{"mcp_input_validation"}
	if m := upstream.FindStringSubmatch(code); m != nil {
		switch {
		case m[1] == "OPENBRIDGE":
			return []string{"sp_api_http", "sp_api_client", "auth_error", "rate_limited", "internal_error"}, true
		case m[2] == "429":
			return []string{"rate_limited"}, true
		case m[2] == "401" || m[2] == "403":
			return []string{"auth_error"}, true
		}
		return []string{strings.ToLower(m[1]) + "_http"}, true
	}
	if name, ok := strings.CutPrefix(code, "SCHEMA_"); ok {
		known := `^(TYPE_MISMATCH|REQUIRED|M(AX|IN)_(ITEMS|LENGTH)|M(AX|IN)IMUM|ENUM_MISMATCH|PATTERN_MISMATCH|FORMAT_INVALID|ADDITIONAL_PROPERTIES|` +
			`(ONE|ANY|ALL)_OF_FAILED|UNIQUE_ITEMS|CONST_MISMATCH|MULTIPLE_OF|VALIDATION_FAILED|IDENTITY_NOT_FOUND)$`
		return validation, regexp.MustCompile(known).MatchString(name)
	}
	want, ok := map[string][]string{
		"INPUT_VALIDATION_FAILED": validation, "TOOL_NOT_FOUND": {"tool_not_found"}, "AUTHENTICATION_ERROR": {"auth_error"},
		"INTERNAL_ERROR": {"internal_error"}, "TOOL_EXECUTION_FAILED": client, "BODY_COERCION_INVALID_JSON": client,
		"RATE_LIMITED": {"rate_limited"}, "CODE_MODE_SANDBOX_LIMITATION": {"sandbox_runtime"},
	}[code]
	return want, ok
}

func (j *judgement) meta(m map[string]any) {
	if v, ok := m["normalized"]; ok {
		j.normalized(v)
	}
	if v, ok := m["rate_limit"].(map[string]any); ok {
		some := false
		for _, k := range []string{"limit_per_second", "remaining", "reset_at"} {
			got, ok := v[k]
			some = some || ok
			if t := typeOf(got); ok && t != "string" && (k == "reset_at" || (t != "integer" && t != "number")) {
				j.add("type", "/_meta/rate_limit/"+k)
			}
		}
		if !some {
			j.add("at_least_one", "/_meta/rate_limit")
		}
	}
	if n, ok := m["retry_after_seconds"].(json.Number); ok {
		if f, err := n.Float64(); err != nil {
			j.add("number_range", "/_meta/retry_after_seconds")
		} else if f < 0 {
			j.add("minimum", "/_meta/retry_after_seconds")
		}
	}
	warnings, _ := m["warnings"].([]any)
	for i, w := range warnings {
		row, _ := w.(map[string]any)
		j.members(row, fmt.Sprintf("/_meta/warnings/%d", i), map[string]string{"kind": "string", "summary": "string", "details": "array", "hints": "array"})
	}
}

func (j *judgement) normalized(v any) {
	events, ok := v.([]any)
	if !ok {
		j.add("type", "/_meta/normalized")
		return
	}
	if len(events) == 0 {
		j.add("minItems", "/_meta/normalized")
	}
	members := map[string][]string{
		"renamed": {"from", "to"}, "dropped_alias": {"from", "canonical"}, "coerced": {"field", "from_type", "to_type"},
		"unknown_field_passed_through": {"field"}, "unknown_field_rejected": {"field"},
	}
	for i, e := range events {
		at := fmt.Sprintf("/_meta/normalized/%d", i)
		row, _ := e.(map[string]any)
		kind, _ := row["kind"].(string)
		if _, ok := members[kind]; !ok {
			j.add("enum", at+"/kind")
			continue
		}
		want := map[string]string{}
		for _, m := range members[kind] {
			want[m] = "string"
		}
		j.members(row, at, want)
	}
}
