package classify

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fixture is one line of testdata/cases.jsonl.
type fixture struct {
	ID            string            `json:"id"`
	Note          string            `json:"note"`
	Wire          json.RawMessage   `json:"wire"`
	Carrier       string            `json:"carrier"`
	Resource      map[string]string `json:"resource"`
	ExceptionType *string           `json:"exception_type"`
	Expect        expectation       `json:"expect"`
}

type pathRule struct {
	Path string `json:"path"`
	Rule Rule   `json:"rule"`
}

type expectation struct {
	Recognized      bool           `json:"recognized"`
	Shape           Shape          `json:"shape"`
	Valid           bool           `json:"valid"`
	Violations      []pathRule     `json:"violations"`
	Advisories      []pathRule     `json:"advisories"`
	ErrorKind       *string        `json:"error_kind"`
	ErrorCode       *string        `json:"error_code"`
	Retryable       *bool          `json:"retryable"`
	ServerFamily    Family         `json:"server_family"`
	NormalizedKinds []string       `json:"normalized_kinds"`
	RateLimit       map[string]any `json:"rate_limit"`
	RetryAfter      *float64       `json:"retry_after_seconds"`
	WarningsKinds   []string       `json:"warnings_kinds"`
	OffTaxonomy     bool           `json:"off_taxonomy"`
	InnerErrorKind  *string        `json:"inner_error_kind"`
	InnerErrorCode  *string        `json:"inner_error_code"`
	Lenient         []string       `json:"lenient"`
	Notes           string         `json:"notes"`
}

// payload is what the fixture's carrier hands to the classifier.
func (f fixture) payload(t *testing.T) Payload {
	t.Helper()
	p := Payload{Text: f.Wire, Family: map[string]Family{
		"amazon_sp_mcp": FamilySP, "amazon_ads_mcp": FamilyAds, "openbridge_mcp": FamilyOpenbridge,
	}[f.Resource["service.name"]]}
	var text string
	if json.Unmarshal(f.Wire, &text) == nil {
		p.Text = []byte(text)
	} else {
		var compact bytes.Buffer
		require.NoError(t, json.Compact(&compact, f.Wire))
		p.Text = compact.Bytes()
	}
	if f.Carrier == "span_exception" {
		p.ToolError = f.ExceptionType == nil || strings.HasSuffix(*f.ExceptionType, "ToolError")
	}
	return p
}

func readFixtures(t testing.TB) []fixture {
	t.Helper()
	file, err := os.Open("testdata/cases.jsonl")
	require.NoError(t, err)
	defer file.Close()
	var out []fixture
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		d.DisallowUnknownFields() // an expectation that nobody compares must not pass
		var f fixture
		require.NoError(t, d.Decode(&f))
		out = append(out, f)
	}
	require.NoError(t, lines.Err())
	return out
}

func newClassifier(t testing.TB) *Classifier {
	t.Helper()
	c, err := New()
	require.NoError(t, err)
	return c
}

func pathRules(findings []Finding) []pathRule {
	out := []pathRule{}
	for _, f := range findings {
		out = append(out, pathRule{f.Path, f.Rule})
	}
	slices.SortFunc(out, func(a, b pathRule) int {
		return strings.Compare(a.Path+"\x00"+string(a.Rule), b.Path+"\x00"+string(b.Rule))
	})
	return out
}

func pointerTo[T any](o Optional[T]) *T {
	if !o.Set {
		return nil
	}
	return &o.Value
}

// told is a judgement in the form of an expectation.
func told(j Judgement) expectation {
	e := expectation{
		Recognized: j.Recognized, Shape: j.Shape, Valid: j.Valid,
		Violations: pathRules(j.Violations), Advisories: pathRules(j.Advisories),
		ErrorKind: pointerTo(j.ErrorKind), ErrorCode: pointerTo(j.ErrorCode), Retryable: pointerTo(j.Retryable),
		ServerFamily: j.Family, NormalizedKinds: []string{}, RetryAfter: pointerTo(j.RetryAfterSeconds),
		WarningsKinds: []string{}, OffTaxonomy: j.OffTaxonomy,
		InnerErrorKind: pointerTo(j.InnerErrorKind), InnerErrorCode: pointerTo(j.InnerErrorCode),
	}
	for _, n := range j.Normalized {
		if n.Kind.Set {
			e.NormalizedKinds = append(e.NormalizedKinds, n.Kind.Value)
		}
	}
	for _, w := range j.Warnings {
		if w.Kind.Set {
			e.WarningsKinds = append(e.WarningsKinds, w.Kind.Value)
		}
	}
	if j.RateLimit.Set {
		e.RateLimit = rateLimitMembers(j.RateLimit.Value)
	}
	return e
}

func rateLimitMembers(r RateLimit) map[string]any {
	out := map[string]any{}
	for name, o := range map[string]Optional[float64]{"limit_per_second": r.LimitPerSecond, "remaining": r.Remaining} {
		if o.Set {
			out[name] = o.Value
		}
	}
	for name, o := range map[string]Optional[string]{"limit_per_second": r.LimitPerSecondText, "remaining": r.RemainingText, "reset_at": r.ResetAtText} {
		if o.Set {
			out[name] = o.Value
		}
	}
	return out
}

func TestFixtures(t *testing.T) {
	c := newClassifier(t)
	fixtures := readFixtures(t)
	require.Len(t, fixtures, 45)
	for _, f := range fixtures {
		t.Run(f.ID, func(t *testing.T) {
			require.Empty(t, f.Expect.Lenient, "compare all of it")
			want := f.Expect
			want.Violations = sortPathRules(want.Violations)
			want.Advisories = sortPathRules(want.Advisories)
			want.Notes = ""
			assert.Equal(t, want, told(c.Judge(f.payload(t))), f.Note)
		})
	}
}

func sortPathRules(in []pathRule) []pathRule {
	findings := make([]Finding, len(in))
	for i, p := range in {
		findings[i] = Finding{Path: p.Path, Rule: p.Rule}
	}
	return pathRules(findings)
}
