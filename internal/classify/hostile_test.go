package classify

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// with replaces examples in a valid envelope.
func withExamples(examples string) string {
	return `{"error_kind":"internal_error","tool":"t","summary":"s","details":[],"hints":[],"examples":` + examples +
		`,"error_code":"INTERNAL_ERROR","retryable":false,"_envelope_version":1}`
}

func nested(levels int) string {
	return strings.Repeat("[", levels) + strings.Repeat("]", levels)
}

func TestDepthAndSize(t *testing.T) {
	c := newClassifier(t)
	for _, tc := range []struct {
		name       string
		text       string
		recognized bool
		violations []pathRule
	}{
		{"200 levels", withExamples(nested(199)), true, nil},
		{"1,000 levels", withExamples(nested(999)), true, nil},
		{"1,001 levels", withExamples(nested(1000)), false, []pathRule{{"", RuleNestingDepth}}},
		{"100,000 levels", withExamples(nested(100_000)), false, []pathRule{{"", RuleNestingDepth}}},
		{"100,000 levels, never closed", withExamples(strings.Repeat(`[`, 100_000)), false, []pathRule{{"", RuleNestingDepth}}},
		{"10,000 objects deep", withExamples(strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000)), false, []pathRule{{"", RuleNestingDepth}}},
		{"a deep list that is no envelope", nested(100_000), false, []pathRule{{"", RuleNestingDepth}}},
		{"deep, behind a prefix", "ToolError: " + withExamples(nested(100_000)), false, []pathRule{{"", RuleNestingDepth}}},
		{"1 MiB", withExamples(`["` + strings.Repeat("x", 1<<20) + `"]`), true, nil},
		{"16 MiB", withExamples(`["` + strings.Repeat("x", MaxPayload-300) + `"]`), true, nil},
		{"more than 16 MiB", withExamples(`["` + strings.Repeat("x", MaxPayload) + `"]`), false, []pathRule{{"", RuleInvalidJSON}}},
		{"64 MiB", withExamples(`["` + strings.Repeat("x", 64<<20) + `"]`), false, []pathRule{{"", RuleInvalidJSON}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			j := c.Judge(Payload{Text: []byte(tc.text)})
			assert.Equal(t, tc.recognized, j.Recognized)
			assert.Equal(t, sortPathRules(tc.violations), pathRules(j.Violations))
		})
	}
}

// hostile makes texts of about n bytes that are costly to judge badly.
var hostile = map[string]func(n int) string{
	"opening braces":              func(n int) string { return strings.Repeat("{", n) },
	"objects never closed":        func(n int) string { return strings.Repeat(`x{"a":[`, n/7) },
	"a member before each brace":  func(n int) string { return strings.Repeat(`{"a":1,"b":`, n/11)[:n/11*11] + "?" },
	"braces in a cut string":      func(n int) string { return `{"a":"` + strings.Repeat("{ ", n/2) },
	"quotes and braces":           func(n int) string { return strings.Repeat(`{"`, n/2) },
	"objects in failing objects":  func(n int) string { return strings.Repeat(`{"a":{"b":1},"c":"{\"d\":1}" `, n/29) },
	"strings of objects, failing": func(n int) string { return strings.Repeat(`{"a":"{"b":"`, n/12) },
	"small objects":               func(n int) string { return strings.Repeat(`{}`, n/2) + "x" },
	"a long list, then text":      func(n int) string { return "[" + strings.Repeat("1,", n/2) + "1] x" },
	"blanks between objects":      func(n int) string { return strings.Repeat("{} ", n/3) },
	"wrong hints":                 func(n int) string { return badEnvelope(`"hints":[` + strings.Repeat("1,", n/2) + `1]`) },
	"wrong rows":                  func(n int) string { return badEnvelope(`"details":[` + strings.Repeat("{},", n/3) + `{}]`) },
	"wrong events": func(n int) string {
		return `{"_meta":{"normalized":[` + strings.Repeat(`{"kind":"x"},`, n/13) + `{}]}}`
	},
	"right events": func(n int) string {
		return `{"_meta":{"normalized":[` + strings.Repeat(`{"kind":"renamed","from":"a","to":"b"},`, n/40) + `{}]}}`
	},
	"unlisted warnings":            func(n int) string { return `{"_meta":{"warnings":[` + strings.Repeat(`{"kind":"x"},`, n/13) + `{}]}}` },
	"one name a thousand times":    func(n int) string { return badEnvelope(`"a":{` + strings.Repeat(`"k":1,`, n/6) + `"k":1}`) },
	"names that are all different": func(n int) string { return badEnvelope(`"a":{` + differentNames(n/12) + `"k":1}`) },
	"numbers beyond a double":      func(n int) string { return badEnvelope(`"a":[` + strings.Repeat("1e999,", n/6) + `1]`) },
	"one long number":              func(n int) string { return badEnvelope(`"a":` + strings.Repeat("7", n)) },
	"a huge exponent":              func(int) string { return badEnvelope(`"_envelope_version":1e-999999999`) },
	"number values": func(n int) string {
		return `{"meta":{"source":"s"},"data":[` + strings.Repeat(`{"value":1,"unit":"u"},`, n/23) + `1]}`
	},
	"null lines": func(n int) string {
		return `{"meta":{"source":"s"},"data":{"lines":[` + strings.Repeat(`null,`, n/5) + `1]}}`
	},
	"envelopes in issues": func(n int) string {
		return badEnvelope(`"details":[` + strings.Repeat(`{"issue":"{\"_envelope_version\":1}"},`, n/38) + `1]`)
	},
	"braces in an issue": func(n int) string {
		return badEnvelope(`"details":[{"issue":"` + strings.Repeat(`{\"a\":`, n/7) + `"}]`)
	},
	"escapes": func(n int) string { return badEnvelope(`"summary":"` + strings.Repeat(`\ud800`, n/6) + `"`) },
	"one long name, twice": func(n int) string {
		return badEnvelope(`"` + strings.Repeat("n", n/2) + `":1,"` + strings.Repeat("n", n/2) + `":1`)
	},
	"prefixes":        func(n int) string { return strings.Repeat("ToolError: ", n/11) },
	"one long prefix": func(n int) string { return strings.Repeat("A", n) + ": " },
	"an agent error":  func(n int) string { return "[rate_limited] " + strings.Repeat("Retry after ", n/12) },
	"text":            func(n int) string { return strings.Repeat("nothing of ours ", n/16) },
}

func badEnvelope(members string) string { return `{"_envelope_version":2,` + members + `}` }

func differentNames(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"n%07d":0,`, i)
	}
	return b.String()
}

// TestHostileTextsStayCheap holds that findings are bounded and that memory
// stays within a small multiple of the payload. The multiple is the tape's: 28
// bytes a value, of which the shortest takes two bytes with its comma, and what
// growing a slice leaves behind.
func TestHostileTextsStayCheap(t *testing.T) {
	const size, multiple, constant = 1 << 20, 32, 4 << 20
	c := newClassifier(t)
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			p := Payload{Text: []byte(text(size))}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			j := c.Judge(p)
			runtime.ReadMemStats(&after)
			assert.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(multiple*len(p.Text)+constant), "bytes allocated in all")
			assert.LessOrEqual(t, len(j.Violations), MaxFindings)
			assert.LessOrEqual(t, len(j.Advisories), MaxFindings)
			assert.LessOrEqual(t, len(j.Normalized), MaxRows)
			checkFindings(t, j)
		})
	}
}

// TestTimeIsLinear judges each hostile text at one size and at 64 times that
// size. A quadratic step makes the second 4,096 times slower; the bound of 1,000
// leaves room for caches, the collector of garbage and a busy machine.
func TestTimeIsLinear(t *testing.T) {
	const small, factor, bound = 16 << 10, 64, 1000
	c := newClassifier(t)
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			a, b := Payload{Text: []byte(text(small))}, Payload{Text: []byte(text(small * factor))}
			short, long := fastest(c, a), fastest(c, b)
			assert.Less(t, long, bound*max(short, 20*time.Microsecond), "%s for the small text, %s for the large", short, long)
		})
	}
}

// fastest is the least of three times.
func fastest(c *Classifier, p Payload) time.Duration {
	least := time.Hour
	for range 3 {
		start := time.Now()
		c.Judge(p)
		least = min(least, time.Since(start))
	}
	return least
}

func TestWhatIsCutIsCounted(t *testing.T) {
	c := newClassifier(t)
	j := c.Judge(Payload{Text: []byte(hostile["right events"](200_000))})
	assert.Len(t, j.Normalized, MaxRows)
	assert.Equal(t, 200_000/40+1-MaxRows, j.Cut.Normalized)

	j = c.Judge(Payload{Text: []byte(`{"_meta":{"warnings":[` + strings.Repeat(`{"kind":"x","summary":"s","details":[],"hints":[]},`, 4999) + `{"kind":"upstream_warning","summary":"s","details":[],"hints":[]}]}}`)})
	assert.True(t, j.Valid)
	assert.Len(t, j.Warnings, MaxRows)
	assert.Equal(t, 4000, j.Cut.Warnings)
	assert.Len(t, j.Advisories, MaxFindings)
	assert.Equal(t, 4999-MaxFindings, j.Cut.Advisories)

	j = c.Judge(Payload{Text: []byte(`{"_meta":{"normalized":[` + strings.Repeat(`{"kind":"coerced"},`, 99) + `{"kind":"coerced"}]}}`)})
	require.False(t, j.Valid)
	assert.Len(t, j.Violations, MaxFindings)
	assert.Equal(t, 300-MaxFindings, j.Cut.Violations, "three members lack in each of a hundred events")
}

// TestLongPathsEndAtAnAncestor holds that no pointer is cut within a token.
func TestLongPathsEndAtAnAncestor(t *testing.T) {
	c := newClassifier(t)
	long := strings.Repeat("k", 400)
	j := c.Judge(Payload{Text: []byte(`{"_meta":{"normalized":[{"kind":"renamed","from":"a","to":"b"}]},"top":{"` + long + `":{"` + long + `":1e999}}}`)})
	assert.Equal(t, []pathRule{{"/top/" + long, RuleNumberRange}}, pathRules(j.Violations))
	j = c.Judge(Payload{Text: []byte(`{"_meta":{"warnings":[]},"` + long + long + `":1e999}`)})
	assert.Equal(t, []pathRule{{"", RuleNumberRange}}, pathRules(j.Violations))
}
