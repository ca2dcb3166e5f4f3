package jsontape_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/classify/jsontape"
)

func parse(t testing.TB, text string) *jsontape.Tape {
	t.Helper()
	tape := new(jsontape.Tape)
	end, err := tape.Parse([]byte(text), 0)
	require.NoError(t, err, text)
	require.Equal(t, len(text), end, text)
	return tape
}

// TestGrammar tries the edges of RFC 8259, against the standard library.
func TestGrammar(t *testing.T) {
	for _, text := range []string{
		`{}`, `[]`, `{"a":1}`, `[1,2]`, `[1 , 2]`, "[\n1\t,\r2 ]", `{"a" : {"b" : [ ]}}`, `null`, `true`, `false`, `"x"`, `0`, `-0`,
		`-1.5e+10`, `1E5`, `10`, `0.5`, `"\u00e9\n\/"`, `[[],{},""]`, `{"":0}`,
		`{`, `}`, `[`, `]`, `[1,]`, `{"a":1,}`, `{,}`, `[,1]`, `{"a"}`, `{"a":}`, `{a:1}`, `{'a':1}`, `01`, `-`, `1.`, `.5`, `1e`, `1e+`,
		`+1`, `0x1`, `--1`, `tru`, `truex`, `nul`, `NaN`, `Infinity`, `-Infinity`, `"a`, `"\x"`, `"\u12"`, `"\u12g4"`, "\"a\nb\"", "\"\x00\"",
		`"\`, `[1 2]`, `{"a":1 "b":2}`, `[1}`, `{"a":1]`, ``, ` `, `{"a":1,"a"`, `-01`, `1.5.5`, `[-]`,
	} {
		tape := new(jsontape.Tape)
		end, err := tape.Parse([]byte(text), 0)
		assert.Equal(t, json.Valid([]byte(text)), err == nil && end == len(text), "%q ends at %d: %v", text, end, err)
	}
}

func TestParseStopsAfterTheValue(t *testing.T) {
	tape := new(jsontape.Tape)
	end, err := tape.Parse([]byte(`xx{"a":1} tail`), 2)
	require.NoError(t, err)
	assert.Equal(t, 9, end)
	assert.Equal(t, `{"a":1}`, string(tape.Value(0)))
}

// TestFailedParseKeepsWhatItSaw holds what a scan relies on.
func TestFailedParseKeepsWhatItSaw(t *testing.T) {
	tape := new(jsontape.Tape)
	_, err := tape.Parse([]byte(`{"a":{"b":1},"c":{"d":x`), 0)
	require.ErrorIs(t, err, jsontape.ErrSyntax)
	assert.Equal(t, 22, tape.Failed)
	var objects []string
	for _, n := range tape.Nodes {
		if n.Kind == jsontape.Object {
			objects = append(objects, fmt.Sprintf("%d-%d", n.Start, n.End))
		}
	}
	assert.Equal(t, []string{"0-0", "5-12", "17-0"}, objects, "End is 0 where the object was open")
}

func TestDepth(t *testing.T) {
	nest := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	tape := new(jsontape.Tape)
	_, err := tape.Parse(nest(jsontape.MaxDepth), 0)
	require.NoError(t, err)
	_, err = tape.Parse(nest(jsontape.MaxDepth+1), 0)
	require.ErrorIs(t, err, jsontape.ErrDepth)
	assert.Len(t, tape.Nodes, jsontape.MaxDepth, "nothing is read below")
}

func TestStrings(t *testing.T) {
	for _, tc := range []struct {
		name, text, want string
		notUnicode       bool
	}{
		{"plain", `"abc"`, "abc", false},
		{"long plain", `"` + strings.Repeat("x", 100) + `"`, strings.Repeat("x", 100), false},
		{"every escape", `"\"\\\/\b\f\n\r\t"`, "\"\\/\b\f\n\r\t", false},
		{"nul does not cut", `"a\u0000b"`, "a\x00b", false},
		{"accents", `"é\u00e9\u00E9"`, "ééé", false},
		{"pair", `"\ud83d\ude00"`, "😀", false},
		{"raw astral", `"😀"`, "😀", false},
		{"lone high", `"a\ud83db"`, "a\ufffdb", true},
		{"lone low", `"\udc00"`, "\ufffd", true},
		{"two highs", `"\ud83d\ud83d"`, "\ufffd\ufffd", true},
		{"high, then a pair", `"\ud83d\ud83d\ude00"`, "\ufffd😀", true},
		{"high at the end", `"\ud83d"`, "\ufffd", true},
		{"high before another escape", `"\ud83d\n"`, "\ufffd\n", true},
		{"not UTF-8", "\"a\xffb\"", "a\ufffdb", true},
		{"surrogate in UTF-8", "\"\xed\xa0\x80\"", "\ufffd\ufffd\ufffd", true},
		{"cut in a character", "\"\xf0\x9f\x98\"", "\ufffd\ufffd\ufffd", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tape := parse(t, tc.text)
			assert.Equal(t, tc.want, tape.String(0))
			assert.Equal(t, "x"+tc.want, string(tape.AppendString([]byte("x"), 0)))
			assert.True(t, tape.StringIs(0, tc.want))
			assert.False(t, tape.StringIs(0, tc.want+"!"))
			assert.Equal(t, tc.notUnicode, tape.NotUnicode)
			assert.Equal(t, tc.notUnicode, tape.Nodes[0].Has(jsontape.NotUnicode))
		})
	}
	assert.False(t, parse(t, `1`).StringIs(0, "1"))
}

func TestNumbers(t *testing.T) {
	digits := strings.Repeat("9", 400)
	for _, tc := range []struct {
		text    string
		integer bool
		inRange bool
		asInt   int64
		hasInt  bool
	}{
		{"1", true, true, 1, true},
		{"1.0", true, true, 1, true},
		{"10e-1", true, true, 1, true},
		{"1.1", false, true, 0, false},
		{"-0", true, true, 0, true},
		{"9223372036854775807", true, true, 9223372036854775807, true},
		{"9223372036854775808", true, true, 0, false},
		{"1e300", true, true, 0, false},
		{"1e400", false, false, 0, false},
		{"-1e400", false, false, 0, false},
		{"1e-400", true, true, 0, true},
		{"-1e-400", false, true, 0, false}, // below zero, which no double nearer to it is
		{"-0.0e-400", true, true, 0, true},
		{"1e999999999", false, false, 0, false},
		{"1e-999999999", true, true, 0, true},
		{digits, true, false, 0, false},
		{"0." + digits, true, true, 1, true}, // the nearest double is 1
		{"1." + strings.Repeat("0", 400), true, true, 1, true},
	} {
		tape := parse(t, tc.text)
		v, ok := tape.Int(0)
		_, finite := tape.Float(0)
		assert.Equal(t, tc.integer, tape.IsInteger(0), "%.40s is an integer", tc.text)
		assert.Equal(t, tc.inRange, finite, "%.40s is finite", tc.text)
		assert.Equal(t, !tc.inRange, len(tape.OutOfRange) == 1, "%.40s is noted", tc.text)
		assert.Equal(t, tc.hasInt, ok, "%.40s fits", tc.text)
		assert.Equal(t, tc.asInt, v, "%.40s", tc.text)
	}
}

func TestRepeatedNames(t *testing.T) {
	many := func(n int, tail string) string {
		var b strings.Builder
		b.WriteString("{")
		for i := range n {
			fmt.Fprintf(&b, `"member_%d":%d,`, i, i)
		}
		return b.String() + tail + "}"
	}
	for _, tc := range []struct {
		name, text string
		pointers   []string
	}{
		{"none", `{"a":1,"b":2,"ab":3,"ba":4}`, nil},
		{"one", `{"a":1,"b":2,"a":3}`, []string{"/a"}},
		{"three times", `{"a":1,"a":2,"a":3}`, []string{"/a", "/a"}},
		{"escaped", `{"a":1,"\u0061":2}`, []string{"/a"}},
		{"deep", `{"x":[{"a":1},{"a":{"b":1,"b":2}}]}`, []string{"/x/1/a/b"}},
		{"within a repeated one", `{"a":{"x":1,"x":2},"a":3}`, []string{"/a/x", "/a"}},
		{"empty names", `{"":1,"":2}`, []string{"/"}},
		{"slash and tilde", `{"a/b~":1,"a/b~":2}`, []string{"/a~1b~0"}},
		{"lone surrogates are names of their own", `{"\ud800":1,"\udfff":2,"\ufffd":3}`, nil},
		{"one lone surrogate twice", `{"\ud800":1,"\uD800":2}`, []string{"/\ufffd"}},
		{"bytes that are no text are names of their own", "{\"\xff\":1,\"\xfe\":2,\"\ufffd\":3}", nil},
		{"one such byte twice", "{\"a\xff\":1,\"\\u0061\xff\":2}", []string{"/a\ufffd"}},
		{"equal bits, other names", `{"axa":1,"aya":2,"aza":3}`, nil},
		{"many, none", many(1000, `"z":0`), nil},
		{"many, one", many(1000, `"member_7":0`), []string{"/member_7"}},
		{"many, escaped", many(30, `"m\u0065mber_7":0,"member_7":1`), []string{"/member_7", "/member_7"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tape := parse(t, tc.text)
			var got []string
			for _, i := range tape.Repeated {
				got = append(got, tape.Pointer(0, i))
			}
			assert.Equal(t, tc.pointers, got)
		})
	}
	tape := parse(t, `{"a":1,"b":2,"a":3}`)
	i, ok := tape.Member(0, "a")
	require.True(t, ok)
	assert.Equal(t, "3", string(tape.Value(i)), "the last one counts")
	tape = parse(t, `{`+strings.Repeat(`"a":1,`, 500)+`"a":2}`)
	assert.Len(t, tape.Repeated, jsontape.MaxNoted, "the list is bounded")
}

func TestOutOfRangeIsBounded(t *testing.T) {
	tape := parse(t, `[`+strings.Repeat(`1e999,`, 500)+`1]`)
	assert.Len(t, tape.OutOfRange, jsontape.MaxNoted)
	assert.True(t, tape.Nodes[450].Has(jsontape.OutOfRange), "the flag is on every node")
}

func TestMembersAndPointers(t *testing.T) {
	tape := parse(t, `{"a":[10,{"b c":true}],"\u0064":null}`)
	a, ok := tape.Member(0, "a")
	require.True(t, ok)
	var kinds []jsontape.Kind
	for i := range tape.Children(a) {
		kinds = append(kinds, tape.Nodes[i].Kind)
	}
	assert.Equal(t, []jsontape.Kind{jsontape.Number, jsontape.Object}, kinds)
	for range tape.Children(a) {
		break // an iteration may end early
	}
	_, ok = tape.Member(0, "d")
	assert.True(t, ok, "an escaped name")
	_, ok = tape.Member(a, "0")
	assert.False(t, ok, "an array has no members")
	_, ok = tape.Member(0, "b c")
	assert.False(t, ok, "not a child")
	assert.Equal(t, "/a/1/b c", tape.Pointer(0, a+3))
	assert.Equal(t, "/1/b c", tape.Pointer(a, a+3), "from another root")
	assert.Empty(t, tape.Pointer(a, a))
}

func TestBlanksAreNoticed(t *testing.T) {
	assert.False(t, parse(t, `{"a":[1,{"b":" x "}]}`).Blanks)
	for _, text := range []string{`{ "a":1}`, `{"a" :1}`, `{"a": 1}`, `{"a":1 }`, `[1, 2]`, `[1 ,2]`, `[ ]`} {
		assert.True(t, parse(t, text).Blanks, text)
	}
}

// FuzzParse holds the tape to the standard library: the same texts are JSON, the
// tape describes the same value, and a reused tape tells the same.
func FuzzParse(f *testing.F) {
	for _, text := range []string{`{"a":[1,2.5e3,"x\u00e9\ud800"],"a":null}`, `[[[]]]`, `{"a":1`, "\"\xff\"", `{"\u0061":1,"a":2}`, ` [ 1 , 2 ] `} {
		f.Add([]byte(text))
	}
	used := new(jsontape.Tape)
	f.Fuzz(func(t *testing.T, text []byte) {
		at := len(text) - len(bytes.TrimLeft(text, " \t\r\n"))
		tape := new(jsontape.Tape)
		end, err := tape.Parse(text, at)
		usedEnd, usedErr := used.Parse(text, at)
		require.Equal(t, end, usedEnd)
		require.Equal(t, err, usedErr)
		whole := err == nil && len(bytes.Trim(text[end:], " \t\r\n")) == 0
		if errors.Is(err, jsontape.ErrDepth) {
			return
		}
		require.Equal(t, json.Valid(text), whole)
		if err != nil {
			require.GreaterOrEqual(t, tape.Failed, at)
			require.LessOrEqual(t, tape.Failed, len(text)+6)
			return
		}
		d := json.NewDecoder(bytes.NewReader(text[at:end]))
		d.UseNumber()
		var want any
		require.NoError(t, d.Decode(&want))
		require.Equal(t, want, valueOf(tape, 0))
		for i := range tape.Nodes {
			require.LessOrEqual(t, tape.Nodes[i].End, uint32(end))
			require.Greater(t, tape.Nodes[i].Next, uint32(i))
		}
	})
}

// valueOf is node i as the standard library would decode it.
func valueOf(t *jsontape.Tape, i uint32) any {
	switch t.Nodes[i].Kind {
	case jsontape.True:
		return true
	case jsontape.False:
		return false
	case jsontape.Number:
		return json.Number(t.Value(i))
	case jsontape.String:
		return t.String(i)
	case jsontape.Array:
		out := []any{}
		for j := range t.Children(i) {
			out = append(out, valueOf(t, j))
		}
		return out
	case jsontape.Object:
		out := map[string]any{}
		for j := range t.Children(i) {
			out[t.Key(j)] = valueOf(t, j)
		}
		return out
	}
	return nil
}

func BenchmarkParse(b *testing.B) {
	envelope := `{"error_kind":"mcp_input_validation","tool":"sp_list_order_items","summary":"Tool input validation failed for one or more fields.",` +
		`"details":[{"path":"filters/0/marketplaceIds","issue":"Expected an array of strings but a single string was given","received_type":"string"}],` +
		`"hints":["Wrap the value in an array."],"examples":[{"marketplaceIds":["ATVPDKIKX0DER"]}],"error_code":"SCHEMA_TYPE_MISMATCH","retryable":false,"_envelope_version":1}`
	for _, bench := range []struct{ name, text string }{
		{"envelope", envelope},
		{"numbers", "[" + strings.Repeat("1,", 1<<19) + "1]"},
		{"text", `"` + strings.Repeat("plain text ", 1<<16) + `"`},
	} {
		b.Run(bench.name, func(b *testing.B) {
			text := []byte(bench.text)
			tape := new(jsontape.Tape)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tape.Parse(text, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
