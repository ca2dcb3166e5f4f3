package classify

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCapabilities(t *testing.T) {
	c := newClassifier(t)
	const declaration = `{"contract_version":1,"error_kinds":["auth_error"]}`
	want := Capabilities{ContractVersion: Some[int64](1), ErrorKinds: []string{"auth_error"}}
	full := Capabilities{
		ContractVersion: Some[int64](1), ErrorKinds: []string{"auth_error", "precondition_failed"}, NormalizedKinds: []string{"renamed"},
		NormalizationMeta: Some(false), StrictUnknownFields: Some(true), Tools: []string{"a", "b"}, SpecURL: Some("u"),
	}
	for _, tc := range []struct {
		name  string
		text  string
		want  Capabilities
		rules []pathRule
	}{
		{"declaration", `{"openbridge_envelope":` + declaration + `}`, want, nil},
		{"contract tool", declaration, want, nil},
		{"unknown members", `{"x":1,"openbridge_envelope":{"contract_version":1,"error_kinds":["auth_error"],"y":null}}`, want, nil},
		{"structured content", `{"jsonrpc":"2.0","result":{"structuredContent":` + declaration + `}}`, want, nil},
		{"content text", `{"jsonrpc":"2.0","result":{"content":[{"text":` + quoted(t, declaration) + `}]}}`, want, nil},
		{
			"everything, and a kind outside the taxonomy",
			`{"openbridge_envelope":{"contract_version":1,"error_kinds":["auth_error","precondition_failed"],"normalized_kinds":["renamed"],"spec_url":"u"},` +
				`"env_vars":{"MCP_SCHEMA_KEY_NORMALIZATION_META":{"default":false},"MCP_STRICT_UNKNOWN_FIELDS":{"default":true}},"tools":["a","b"]}`,
			full,
			[]pathRule{{"/openbridge_envelope/error_kinds/1", RuleEnum}},
		},
		{
			"contract tool, of wrong types", `{"contract_version":"1","error_kinds":["auth_error",7],"tools":{},"env_vars":{"MCP_SCHEMA_KEY_NORMALIZATION_META":{"default":"no"},"MCP_STRICT_UNKNOWN_FIELDS":7}}`,
			Capabilities{ErrorKinds: []string{"auth_error"}},
			[]pathRule{
				{"/contract_version", RuleType},
				{"/error_kinds/1", RuleType},
				{"/tools", RuleType},
				{"/env_vars/MCP_SCHEMA_KEY_NORMALIZATION_META/default", RuleType},
				{"/env_vars/MCP_STRICT_UNKNOWN_FIELDS", RuleType},
			},
		},
		{"version 2", `{"contract_version":2,"error_kinds":[]}`, Capabilities{ContractVersion: Some[int64](2)}, []pathRule{{"/contract_version", RuleConst}}},
		{"no kinds", `{"openbridge_envelope":{"contract_version":1}}`, Capabilities{ContractVersion: Some[int64](1)}, []pathRule{{"/openbridge_envelope/error_kinds", RuleRequired}}},
		{"no object", `{"openbridge_envelope":7}`, Capabilities{}, []pathRule{{"/openbridge_envelope", RuleType}}},
		{"repeated", `{"contract_version":2,"contract_version":1,"error_kinds":["auth_error"]}`, want, []pathRule{{"/contract_version", RuleDuplicateKey}}},
		{"env_vars of a wrong type", `{"contract_version":1,"error_kinds":["auth_error"],"env_vars":[]}`, want, []pathRule{{"/env_vars", RuleType}}},
		{"a variable without default", `{"contract_version":1,"error_kinds":["auth_error"],"env_vars":{"MCP_STRICT_UNKNOWN_FIELDS":{}}}`, want, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, findings, err := c.ParseCapabilities([]byte(tc.text))
			require.NoError(t, err)
			assert.Equal(t, tc.want, got)
			assert.Equal(t, sortPathRules(tc.rules), pathRules(findings))
		})
	}
	for name, text := range map[string]string{
		"nothing":           "",
		"text":              "hello",
		"list":              "[1]",
		"other object":      `{"a":1}`,
		"cut":               `{"openbridge_envelope":{`,
		"goes on":           declaration + " x",
		"too long":          declaration + strings.Repeat(" ", MaxPayload),
		"text in a message": `{"jsonrpc":"2.0","result":{"content":[{"text":"none"}]}}`,
		"no result":         `{"jsonrpc":"2.0","result":{}}`,
	} {
		_, _, err := c.ParseCapabilities([]byte(text))
		require.ErrorContains(t, err, "read capabilities", name)
	}
	_, _, err := c.ParseCapabilities([]byte(`{"a":1}`))
	assert.ErrorIs(t, err, ErrNoCapabilities)
}

func TestParseConformance(t *testing.T) {
	const items = `{"1":"pass","2":"fail","3":"pass","4":"pass","5":"not_tested","6":"pass"}`
	whole := `{"summary":{"payloads":3,"conforming":1,"violating":1,"unrecognized":1,"items":` + items + `,"suite_version":"1.0.0","more":1}}`
	s, err := ParseConformance([]byte(whole))
	require.NoError(t, err)
	assert.Equal(t, Summary{3, 1, 1, 1, map[string]ItemResult{"1": ItemPass, "2": ItemFail, "3": ItemPass, "4": ItemPass, "5": ItemNotTested, "6": ItemPass}, "1.0.0"}, s)

	for name, tc := range map[string]struct{ old, with, says string }{
		"no JSON":         {whole, "x", "read a conformance summary"},
		"no summary":      {`"summary"`, `"sum"`, "expected"},
		"no count":        {`"violating":1,`, "", "expected"},
		"count as text":   {`"payloads":3`, `"payloads":"3"`, "read a conformance summary"},
		"no version":      {`"suite_version":"1.0.0",`, "", "expected"},
		"goes on":         {`1}}`, `1}} x`, "nothing after it"},
		"second object":   {`1}}`, `1}}{}`, "nothing after it"},
		"does not add up": {`"payloads":3`, `"payloads":4`, "are not 4 payloads"},
		"negative":        {`"payloads":3,"conforming":1,"violating":1,"unrecognized":1`, `"payloads":1,"conforming":1,"violating":1,"unrecognized":-1`, "are not"},
		"unknown item":    {`"6"`, `"7"`, "named 1 to 6"},
		"long item":       {`"6"`, `"66"`, "named 1 to 6"},
		"item lacks":      {`,"6":"pass"`, "", "5 of 6 items"},
		"unknown result":  {`"fail"`, `"passed"`, "item 2 is neither"},
		"no items":        {items, "null", "0 of 6 items"},
		"too long":        {`1}}`, `1}}` + strings.Repeat(" ", maxSummary), "at most"},
	} {
		require.Contains(t, whole, tc.old, name)
		_, err := ParseConformance([]byte(strings.Replace(whole, tc.old, tc.with, 1)))
		assert.ErrorContains(t, err, tc.says, name)
	}
}
