package strictyaml

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type shout string

func (s *shout) SetText(text string) error {
	if text == "" {
		return errors.New("want something to shout")
	}
	*s = shout(text + "!")
	return nil
}

type inner struct {
	Name string `json:"name"`
	N    int64  `json:"n"`
}

type document struct {
	Text  string    `json:"text"`
	On    bool      `json:"on"`
	N     int       `json:"n,omitempty"`
	At    time.Time `json:"at"`
	Shout shout     `json:"shout"`
	In    inner     `json:"in"`
	List  []inner   `json:"list"`
	Names []string  `json:"names"`
}

func TestDecode(t *testing.T) {
	out := document{N: 7, In: inner{Name: "kept"}}
	lines, err := Decode([]byte("# c\ntext: a\non: true\nat: 2026-03-01T12:00:00+02:00\nshout: hi\nin: {n: 3}\nlist:\n  - name: x\n  - {name: y, n: 0x10}\nnames: [p, \"1\"]\n"), &out)
	require.NoError(t, err)
	assert.Equal(t, document{
		Text: "a", On: true, N: 7, At: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC), Shout: "hi!",
		In: inner{"kept", 3}, List: []inner{{"x", 0}, {"y", 16}}, Names: []string{"p", "1"},
	}, out)
	assert.Equal(t, 9, lines["list[1]"])
	require.EqualError(t, lines.At("list[1].n", "too %s", "big"), "line 9: list[1].n: too big")
	require.EqualError(t, lines.At("list[1].other", "missing"), "line 9: list[1].other: missing", "the nearest parent is blamed")
	assert.EqualError(t, lines.At("nowhere", "missing"), "line 1: nowhere: missing")
}

func TestDecodeFaults(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "line 1: the document is empty"},
		{"null", "~", `line 1: want keys and values, got nothing`},
		{"a list at the top", "- a", "line 1: want keys and values, got a list"},
		{"unknown", "txt: a", `line 1: txt: unknown key; did you mean "text"?`},
		{"unknown and unlike", "zzzzzzzz: a", "line 1: zzzzzzzz: unknown key; known here: at, in, list, n, names, on, shout, text"},
		{"unknown within", "\nin:\n  nam: a", `line 3: in.nam: unknown key; did you mean "name"?`},
		{"number for text", "text: 3", "line 1: text: want text, got the number 3 (quote it if text is meant)"},
		{"truth for text", "text: yes", ""}, // yes is text in YAML 1.2
		{"truth value for text", "text: true", "line 1: text: want text, got the truth value true (quote it if text is meant)"},
		{"text for truth", "on: yes", `line 1: on: want true or false, got text "yes"`},
		{"text for number", "n: many", `line 1: n: want a whole number, got text "many"`},
		{"fraction for number", "n: 1.5", "line 1: n: want a whole number, got the number 1.5"},
		{"too large a number", "in: {n: 99999999999999999999}", "line 1: in.n: want a whole number"},
		{"no instant", "at: noon", `line 1: at: want an instant with offset such as 2026-03-01T12:00:00Z, got text "noon"`},
		{"a date", "at: 2026-03-01", "line 1: at: want an instant with offset"},
		{"a list for one", "shout: [a]", "line 1: shout: want a single value, got a list"},
		{"own notation", `shout: ""`, "line 1: shout: want something to shout"},
		{"one for a list", "names: a", `line 1: names: want a list, got text "a"`},
		{"item of a list", "list:\n  - name: x\n  - n: y", `line 3: list[1].n: want a whole number, got text "y"`},
		{"twice", "n: 1\nn: 2", "line 2: n: given twice: it already stands on line 1"},
		{"alias", "in: &a {n: 1}\nlist: [*a]", "line 1: in: anchors and aliases are not accepted"},
		{"merge key", "in: {<<: {n: 1}}", "line 1: in.<<: unknown key"},
		{"two documents", "n: 1\n---\nn: 2", "want one document"},
		{"no YAML", "in: {", "read YAML"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out document
			_, err := Decode([]byte(tt.text), &out)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestAllFaultsAreTold(t *testing.T) {
	var out document
	_, err := Decode([]byte("n: a\non: b\nextra: 1\n"), &out)
	for _, want := range []string{"line 1: n", "line 2: on", "line 3: extra"} {
		require.ErrorContains(t, err, want)
	}
	var one *Error
	require.ErrorAs(t, err, &one)
	assert.Equal(t, 1, one.Line)
}

func TestErrorsStayShort(t *testing.T) {
	var out document
	long := make([]rune, 100_000)
	for i := range long {
		long[i] = 'é'
	}
	for _, text := range []string{"n: " + string(long), string(long) + ": 1", "? " + string(long) + "\n: 1"} {
		_, err := Decode([]byte(text), &out)
		require.Error(t, err)
		assert.Less(t, len(err.Error()), 300)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("text: a\nlist: [{name: x, n: 1}]\n")
	f.Add("a: &x [*x]\n")
	f.Fuzz(func(t *testing.T, text string) {
		var out document
		lines, err := Decode([]byte(text), &out)
		if err == nil && lines == nil {
			t.Fatal("a document that was read has lines")
		}
	})
}
