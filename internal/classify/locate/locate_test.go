package locate_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/classify/jsontape"
	"github.com/soakgate/soakgate/internal/classify/locate"
)

// naive is the extraction rule as it is written (R4): it parses anew at each
// '{', and so takes quadratic time.
func naive(text []byte) (start, end int, out locate.Outcome) {
	first := locate.SkipBlanks(text)
	if first == len(text) {
		return 0, 0, locate.Nothing
	}
	tape := new(jsontape.Tape)
	if text[first] != '{' {
		end, err := tape.Parse(text, first)
		switch {
		case errors.Is(err, jsontape.ErrDepth):
			return 0, 0, locate.TooDeep
		case err == nil && locate.Blank(text[end:]):
			return 0, 0, locate.Value
		}
	}
	for at := first; at < len(text); at++ {
		if text[at] != '{' {
			continue
		}
		end, err := tape.Parse(text, at)
		switch {
		case errors.Is(err, jsontape.ErrDepth):
			return 0, 0, locate.TooDeep
		case err != nil:
		case at == first && locate.Blank(text[end:]):
			return at, end, locate.Object
		case locate.Candidate(tape, 0):
			return at, end, locate.Embedded
		default:
			at = end - 1 // a complete object is skipped as a whole
		}
	}
	return 0, 0, locate.Nothing
}

func check(t *testing.T, s *locate.Scanner, text []byte) locate.Outcome {
	t.Helper()
	start, end, want := naive(text)
	p, got := s.Locate(text)
	require.Equal(t, want, got, "%q", text)
	if want == locate.Object || want == locate.Embedded {
		require.Equal(t, string(text[start:end]), string(p.Tape.Value(p.Root)), "%q", text)
		require.Equal(t, !locate.Blank(text[end:]), p.Trailing, "%q", text)
	}
	s.Release()
	return got
}

// fragments, put together at random, make texts in which parses fail late,
// overlap, and see each other's strings from outside.
var fragments = []string{
	`{`, `}`, `[`, `]`, `"`, `:`, `,`, ` `, `\`, `\"`, `{"a":`, `"b":1`, `"{`, `}"`, `{"_envelope_version":1}`, `"_envelope_version":1`,
	`{"error_kind":1,"error_code":2}`, `"error_kind":"{"`, `{}`, `null`, `7`, "\n", `{"a":"`, `","`, `x`,
}

func TestLocateIsTheNaiveRule(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	s := new(locate.Scanner)
	met := map[locate.Outcome]int{}
	for range 200_000 {
		var b strings.Builder
		for range r.IntN(14) {
			b.WriteString(fragments[r.IntN(len(fragments))])
		}
		met[check(t, s, []byte(b.String()))]++
	}
	for _, out := range []locate.Outcome{locate.Nothing, locate.Value, locate.Object, locate.Embedded} {
		assert.Greater(t, met[out], 100, "outcome %d", out)
	}
}

func FuzzLocate(f *testing.F) {
	for _, text := range []string{`x {"a":{"b":1},"c":"{"_envelope_version":1}`, `{"a":"{"b":{"_envelope_version":1}`, strings.Repeat(`{"a":`, 1100), `[1] {`} {
		f.Add([]byte(text))
	}
	s := new(locate.Scanner)
	f.Fuzz(func(t *testing.T, text []byte) { check(t, s, text) })
}

func TestPurports(t *testing.T) {
	for text, want := range map[string]bool{
		`the "error_kind"`:                        true,
		`{"_envelope_version":1`:                  true,
		`{"error_kind":"x"} and so on`:            false,
		`{"a":1} "error_kind"`:                    true,
		`{"error_kind":"x","details":[{"a":1}]`:   true,
		`{"a":[{"error_kind":"x"}]`:               false,
		`error_kind`:                              false,
		`{"\u0065rror_kind": oops`:                false,
		`{oops {"error_kind":1} "error_kind" {}`:  true,
		`{oops {"error_kind":1} {} "error_kin" {`: false,
	} {
		p, out := new(locate.Scanner).Locate([]byte(text))
		assert.Equal(t, locate.Nothing, out, text)
		assert.Equal(t, want, p.Purports, text)
	}
}

// TestLargeTapesAreLetGo holds that one large text does not stay in memory.
func TestLargeTapesAreLetGo(t *testing.T) {
	s := new(locate.Scanner)
	small := []byte(`{"a":1}`)
	allocated := func(text []byte) float64 {
		return testing.AllocsPerRun(10, func() {
			_, out := s.Locate(text)
			require.Equal(t, locate.Object, out)
			s.Release()
		})
	}
	assert.Zero(t, allocated(small), "a small tape is kept")
	large := []byte(`{"a":[` + string(bytes.Repeat([]byte("1,"), 1<<18)) + `1]}`)
	assert.NotZero(t, allocated(large), "a large one is not")
}
