package statement

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestInspectTellsKindsAndParts(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       Statement
	}{
		{"select", "SELECT 1", Statement{Kind: KindSelect, Text: "SELECT 1"}},
		{"semicolon and comment", " SELECT 1 ; -- x", Statement{Kind: KindSelect, Text: " SELECT 1"}},
		{"format", "SELECT 1 format CSV", Statement{Kind: KindSelect, Text: "SELECT 1 format CSV", Format: "CSV"}},
		{"format before settings", "SELECT 1 FORMAT CSV SETTINGS a = 1", Statement{Kind: KindSelect, Text: "SELECT 1 FORMAT CSV SETTINGS a = 1", Format: "CSV"}},
		{"column called format", "SELECT format FROM t", Statement{Kind: KindSelect, Text: "SELECT format FROM t"}},
		{"format in a literal", "SELECT 'FORMAT CSV'", Statement{Kind: KindSelect, Text: "SELECT 'FORMAT CSV'"}},
		{"format of an inner query", "SELECT (SELECT 1 FORMAT CSV)", Statement{Kind: KindSelect, Text: "SELECT (SELECT 1 FORMAT CSV)"}},
		{"with", "WITH 1 AS x SELECT x", Statement{Kind: KindSelect, Text: "WITH 1 AS x SELECT x"}},
		{"brackets", "((SELECT 1))", Statement{Kind: KindSelect, Text: "((SELECT 1))"}},
		{"DDL", "CREATE TABLE t (a UInt8) ENGINE = Memory", Statement{Kind: KindOther, Text: "CREATE TABLE t (a UInt8) ENGINE = Memory"}},
		{"insert with a format", "INSERT INTO t (a, b) FORMAT CSV \n1,2", Statement{Kind: KindInsertData, Text: "INSERT INTO t (a, b)", Format: "CSV", Data: 33}},
		{"insert with data on the line", "INSERT INTO t FORMAT TSV 1", Statement{Kind: KindInsertData, Text: "INSERT INTO t", Format: "TSV", Data: 25}},
		{"only one line break is the statement's", "INSERT INTO t FORMAT CSV\n\n1", Statement{Kind: KindInsertData, Text: "INSERT INTO t", Format: "CSV", Data: 25}},
		{"insert of values", "INSERT INTO t VALUES (1)", Statement{Kind: KindInsertData, Text: "INSERT INTO t", Format: "Values", Data: 20}},
		{"insert without either", "INSERT INTO t", Statement{Kind: KindInsertData, Text: "INSERT INTO t", Format: "Values", Data: 13, Implicit: true}},
		{"settings behind the format", "INSERT INTO t FORMAT CSV SETTINGS a = 1, b = 'x'\n1", Statement{Kind: KindInsertData, Text: "INSERT INTO t SETTINGS a = 1, b = 'x'", Format: "CSV", Data: 49}},
		{"settings with a sign", "INSERT INTO t FORMAT CSV SETTINGS a = -1\n1", Statement{Kind: KindInsertData, Text: "INSERT INTO t SETTINGS a = -1", Format: "CSV", Data: 41}},
		{"data called SETTINGS", "INSERT INTO t FORMAT CSV\nSETTINGS,1", Statement{Kind: KindInsertData, Text: "INSERT INTO t", Format: "CSV", Data: 25}},
		{"insert select", "INSERT INTO t SELECT 1", Statement{Kind: KindInsertSelect, Text: "INSERT INTO t SELECT 1"}},
		{"insert select in brackets", "INSERT INTO t (a) ((SELECT 1))", Statement{Kind: KindInsertSelect, Text: "INSERT INTO t (a) ((SELECT 1))"}},
		{"table called values", "INSERT INTO `values` FORMAT CSV\n", Statement{Kind: KindInsertData, Text: "INSERT INTO `values`", Format: "CSV", Data: 32}},
		{"binary data behind", "INSERT INTO t FORMAT Native\n\x00\x01'`\"/*", Statement{Kind: KindInsertData, Text: "INSERT INTO t", Format: "Native", Data: 28}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := Inspect(tc.text)
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
		})
	}
}

func TestUnfinishedTextIsASyntaxError(t *testing.T) {
	for _, text := range []string{"", "  -- x", "(", "SELECT 'a", `SELECT "a`, "SELECT `a", "SELECT 'a\\'", "SELECT /* a", "SELECT /* /* */ 1", "INSERT INTO t FORMAT", "INSERT INTO 't"} {
		t.Run(text, func(t *testing.T) {
			_, err := Inspect(text)
			var syntax *SyntaxError
			require.ErrorAs(t, err, &syntax, "%v", err)
		})
	}
}

func TestRefusalsSayWhy(t *testing.T) {
	for text, want := range map[string]string{
		"SET a = 1":                 "SET would change the session",
		"USE d":                     "USE would change the session",
		"SELECT 1; SELECT 2":        "several statements",
		"SELECT 1 INTO OUTFILE 'x'": "INTO OUTFILE writes a file",
		"INSERT INTO t FROM INFILE 'x' FORMAT CSV":   "FROM INFILE reads a file",
		"INSERT INTO FUNCTION null('a UInt8')":       "INSERT INTO FUNCTION",
		"CREATE TABLE t ENGINE = Kafka":              "the engine Kafka",
		"CREATE DATABASE d ENGINE = MySQL('h')":      "the engine MySQL",
		"CREATE OR REPLACE DICTIONARY d":             "CREATE DICTIONARY is not among",
		"SYSTEM SHUTDOWN":                            "SYSTEM SHUTDOWN is not among",
		"DROP DATABASE default":                      "the engine's own",
		"SELECT s3('x')":                             "s3() reaches outside",
		"SELECT 1 FORMAT Template":                   "the format Template",
		"SELECT 1 SETTINGS format_schema = 'x'":      "the setting format_schema",
		"SELECT 1 # comment":                         "`#`",
		"SELECT $$x$$":                               "`$`",
		"SELECT ‘x’":                                 "straight quotes",
		"SELECT\x001":                                "control character",
		"SELECT format(Values, 'a UInt8', '(1)')":    "format()",
		"SELECT * FROM null('a String DEFAULT f()')": "DEFAULT",
		"SELECT * FROM values(concat('a ', 'b'), 1)": "plain literal",
	} {
		t.Run(text, func(t *testing.T) {
			_, err := Inspect(text)
			var refusal *Refusal
			require.ErrorAs(t, err, &refusal, "%v", err)
			require.Contains(t, err.Error(), want)
		})
	}
}

// blanks may stand between a function's name and its bracket.
var blanks = []string{"", " ", "\n", "\t", "/**/", "/* ' */", "/* /* ` */ */", "-- '\n", "// \"\n", " \r\f\v"}

// dress writes a refused call in a way that ClickHouse takes for the same: the
// seed picks case, quotes and what stands between name and bracket.
func dress(name string, seed uint64) string {
	rng := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for _, c := range name {
		if rng.IntN(2) == 0 {
			b.WriteString(strings.ToUpper(string(c)))
		} else {
			b.WriteRune(c)
		}
	}
	quote := []string{"", "`", `"`}[rng.IntN(3)]
	return quote + b.String() + quote + blanks[rng.IntN(len(blanks))] + "("
}

// code is a spelling of literals, quoted names and comments: everything that may
// stand before a call without hiding it.
func code(s string) string {
	quoted := strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s)
	name := strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(s)
	doubled := strings.ReplaceAll(strings.ReplaceAll(s, `\`, ``), `'`, `''`)
	comment := strings.NewReplacer("/*", "", "*/", "", "/", "", "*", "").Replace(s)
	line := strings.NewReplacer("\n", "").Replace(s)
	return "'" + quoted + "', `x" + name + "`, '" + doubled + "' /* " + comment + " */ -- " + line + "\n"
}

// FuzzRefusedCallIsFound holds the scanner's promise from both sides: a refused
// function is found in any dress behind any literals and comments, and the same
// text inside a literal, a quoted name or a comment is not taken for a call.
func FuzzRefusedCallIsFound(f *testing.F) {
	f.Add("a'b\\", uint64(1))
	f.Add("*/ 'x' -- \n", uint64(2))
	f.Add("file('x')", uint64(3))
	f.Add("\\'; DROP", uint64(4))
	names := []string{"file", "url", "s3", "remote", "mysql", "executable", "eval", "arrowstream", "disk", "catboostEvaluate"}
	f.Fuzz(func(t *testing.T, noise string, seed uint64) {
		name := names[seed%uint64(len(names))]
		call := dress(name, seed) + "'x')"
		before := code(noise)
		var refusal *Refusal
		if _, err := Inspect("SELECT " + before + ", " + call); !errors.As(err, &refusal) {
			t.Fatalf("%q is not refused behind %q: %v", call, before, err)
		}
		if err := CheckValues("(" + before + ", " + call + ")"); !errors.As(err, &refusal) {
			t.Fatalf("%q is not refused in values behind %q: %v", call, before, err)
		}
		hidden := code(call + noise)
		if _, err := Inspect("SELECT " + hidden + ", 1"); err != nil {
			t.Fatalf("%q is refused, and the call is only in quotes and comments: %v", hidden, err)
		}
	})
}

// FuzzInspect holds that no text makes the scanner fail otherwise than by its two
// errors, and that the parts it gives back are parts of the text.
func FuzzInspect(f *testing.F) {
	for _, s := range []string{"SELECT 1", "INSERT INTO t FORMAT CSV SETTINGS a = 1\n1", "INSERT INTO t VALUES (", "((", "SELECT '", "INSERT", "CREATE DATABASE d ENGINE", "INSERT INTO t FORMAT x SETTINGS a="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		st, err := Inspect(text)
		if err != nil {
			var refusal *Refusal
			var syntax *SyntaxError
			if !errors.As(err, &refusal) && !errors.As(err, &syntax) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if st.Kind == KindInsertData && (st.Data < 0 || st.Data > len(text)) {
			t.Fatalf("%q: the data begin at %d of %d", text, st.Data, len(text))
		}
		if st.Kind != KindInsertData && !strings.HasPrefix(text, st.Text) {
			t.Fatalf("%q became %q", text, st.Text)
		}
		if st.Kind == 0 {
			t.Fatalf("%q has no kind", text)
		}
	})
}
