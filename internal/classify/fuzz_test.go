package classify

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/classify/jsontape"
)

func seeds(f *testing.F) [][]byte {
	f.Helper()
	var out [][]byte
	for _, each := range readFixtures(f) {
		out = append(out, each.Wire)
		var text string
		if json.Unmarshal(each.Wire, &text) == nil {
			out = append(out, []byte(text))
		}
	}
	files, err := filepath.Glob(filepath.Join(examples, "*", "*", "*.*"))
	require.NoError(f, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		out = append(out, text)
	}
	return append(out, []byte(benchEnvelope), []byte(benchMeta), []byte(`{"a":"{"_envelope_version":1}`),
		[]byte(`{"x":1,"x":{"error_kind":1,"error_code":2}} {"error_kind":"\u0000\ud800","error_code":1e999}`))
}

// FuzzJudge holds the invariants of recognition and judgement. For every text,
// family and event:
//   - Judge returns, and twice the same, also into a used Judgement;
//   - Valid is Recognized without violations, and what is not recognised says
//     nothing but what made it unreadable;
//   - a valid payload passes the library's schema, parsed by the library's own
//     parser, unless it has numbers of more than 15 digits or with an exponent:
//     those are read as doubles here, and exactly there;
//   - what the fast path accepts the library accepts, and the findings are the
//     same when every payload is put through the library;
//   - findings are bounded, sorted, unique, and repeat no value of the payload;
//   - every string is valid UTF-8, and the input is left as it was.
//
// That time is linear in the size is TestTimeIsLinear's.
func FuzzJudge(f *testing.F) {
	for _, text := range seeds(f) {
		f.Add(text, uint8(0), uint8(0))
		f.Add(text, uint8(1), uint8(5))
	}
	c := newClassifier(f)
	var used Judgement
	f.Fuzz(func(t *testing.T, text []byte, family, event uint8) {
		p := Payload{
			Text:      text,
			Family:    []Family{FamilyUnknown, FamilySP, FamilyAds, FamilyOpenbridge, FamilyAgentAPI, ""}[family%6],
			Event:     []Event{EventUnnamed, EventErrorEnvelope, EventResponseMeta, EventToolCall}[event%4],
			ToolError: event&4 != 0,
		}
		before := bytes.Clone(text)
		j := c.Judge(p)
		c.JudgeInto(&used, p)
		require.Equal(t, before, text)
		require.Equal(t, normalise(j), normalise(used), "the same payload, the same judgement")
		checkShape(t, j)
		checkFindings(t, j)
		checkAgainstLibrary(t, c, j)
	})
}

// normalise makes nil and empty slices equal.
func normalise(j Judgement) Judgement {
	j.Violations, j.Advisories = append([]Finding{}, j.Violations...), append([]Finding{}, j.Advisories...)
	j.Normalized, j.Warnings = append([]Normalization{}, j.Normalized...), append([]Warning{}, j.Warnings...)
	return j
}

func checkShape(t *testing.T, j Judgement) {
	t.Helper()
	require.Equal(t, j.Recognized && len(j.Violations) == 0, j.Valid)
	require.Equal(t, j.Recognized, j.Shape != ShapeUnknown)
	require.Equal(t, j.Recognized, j.Object != nil)
	require.NotEmpty(t, j.Family)
	require.False(t, j.MistypedKind && j.ErrorKind.Set)
	require.LessOrEqual(t, j.OffEvents, j.Events)
	require.LessOrEqual(t, len(j.Normalized)+j.Cut.Normalized, j.Events)
	if j.Recognized {
		require.False(t, j.Opaque)
		require.Empty(t, j.Hint)
		return
	}
	require.False(t, j.MistypedKind || j.Events > 0 || j.ErrorKind.Set || j.ErrorCode.Set || j.Tool.Set || j.HasNormalized || j.OffTaxonomy)
	require.False(t, j.Opaque && len(j.Violations) > 0, "unreadable or opaque, not both")
	for _, v := range j.Violations {
		require.Contains(t, []Rule{RuleInvalidJSON, RuleNestingDepth}, v.Rule)
	}
}

func checkFindings(t *testing.T, j Judgement) {
	t.Helper()
	for _, list := range [][]Finding{j.Violations, j.Advisories} {
		require.LessOrEqual(t, len(list), MaxFindings)
		for i, v := range list {
			require.LessOrEqual(t, len(v.Message), MaxMessage)
			require.LessOrEqual(t, len(v.Path), MaxPath)
			require.NotEmpty(t, v.Message)
			require.True(t, utf8.ValidString(v.Path) && utf8.ValidString(v.Message))
			require.True(t, v.Path == "" || v.Path[0] == '/', v.Path)
			require.True(t, strings.HasPrefix(v.Message, v.Path), "a message says where")
			require.True(t, i == 0 || list[i-1].Path < v.Path || (list[i-1].Path == v.Path && list[i-1].Rule < v.Rule))
		}
	}
	for _, s := range []Optional[string]{j.ErrorKind, j.ErrorCode, j.Tool, j.LegacyErrorKind, j.InnerErrorKind, j.InnerErrorCode} {
		require.True(t, utf8.ValidString(s.Value))
	}
}

// checkAgainstLibrary parses the recognised object with the library's parser
// and judges it by the library alone.
func checkAgainstLibrary(t *testing.T, c *Classifier, j Judgement) {
	t.Helper()
	schema := map[Shape]*judge{
		ShapeEnvelope: &c.envelope, ShapeMetaSuccess: &c.meta, ShapeAgentSuccess: &c.agentSuccess, ShapeAgentError: &c.agentError,
	}[j.Shape]
	if schema == nil || j.Object[0] != '{' { // a rendered agent error has no object
		return
	}
	var tape jsontape.Tape
	_, err := tape.Parse(j.Object, 0)
	require.NoError(t, err)
	if len(tape.OutOfRange) > 0 {
		require.False(t, j.Valid)
		return
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(j.Object))
	require.NoError(t, err, "what is recognised is JSON")
	if hasHugeNumber(j.Object) {
		return
	}
	whole := findingsOf(schema.slow.Validate(doc), func(at []string) []string { return at })
	require.Equal(t, len(whole) == 0, schema.fast.Accepts(&tape, 0), "the fast path and the library: %v", whole)
	require.False(t, j.Valid && len(whole) > 0, "valid, and the library says %v", whole)
	if len(whole) < MaxFindings {
		pruned := schema.findings(&tape, 0)
		require.Equal(t, pathRules(whole), pathRules(pruned), "a pruned instance gives the same findings")
		for _, v := range pathRules(whole) {
			require.True(t, j.Cut.Violations > 0 || slices.Contains(pathRules(j.Violations), v), "%v is reported", v)
		}
	}
}

// hasHugeNumber tells whether b has an exponent or many digits: the library's
// own parser keeps numbers as text and computes with exact fractions, for which
// 1e308 is slow and 1e-999999999 does not end, and for which numbers that are
// one double differ.
func hasHugeNumber(b []byte) bool {
	digits := 0
	for i, c := range b {
		if c >= '0' && c <= '9' {
			if digits++; digits > 15 {
				return true
			}
			continue
		}
		if (c == 'e' || c == 'E') && digits > 0 && i+1 < len(b) && (b[i+1] == '-' || b[i+1] == '+' || (b[i+1] >= '0' && b[i+1] <= '9')) {
			return true
		}
		if c != '.' && c != '-' {
			digits = 0
		}
	}
	return false
}
