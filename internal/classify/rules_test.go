package classify

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// set gives a valid envelope one more, or another, member.
func set(member, value string) string {
	for _, have := range []string{
		`"error_kind":"internal_error"`, `"tool":"t"`, `"summary":"s"`, `"details":[]`, `"hints":[]`, `"examples":[]`,
		`"error_code":"INTERNAL_ERROR"`, `"retryable":false`, `"_envelope_version":1`,
	} {
		if strings.HasPrefix(have, `"`+member+`":`) {
			return strings.Replace(validEnvelope, have, fmt.Sprintf(`%q:%s`, member, value), 1)
		}
	}
	return strings.TrimSuffix(validEnvelope, "}") + fmt.Sprintf(`,%q:%s}`, member, value)
}

// drop takes a member out of a valid envelope.
func drop(member string) string {
	with := set(member, `"gone"`)
	return strings.Replace(strings.Replace(with, fmt.Sprintf(`%q:"gone",`, member), "", 1), fmt.Sprintf(`,%q:"gone"`, member), "", 1)
}

var required = []string{"error_kind", "tool", "summary", "details", "hints", "examples", "error_code", "retryable", "_envelope_version"}

func TestEveryRequiredMember(t *testing.T) {
	c := newClassifier(t)
	for _, member := range required {
		j := c.Judge(Payload{Text: []byte(drop(member))})
		assert.Equal(t, []pathRule{{"/" + member, RuleRequired}}, pathRules(j.Violations), member)
		j = c.Judge(Payload{Text: []byte(set(member, "null"))})
		assert.Equal(t, []pathRule{{"/" + member, RuleType}}, pathRules(j.Violations), "null is no absence: %s", member)
	}
}

// TestEnvelopeMembers tries members of envelopes one by one (R22 to R39).
func TestEnvelopeMembers(t *testing.T) {
	c := newClassifier(t)
	const row = `"path":"a","issue":"b","received_type":"c"`
	for _, tc := range []struct {
		member, value string
		violations    []pathRule
		advisories    []pathRule
	}{
		{"_envelope_version", `1.0`, nil, nil},
		{"_envelope_version", `10e-1`, nil, nil},
		{"_envelope_version", `0`, []pathRule{{"/_envelope_version", RuleConst}}, nil},
		{"_envelope_version", `2`, []pathRule{{"/_envelope_version", RuleConst}}, nil},
		{"_envelope_version", `-1`, []pathRule{{"/_envelope_version", RuleConst}}, nil},
		{"_envelope_version", `99999999999999999999`, []pathRule{{"/_envelope_version", RuleConst}}, nil},
		{"_envelope_version", `1e999`, []pathRule{{"/_envelope_version", RuleNumberRange}}, nil},
		{"_envelope_version", `1.1`, []pathRule{{"/_envelope_version", RuleType}}, nil},
		{"_envelope_version", `"1"`, []pathRule{{"/_envelope_version", RuleType}}, nil},
		{"_envelope_version", `true`, []pathRule{{"/_envelope_version", RuleType}}, nil},
		{"error_kind", `7`, []pathRule{{"/error_kind", RuleType}}, nil},
		{"error_kind", `"Internal_Error"`, []pathRule{{"/error_kind", RuleEnum}}, nil},
		{"error_kind", `"precondition_failed"`, []pathRule{{"/error_kind", RuleEnum}}, nil},
		{"error_code", `7`, []pathRule{{"/error_code", RuleType}}, nil},
		{"error_code", `""`, nil, []pathRule{{"/error_code", RuleCodeUnlisted}}},
		{"tool", `""`, nil, []pathRule{{"/tool", RuleToolEmpty}}},
		{"tool", `"a\u0000b"`, nil, nil},
		{"retryable", `"true"`, []pathRule{{"/retryable", RuleType}}, nil},
		{"retryable", `1`, []pathRule{{"/retryable", RuleType}}, nil},
		{"details", `{` + row + `}`, []pathRule{{"/details", RuleType}}, nil},
		{"details", `[{` + row + `,"upstream_code":"x","allowed":[1],"extra":null}]`, nil, nil},
		{"details", `[{"path":"filters/0/marketplaceId","issue":"","received_type":""}]`, nil, nil},
		{"details", `[{"path":1,"issue":null}]`, []pathRule{{"/details/0/path", RuleType}, {"/details/0/issue", RuleType}, {"/details/0/received_type", RuleRequired}}, nil},
		{"details", `["x"]`, []pathRule{{"/details/0", RuleType}}, nil},
		{"details", `[{` + row + `},7]`, []pathRule{{"/details/1", RuleType}}, nil},
		{"hints", `["a",{},"b",null]`, []pathRule{{"/hints/1", RuleType}, {"/hints/3", RuleType}}, nil},
		{"hints", `"a"`, []pathRule{{"/hints", RuleType}}, nil},
		{"examples", `[1,null,{"a":[]},"x"]`, nil, nil},
		{"examples", `{}`, []pathRule{{"/examples", RuleType}}, nil},
		{"legacy_error_kind", `"NOT_FOUND"`, nil, nil},
		{"legacy_error_kind", `""`, nil, nil},
		{"legacy_error_kind", `7`, []pathRule{{"/legacy_error_kind", RuleType}}, nil},
		{"legacy_error_kind", `null`, []pathRule{{"/legacy_error_kind", RuleType}}, nil},
		{"retry_after_seconds", `4`, []pathRule{{"/retry_after_seconds", RulePlacement}}, nil},
		{"retry_after_seconds", `null`, []pathRule{{"/retry_after_seconds", RulePlacement}}, nil},
		{"anything", `null`, nil, nil},
		{"big", `123456789012345678901234567890`, nil, nil},
		{"_meta", `{}`, nil, nil},
		{"_meta", `null`, []pathRule{{"/_meta", RuleType}}, nil},
		{"_meta", `[]`, []pathRule{{"/_meta", RuleType}}, nil},
	} {
		t.Run(tc.member+"="+tc.value, func(t *testing.T) {
			j := c.Judge(Payload{Text: []byte(set(tc.member, tc.value))})
			assert.Equal(t, sortPathRules(tc.violations), pathRules(j.Violations))
			assert.Equal(t, sortPathRules(tc.advisories), pathRules(j.Advisories))
		})
	}
}

// TestTelemetry tries _meta (R78 to R101), on a success and on an envelope.
func TestTelemetry(t *testing.T) {
	c := newClassifier(t)
	events := func(s string) string { return `{"normalized":[` + s + `]}` }
	const at = "/_meta/normalized/0/"
	for _, tc := range []struct {
		meta       string
		violations []pathRule
	}{
		{events(`{"kind":"renamed","from":"a","to":"b"}`), nil},
		{events(`{"kind":"renamed","from":"a","to":"b","reason":"x","suggestions":[1]}`), nil},
		{events(`{"kind":"renamed"}`), []pathRule{{at + "from", RuleRequired}, {at + "to", RuleRequired}}},
		{events(`{"kind":"renamed","from":1,"to":null,"reason":2}`), []pathRule{{at + "from", RuleType}, {at + "to", RuleType}, {at + "reason", RuleType}}},
		{events(`{"kind":"renamed","from":"a","to":"b","field":7}`), nil},
		{events(`{"kind":"dropped_alias","from":"a"}`), []pathRule{{at + "canonical", RuleRequired}}},
		{events(`{"kind":"coerced"}`), []pathRule{{at + "field", RuleRequired}, {at + "from_type", RuleRequired}, {at + "to_type", RuleRequired}}},
		{events(`{"kind":"unknown_field_passed_through"}`), []pathRule{{at + "field", RuleRequired}}},
		{events(`{"kind":"unknown_field_rejected"}`), []pathRule{{at + "field", RuleRequired}}},
		{events(`{"kind":"unknown_field_dropped","reason":null}`), []pathRule{{at + "kind", RuleEnum}}},
		{events(`{"kind":"Renamed"}`), []pathRule{{at + "kind", RuleEnum}}},
		{events(`{"kind":7,"from":1}`), []pathRule{{at + "kind", RuleType}}},
		{events(`{"from":1}`), []pathRule{{at + "kind", RuleRequired}}},
		{events(`7`), []pathRule{{"/_meta/normalized/0", RuleType}}},
		{events(``), []pathRule{{"/_meta/normalized", RuleMinItems}}},
		{`{"normalized":null}`, []pathRule{{"/_meta/normalized", RuleType}}},
		{`{"normalized":{}}`, []pathRule{{"/_meta/normalized", RuleType}}},

		{`{"rate_limit":{"limit_per_second":0.5,"remaining":0,"reset_at":"x"}}`, nil},
		{`{"rate_limit":{"limit_per_second":"burst"}}`, nil},
		{`{"rate_limit":{"reset_at":""}}`, nil},
		{`{"rate_limit":{}}`, []pathRule{{"/_meta/rate_limit", RuleAtLeastOne}}},
		{`{"rate_limit":{"other":1}}`, []pathRule{{"/_meta/rate_limit", RuleAtLeastOne}}},
		{`{"rate_limit":{"remaining":null}}`, []pathRule{{"/_meta/rate_limit/remaining", RuleType}}},
		{`{"rate_limit":{"remaining":true,"limit_per_second":{},"reset_at":7}}`, []pathRule{{"/_meta/rate_limit/remaining", RuleType}, {"/_meta/rate_limit/limit_per_second", RuleType}, {"/_meta/rate_limit/reset_at", RuleType}}},
		{`{"rate_limit":{"remaining":-1e400}}`, []pathRule{{"/_meta/rate_limit/remaining", RuleNumberRange}}},
		{`{"rate_limit":null}`, []pathRule{{"/_meta/rate_limit", RuleType}}},
		{`{"rate_limit":[]}`, []pathRule{{"/_meta/rate_limit", RuleType}}},

		{`{"retry_after_seconds":0}`, nil},
		{`{"retry_after_seconds":1.5}`, nil},
		{`{"retry_after_seconds":-0.1}`, []pathRule{{"/_meta/retry_after_seconds", RuleMinimum}}},
		{`{"retry_after_seconds":-1e-400}`, []pathRule{{"/_meta/retry_after_seconds", RuleMinimum}}},
		{`{"retry_after_seconds":-0.` + strings.Repeat("0", 400) + `1}`, []pathRule{{"/_meta/retry_after_seconds", RuleMinimum}}},
		{`{"retry_after_seconds":-0.0}`, nil},
		{`{"retry_after_seconds":1e-400}`, nil},
		{`{"retry_after_seconds":-1e400}`, []pathRule{{"/_meta/retry_after_seconds", RuleNumberRange}}},
		{`{"retry_after_seconds":"5"}`, []pathRule{{"/_meta/retry_after_seconds", RuleType}}},
		{`{"retry_after_seconds":null}`, []pathRule{{"/_meta/retry_after_seconds", RuleType}}},

		{`{"warnings":[]}`, nil},
		{`{"warnings":[{"kind":"partial_results","summary":"","details":[1],"hints":[null],"more":1}]}`, nil},
		{`{"warnings":[{}]}`, []pathRule{{"/_meta/warnings/0/kind", RuleRequired}, {"/_meta/warnings/0/summary", RuleRequired}, {"/_meta/warnings/0/details", RuleRequired}, {"/_meta/warnings/0/hints", RuleRequired}}},
		{`{"warnings":[{"kind":1,"summary":null,"details":{},"hints":"x"}]}`, []pathRule{{"/_meta/warnings/0/kind", RuleType}, {"/_meta/warnings/0/summary", RuleType}, {"/_meta/warnings/0/details", RuleType}, {"/_meta/warnings/0/hints", RuleType}}},
		{`{"warnings":["x"]}`, []pathRule{{"/_meta/warnings/0", RuleType}}},
		{`{"warnings":null}`, []pathRule{{"/_meta/warnings", RuleType}}},
		{`{"warnings":[],"schema_branches":null,"com.example/vendor":[1],"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}`, nil},
	} {
		t.Run(tc.meta, func(t *testing.T) {
			for _, text := range []string{`{"_meta":` + tc.meta + `}`, `{"rows":[1],"_meta":` + tc.meta + `}`, set("_meta", tc.meta)} {
				j := c.Judge(Payload{Text: []byte(text)})
				assert.Equal(t, sortPathRules(tc.violations), pathRules(j.Violations), text)
				assert.True(t, j.Recognized, text)
				assert.Equal(t, len(tc.meta), j.MetaBytes)
			}
		})
	}
}

// TestMetaOfADeclaredEvent tries U46: what a sender that names the event may
// send under _meta.
func TestMetaOfADeclaredEvent(t *testing.T) {
	c := newClassifier(t)
	for _, tc := range []struct {
		text  string
		shape Shape
		rules []pathRule
	}{
		{`{"rows":[]}`, ShapeUnknown, nil},
		{`{"_meta":{}}`, ShapeMetaSuccess, nil},
		{`{"_meta":{"com.example/vendor":1,"traceparent":"x"}}`, ShapeMetaSuccess, nil},
		{`{"_meta":null}`, ShapeMetaSuccess, []pathRule{{"/_meta", RuleType}}},
		{`{"_meta":7}`, ShapeMetaSuccess, []pathRule{{"/_meta", RuleType}}},
	} {
		j := c.Judge(Payload{Text: []byte(tc.text), Event: EventResponseMeta})
		assert.Equal(t, tc.shape, j.Shape, tc.text)
		assert.Equal(t, sortPathRules(tc.rules), pathRules(j.Violations), tc.text)
		assert.False(t, j.HasNormalized)
	}
}

func TestWhatTelemetrySays(t *testing.T) {
	c := newClassifier(t)
	j := c.Judge(Payload{Text: []byte(`{"_meta": {"normalized": [ {"kind":"coerced","field":"a b","from_type":"str","to_type":"list"}, {"kind":"renamed","from":7,"to":""}, 5 ],
		"rate_limit":{"limit_per_second":"burst","remaining":0,"reset_at":"1777000000"},"retry_after_seconds":2.5,
		"warnings":[{"kind":"partial_results","summary":"s"},{"summary":7},3]}}`)})
	assert.True(t, j.HasNormalized)
	assert.Equal(t, []Normalization{
		{Kind: Some("coerced"), Field: Some("a b"), FromType: Some("str"), ToType: Some("list")},
		{Kind: Some("renamed"), To: Some("")},
	}, j.Normalized, "empty is not absent, and a wrong type is")
	compact := `"normalized":[{"kind":"coerced","field":"a b","from_type":"str","to_type":"list"},{"kind":"renamed","from":7,"to":""},5]`
	assert.Equal(t, Some(uint32(len(compact))), j.NormalizedBytes, "without blanks between tokens, with those in texts")
	assert.Equal(t, Some(RateLimit{
		LimitPerSecondText: Some("burst"), Remaining: Some(0.0), ResetAtText: Some("1777000000"),
		ResetAt: Some(time.Unix(1777000000, 0).UTC()),
	}), j.RateLimit)
	assert.Equal(t, Some(2.5), j.RetryAfterSeconds)
	assert.Equal(t, []Warning{{Kind: Some("partial_results"), Summary: Some("s")}, {}}, j.Warnings)

	j = c.Judge(Payload{Text: []byte(`{"_meta":{"normalized":null,"rate_limit":{"remaining":null},"retry_after_seconds":-1}}`)})
	assert.True(t, j.HasNormalized, "the key stands there")
	assert.Equal(t, Some(uint32(len(`"normalized":null`))), j.NormalizedBytes)
	assert.False(t, j.RateLimit.Set || j.RetryAfterSeconds.Set, "absent, not zero")

	j = c.Judge(Payload{Text: []byte(`{"_meta":{"normalized":[{"kind":"a\"\\ b"}], "x":1}}`)})
	assert.Equal(t, Some(uint32(len(`"normalized":[{"kind":"a\"\\ b"}]`))), j.NormalizedBytes, "a quote in a text")

	j = c.Judge(Payload{Text: []byte(validEnvelope)})
	assert.False(t, j.HasNormalized || j.NormalizedBytes.Set || j.RateLimit.Set || j.RetryAfterSeconds.Set)
	assert.Zero(t, j.MetaBytes)
	j = c.Judge(Payload{Text: []byte(set("retry_after_seconds", "4"))})
	assert.False(t, j.RetryAfterSeconds.Set, "a misplaced value is not used")
}

func TestWarningVocabularyIsTheServers(t *testing.T) {
	c := newClassifier(t)
	for _, tc := range []struct {
		kind     string
		declared Family
		listed   bool
	}{
		{"upstream_warning", FamilySP, true},
		{"upstream_warning", FamilyAds, true},
		{"upstream_warning", FamilyUnknown, true},
		{"profile_scope_warning", FamilyAds, true},
		{"profile_scope_warning", FamilySP, false},
		{"profile_scope_warning", FamilyUnknown, true},
		{"marketplace_not_enabled_for_identity", FamilySP, true},
		{"marketplace_not_enabled_for_identity", FamilyAds, false},
		{"marketplace_not_enabled_for_identity", FamilyOpenbridge, true},
		{"cached_or_stale_data", FamilySP, true},
		{"partial_results", FamilyAds, true},
		{"deprecated_parameter_accepted", FamilyAds, true},
		{"moon_phase", FamilyUnknown, false},
		{"", FamilyUnknown, false},
	} {
		j := c.Judge(Payload{Text: fmt.Appendf(nil, `{"_meta":{"warnings":[{"kind":%q,"summary":"","details":[],"hints":[]}]}}`, tc.kind), Family: tc.declared})
		assert.True(t, j.Valid)
		assert.Equal(t, tc.listed, len(j.Advisories) == 0, "%s from %s", tc.kind, tc.declared)
	}
}

func TestHygiene(t *testing.T) {
	c := newClassifier(t)
	j := c.Judge(Payload{Text: []byte(strings.TrimSuffix(validEnvelope, "}") + `,"error_kind":"auth_error","error_code":"AUTHENTICATION_ERROR","x":{"a":[{"b":1,"b":1e999}]}}`)})
	assert.Equal(t, Some("auth_error"), j.ErrorKind, "the last one counts")
	assert.Equal(t, []pathRule{{"/error_code", RuleDuplicateKey}, {"/error_kind", RuleDuplicateKey}, {"/x/a/0/b", RuleDuplicateKey}, {"/x/a/0/b", RuleNumberRange}}, pathRules(j.Violations))

	j = c.Judge(Payload{Text: []byte(`{"x":1,"x":1e999,"_meta":{"warnings":[]}}`)})
	assert.Equal(t, []pathRule{{"/x", RuleDuplicateKey}, {"/x", RuleNumberRange}}, pathRules(j.Violations), "hygiene is asked of the whole object")

	j = c.Judge(Payload{Text: []byte(`{"jsonrpc":"2.0","id":1e999,"a":1,"a":"\ud800","result":{"structuredContent":` + validEnvelope + `}}`)})
	assert.True(t, j.Valid, "the carrier's hygiene is not the payload's: %v", j.Violations)
	assert.Empty(t, j.Advisories)

	j = c.Judge(Payload{Text: []byte(set("tool", `"a\ud800\u0000b"`))})
	assert.True(t, j.Valid)
	assert.Equal(t, Some("a\ufffd\x00b"), j.Tool)
	assert.Equal(t, []pathRule{{"", RuleLoneSurrogate}}, pathRules(j.Advisories))
	j = c.Judge(Payload{Text: []byte(strings.TrimSuffix(validEnvelope, "}") + `,"\udc00":1}`)})
	assert.Equal(t, []pathRule{{"", RuleLoneSurrogate}}, pathRules(j.Advisories), "also in a name")
	j = c.Judge(Payload{Text: []byte(strings.TrimSuffix(validEnvelope, "}") + `,"\ud800":1,"\ud801":2}`)})
	assert.Empty(t, j.Violations, "two names that are stored alike are still two")
	assert.Equal(t, []pathRule{{"", RuleLoneSurrogate}}, pathRules(j.Advisories))
}

func TestNestedEnvelopes(t *testing.T) {
	c := newClassifier(t)
	details := func(issues ...string) string {
		rows := make([]string, len(issues))
		for i, issue := range issues {
			rows[i] = `{"path":"","received_type":"","issue":` + quoted(t, issue) + `}`
		}
		return set("details", "["+strings.Join(rows, ",")+"]")
	}
	inner := strings.NewReplacer("internal_error", "auth_error", "INTERNAL_ERROR", "AUTHENTICATION_ERROR").Replace(validEnvelope)
	for _, tc := range []struct {
		name string
		text string
		at   []string
		kind Optional[string]
	}{
		{"bare", details(inner), []string{"0"}, Some("auth_error")},
		{"behind text, second row", details("x", "RuntimeError: "+inner+" tail"), []string{"1"}, Some("auth_error")},
		{"two: the first is kept", details(inner, validEnvelope), []string{"0", "1"}, Some("auth_error")},
		{"byte-order mark", details("\ufeff" + inner), []string{"0"}, Some("auth_error")},
		{"kind that is no text", details(set("error_kind", "7")), []string{"0"}, Optional[string]{}},
		{"version 1.0", details(strings.Replace(inner, `version":1`, `version":1.0`, 1)), []string{"0"}, Some("auth_error")},
		{"version 2", details(strings.Replace(inner, `version":1`, `version":2`, 1)), nil, Optional[string]{}},
		{"version is text", details(strings.Replace(inner, `version":1`, `version":"1"`, 1)), nil, Optional[string]{}},
		{"kind and code alone", details(`{"error_kind":"x","error_code":"y"}`), nil, Optional[string]{}},
		{"a member lacks", details(drop("hints")), nil, Optional[string]{}},
		{"within json-rpc", `{"jsonrpc":"2.0","result":{"structuredContent":` + details(inner) + `}}`, []string{"0"}, Some("auth_error")},
		{"escaped brace", strings.Replace(details(inner), `{\"error_kind`, `\u007b\"error_kind`, 1), []string{"0"}, Some("auth_error")},
		{"cut off", details(inner[:50]), nil, Optional[string]{}},
		{"another object", details(`{"error_kind":"x"}`), nil, Optional[string]{}},
		{"a list of envelopes", details("[" + inner + "]"), nil, Optional[string]{}},
		{"no text", set("details", `[{"path":"","received_type":"","issue":{}},{"path":""}]`), nil, Optional[string]{}},
		{"details is an object", set("details", `{"issue":"{\"_envelope_version\":1}"}`), nil, Optional[string]{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			j := c.Judge(Payload{Text: []byte(tc.text)})
			want := []pathRule{}
			for _, at := range tc.at {
				want = append(want, pathRule{"/details/" + at + "/issue", RuleNestedEnvelope})
			}
			assert.Equal(t, want, pathRules(j.Advisories))
			assert.Equal(t, tc.kind, j.InnerErrorKind)
			assert.Equal(t, Some("internal_error"), j.ErrorKind, "the outer one is the record")
		})
	}
}

// TestMessagesNeverRepeatValues puts a mark into every value that can be wrong,
// and a megabyte of it into one (U37).
func TestMessagesNeverRepeatValues(t *testing.T) {
	c := newClassifier(t)
	const secret = "s3cr3t-value"
	for _, text := range []string{
		set("error_kind", `"`+secret+`"`), set("error_code", `"SCHEMA_`+secret+`"`), set("error_code", `"SP_API_HTTP_`+secret+`"`),
		set("error_code", `"`+secret+`"`), set("details", `{"`+secret+`":"`+secret+`"}`), set("hints", `[["`+secret+`"]]`),
		set("_meta", `{"normalized":[{"kind":"`+secret+`"}],"warnings":[{"kind":"`+secret+`"}],"rate_limit":{"x":"`+secret+`"}}`),
		set("_meta", `{"rate_limit":{"`+secret+`":"`+strings.Repeat(secret, 1<<17)+`"}}`),
		`{"error":{"code":"` + secret + `","message":7}}`, `{"error":{"code":"quota_exceeded","message":"m","reset_at":"` + secret + `"}}`,
		validEnvelope + secret, validEnvelope[:100] + secret, "ToolError: [some_code] " + secret,
	} {
		j := c.Judge(Payload{Text: []byte(text), Family: FamilyAds})
		findings := append(j.Violations, j.Advisories...)
		require.NotEmpty(t, findings, text[:min(len(text), 300)])
		for _, f := range findings {
			assert.NotContains(t, f.Message+f.Path+j.Hint, secret)
			assert.LessOrEqual(t, len(f.Message), MaxMessage)
			assert.True(t, strings.HasPrefix(f.Message, f.Path), "%s: a message says where", f.Message)
		}
	}
}
