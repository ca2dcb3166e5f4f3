package ingest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/classify"
	"github.com/soakgate/soakgate/schemas"
)

func TestMaybeOurs(t *testing.T) {
	for text, want := range map[string]bool{
		`{"level":"info","msg":"x"}`:                        false,
		`{"error":"connection reset","meta":{"attempt":3}}`: false,
		`{"error":null}`:                                    false,
		`{"error" : {"code":"x"}}`:                          true,
		"{\"_meta\"\n:\n{\"warnings\":[]}}":                 true,
		`{"_meta":null}`:                                    false,
		`{"data":[],"meta":{"source":"x"}}`:                 true,
		`{"jsonrpc":"2.0","result":{}}`:                     true,
		`cut short: {"error_kind":"inter`:                   true,
		`the "error_kind"`:                                  true,
		`error_kind`:                                        false,
		`{"\u0065rror_kind":1,"error_code":2}`:              true,
		`{'error_kind': 'x'}`:                               true,
		`{'a': 1}`:                                          false,
		"internal_error: it broke":                          true,
		"MontyRuntimeError: auth_error: no":                 true,
		"INFO: auth: no":                                    false,
		"Error calling tool 'x': boom":                      true,
		"fastmcp.exceptions.ToolError: boom":                true,
		"ERROR in GET: ValueError, then ToolError":          true,
		"ERROR in GET: MyToolErro":                          false,
		"[rate_limited] slow down":                          true,
		"[2026-12-01] started":                              false,
		"":                                                  false,
		`"`:                                                 false,
		`ends with "`:                                       false,
	} {
		assert.Equal(t, want, maybeOurs(text), text)
	}
}

func TestEveryKindIsKnown(t *testing.T) {
	taxonomy, err := schemas.LoadTaxonomy()
	require.NoError(t, err)
	require.NotEmpty(t, taxonomy.Kinds)
	for _, k := range taxonomy.Kinds {
		assert.True(t, isKind(k.Kind), k.Kind)
	}
}

// FuzzNothingOfOursPassesBy holds the search against classification: what the
// search lets go by, classification must have nothing to say of.
func FuzzNothingOfOursPassesBy(f *testing.F) {
	for _, s := range []string{
		envelope, "ToolError: " + envelope, `x {"error_kind":1,"error_code":2} y`, `{"a":"{\"error_kind\":1,\"error_code\":2}"}`,
		`{"error":{"code":"x","message":"m"}}`, `{"data":1,"meta":{"source":"s"},"pagination":{}}`, `{"_meta":{"rate_limit":{}}}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"m"}}`, "internal_error: x", "[auth_required] x", "\ufeff" + envelope,
		`{"\u0065rror_kind":1,"error_code":2}`, `{'error_kind': 1}`, "a.b: rate_limited: x", `Error calling tool 'x': `, `{"error"`, `"`,
	} {
		f.Add(s)
	}
	classifier, err := classify.New()
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text string) {
		if maybeOurs(text) {
			return
		}
		j := classifier.Judge(classify.Payload{Text: []byte(text), Family: classify.FamilyUnknown})
		assert.False(t, j.Recognized || j.Opaque, "%q is %s", text, j.Shape)
		for _, v := range j.Violations {
			// Nesting that is too deep to read is reported of whatever it is.
			assert.Equal(t, classify.RuleNestingDepth, v.Rule, "%q", text)
		}
	})
}
