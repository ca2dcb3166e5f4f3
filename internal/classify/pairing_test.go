package classify

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The contract's pairing, written a second time and by hand from its text (R54
// to R73), so that no change of the tables goes unnoticed.

var allKinds = []string{
	"mcp_input_validation", "tool_not_found", "sp_api_http", "ads_api_http", "sp_api_client",
	"ads_api_client", "auth_error", "rate_limited", "sandbox_runtime", "internal_error",
}

var schemaCodes = []string{
	"SCHEMA_TYPE_MISMATCH", "SCHEMA_REQUIRED", "SCHEMA_MAX_ITEMS", "SCHEMA_MIN_ITEMS", "SCHEMA_MAX_LENGTH",
	"SCHEMA_MIN_LENGTH", "SCHEMA_MAXIMUM", "SCHEMA_MINIMUM", "SCHEMA_ENUM_MISMATCH", "SCHEMA_PATTERN_MISMATCH",
	"SCHEMA_FORMAT_INVALID", "SCHEMA_ADDITIONAL_PROPERTIES", "SCHEMA_ONE_OF_FAILED", "SCHEMA_ANY_OF_FAILED",
	"SCHEMA_ALL_OF_FAILED", "SCHEMA_UNIQUE_ITEMS", "SCHEMA_CONST_MISMATCH", "SCHEMA_MULTIPLE_OF",
	"SCHEMA_VALIDATION_FAILED", "SCHEMA_IDENTITY_NOT_FOUND",
}

var httpCode = regexp.MustCompile(`^(SP_API|ADS_API|OPENBRIDGE)_HTTP_(.*)$`)

// pairingOf says what the contract says of a code: the kinds it goes with; or
// the rule that the code itself breaks; or neither, for an unlisted code.
func pairingOf(code string) (kinds []string, broken Rule) {
	switch code {
	case "INPUT_VALIDATION_FAILED":
		return []string{"mcp_input_validation"}, ""
	case "TOOL_NOT_FOUND":
		return []string{"tool_not_found"}, ""
	case "AUTHENTICATION_ERROR":
		return []string{"auth_error"}, ""
	case "INTERNAL_ERROR":
		return []string{"internal_error"}, ""
	case "TOOL_EXECUTION_FAILED", "BODY_COERCION_INVALID_JSON":
		return []string{"sp_api_client", "ads_api_client"}, ""
	case "RATE_LIMITED":
		return []string{"rate_limited"}, ""
	case "CODE_MODE_SANDBOX_LIMITATION":
		return []string{"sandbox_runtime"}, ""
	case "OAUTH_ERROR", "TOKEN_ERROR", "PERMISSION_DENIED":
		return nil, RuleReserved
	}
	if strings.HasPrefix(code, "SCHEMA_") {
		if slices.Contains(schemaCodes, code) {
			return []string{"mcp_input_validation"}, ""
		}
		return nil, RuleCodePattern
	}
	m := httpCode.FindStringSubmatch(code)
	if m == nil {
		return nil, ""
	}
	status, err := strconv.Atoi(m[2])
	switch {
	case err != nil || len(m[2]) != 3 || status < 400 || status > 599:
		return nil, RuleCodePattern
	case m[1] == "OPENBRIDGE":
		return []string{"sp_api_http", "sp_api_client", "auth_error", "rate_limited", "internal_error"}, ""
	case status == 429:
		return []string{"rate_limited"}, ""
	case status == 401 || status == 403:
		return []string{"auth_error"}, ""
	case m[1] == "SP_API":
		return []string{"sp_api_http"}, ""
	}
	return []string{"ads_api_http"}, ""
}

// everyCode lists each code of the contract and a good many that are none.
func everyCode() []string {
	codes := append([]string{
		"INPUT_VALIDATION_FAILED", "TOOL_NOT_FOUND", "AUTHENTICATION_ERROR", "INTERNAL_ERROR", "TOOL_EXECUTION_FAILED",
		"BODY_COERCION_INVALID_JSON", "RATE_LIMITED", "CODE_MODE_SANDBOX_LIMITATION", "OAUTH_ERROR", "TOKEN_ERROR",
		"PERMISSION_DENIED", "SCHEMA_", "SCHEMA_TYPO", "SCHEMA_type_mismatch", "schema_required", "STORAGE_UNAVAILABLE",
		"SANDBOX_RUNTIME_ERROR", "ACTIVE_IDENTITY_REQUIRED", "CONFIGURATION_ERROR", "TOOL_EXECUTION_ERROR", "AUTH_PERMISSION",
		"rate_limited", "RATE_LIMITED ", "", "SP_API_HTTP", "HTTP_404",
	}, schemaCodes...)
	for _, prefix := range []string{"SP_API_HTTP_", "ADS_API_HTTP_", "OPENBRIDGE_HTTP_"} {
		for status := 390; status <= 610; status++ {
			codes = append(codes, prefix+strconv.Itoa(status))
		}
		for _, tail := range []string{"", "42", "4290", "0429", "TIMEOUT", "NETWORK", "EXTERNAL_SERVICE", "NOT_FOUND", "4O4", "404 ", "-404", "+404", "٤٠٤"} {
			codes = append(codes, prefix+tail)
		}
	}
	return codes
}

func envelopeOf(kind, code string) []byte {
	return fmt.Appendf(nil, `{"error_kind":%q,"tool":"t","summary":"s","details":[],"hints":[],"examples":[],"error_code":%q,"retryable":false,"_envelope_version":1}`, kind, code)
}

func TestPairingOfEveryCodeWithEveryKind(t *testing.T) {
	c := newClassifier(t)
	var j Judgement
	for _, code := range everyCode() {
		kinds, broken := pairingOf(code)
		for _, kind := range append([]string{"precondition_failed", "RATE_LIMITED", ""}, allKinds...) {
			known := slices.Contains(allKinds, kind)
			want := []pathRule{}
			var advised []pathRule
			if broken != "" {
				want = append(want, pathRule{"/error_code", broken})
			}
			switch {
			case !known:
				want = append(want, pathRule{"/error_kind", RuleEnum})
			case kinds != nil && !slices.Contains(kinds, kind):
				want = append(want, pathRule{"/error_kind", RulePairing})
			case kinds == nil && broken == "" && kind == "tool_not_found":
				want = append(want, pathRule{"/error_kind", RulePairing})
			}
			if kinds == nil && broken == "" {
				advised = []pathRule{{"/error_code", RuleCodeUnlisted}}
			}
			c.JudgeInto(&j, Payload{Text: envelopeOf(kind, code)})
			require.Equal(t, sortPathRules(want), pathRules(j.Violations), "%s with %s", code, kind)
			require.Equal(t, sortPathRules(advised), pathRules(j.Advisories), "%s with %s", code, kind)
			require.Equal(t, len(want) == 0, j.Valid, "%s with %s", code, kind)
			require.Equal(t, !known, j.OffTaxonomy, "%s with %s", code, kind)
			require.Equal(t, kind, j.ErrorKind.Value, "kept verbatim")
			require.Equal(t, code, j.ErrorCode.Value, "kept verbatim")
		}
	}
}

func TestHTTPStatusComesFromRightCodesOnly(t *testing.T) {
	c := newClassifier(t)
	for _, tc := range []struct {
		code string
		want Optional[uint16]
	}{
		{"SP_API_HTTP_404", Some[uint16](404)},
		{"ADS_API_HTTP_599", Some[uint16](599)},
		{"OPENBRIDGE_HTTP_400", Some[uint16](400)},
		{"SP_API_HTTP_399", Optional[uint16]{}},
		{"ADS_API_HTTP_TIMEOUT", Optional[uint16]{}},
		{"RATE_LIMITED", Optional[uint16]{}},
	} {
		assert.Equal(t, tc.want, c.Judge(Payload{Text: envelopeOf("auth_error", tc.code)}).HTTPStatus, tc.code)
	}
}

// TestScope tries each declared server with values of each (R52, R53, R69).
func TestScope(t *testing.T) {
	c := newClassifier(t)
	kindAt, codeAt := pathRule{"/error_kind", RuleServerScope}, pathRule{"/error_code", RuleServerScope}
	for _, tc := range []struct {
		name       string
		declared   Family
		kind, code string
		family     Family
		scope      []pathRule
	}{
		{"sp at home", FamilySP, "sp_api_http", "SP_API_HTTP_404", FamilySP, nil},
		{"ads at home", FamilyAds, "ads_api_http", "ADS_API_HTTP_404", FamilyAds, nil},
		{"ads from sp", FamilySP, "ads_api_http", "ADS_API_HTTP_404", FamilySP, []pathRule{kindAt, codeAt}},
		{"sp from ads", FamilyAds, "sp_api_http", "SP_API_HTTP_404", FamilyAds, []pathRule{kindAt, codeAt}},
		{"sp client from ads", FamilyAds, "sp_api_client", "TOOL_EXECUTION_FAILED", FamilyAds, []pathRule{kindAt}},
		{"ads client from sp", FamilySP, "ads_api_client", "TOOL_EXECUTION_FAILED", FamilySP, []pathRule{kindAt}},
		{"openbridge code from ads", FamilyAds, "internal_error", "OPENBRIDGE_HTTP_500", FamilyAds, []pathRule{codeAt}},
		{"identity from ads", FamilyAds, "mcp_input_validation", "SCHEMA_IDENTITY_NOT_FOUND", FamilyAds, []pathRule{codeAt}},
		{"any ads code from sp", FamilySP, "internal_error", "ADS_SOMETHING", FamilySP, []pathRule{codeAt}},
		{"malformed code of the other", FamilyAds, "internal_error", "SP_API_HTTP_42", FamilyAds, []pathRule{codeAt}},
		{"shared kind and code", FamilyAds, "auth_error", "AUTHENTICATION_ERROR", FamilyAds, nil},
		{"openbridge has no scope", FamilyOpenbridge, "sp_api_http", "SP_API_HTTP_404", FamilyOpenbridge, nil},
		{"undeclared, inferred sp", FamilyUnknown, "sp_api_http", "SP_API_HTTP_404", FamilySP, nil},
		{"undeclared, inferred from the kind", FamilyUnknown, "ads_api_client", "TOOL_EXECUTION_FAILED", FamilyAds, nil},
		{"undeclared, inferred from the code", FamilyUnknown, "auth_error", "OPENBRIDGE_HTTP_401", FamilySP, nil},
		{"undeclared, inferred from the identity", FamilyUnknown, "mcp_input_validation", "SCHEMA_IDENTITY_NOT_FOUND", FamilySP, nil},
		{"undeclared, at odds", FamilyUnknown, "sp_api_http", "ADS_API_HTTP_404", FamilyUnknown, nil},
		{"undeclared, shared", FamilyUnknown, "internal_error", "INTERNAL_ERROR", FamilyUnknown, nil},
		{"undeclared, some ads code", FamilyUnknown, "internal_error", "ADS_SOMETHING", FamilyUnknown, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			j := c.Judge(Payload{Text: envelopeOf(tc.kind, tc.code), Family: tc.declared})
			assert.Equal(t, tc.family, j.Family)
			got := slices.DeleteFunc(pathRules(j.Violations), func(p pathRule) bool { return p.Rule != RuleServerScope })
			assert.Equal(t, sortPathRules(tc.scope), got)
		})
	}
}
