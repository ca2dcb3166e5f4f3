package conformance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/classify"
	"github.com/soakgate/soakgate/internal/conformance"
)

const (
	good    = `{"error_kind":"auth_error","tool":"t","summary":"s","details":[],"hints":[],"examples":[],"error_code":"AUTHENTICATION_ERROR","retryable":false,"_envelope_version":1}`
	goodOK  = `{"rows":[],"_meta":{"normalized":[{"kind":"renamed","from":"a","to":"b"}]}}`
	noHints = `{"error_kind":"auth_error","tool":"t","summary":"s","details":[],"examples":[],"error_code":"AUTHENTICATION_ERROR","retryable":false,"_envelope_version":1}`
)

// gathered is a Report that keeps what it was told.
type gathered struct {
	lines []string
	run   *conformance.Run
}

func (g *gathered) Payload(j *conformance.Judged) error {
	rules := ""
	for _, v := range j.Violations {
		rules += fmt.Sprintf(" %s %s", v.Rule, v.Path)
	}
	g.lines = append(g.lines, fmt.Sprintf("%s#%d %s %s%s", filepath.Base(j.String()), j.Index, j.Carrier, j.Shape, rules))
	return nil
}

func (g *gathered) Finish(r *conformance.Run) error { g.run = r; return nil }

// folder writes files by name and gives their folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return dir
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// repeated is n times value, as the inside of an array.
func repeated(value string, n int) string {
	return strings.TrimSuffix(strings.Repeat(value+",", n), ",")
}

// numbered is n members, each with a comma behind it.
func numbered(name string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"%s%d":1,`, name, i)
	}
	return b.String()
}

func execute(t *testing.T, o conformance.Options) *gathered {
	t.Helper()
	g := new(gathered)
	_, err := conformance.Execute(t.Context(), o, g)
	require.NoError(t, err)
	return g
}

func TestWhatIsRead(t *testing.T) {
	dir := folder(t, map[string]string{
		"a.json":       good,
		"b.json":       quoted("ToolError: " + good),
		"c.jsonl":      good + "\n\n" + quoted(good) + "\r\n[1]\n" + good[:50] + "\n" + `{"a":"} ` + good,
		"d.txt":        "ToolError: " + good + "\n",
		"e/f.json":     "\ufeff\n" + good,
		"g.json":       good[:50],
		"readme.md":    "not a payload",
		"z/empty.txt":  "",
		"z/list.jsonl": "\n\n",
	})
	g := execute(t, conformance.Options{Paths: []string{dir}})
	assert.Equal(t, []string{
		"a.json#0 log_body_map mcp_envelope_v1",
		"b.json#0 log_body_text mcp_envelope_v1",
		"c.jsonl:1#0 log_body_map mcp_envelope_v1",
		"c.jsonl:3#1 log_body_text mcp_envelope_v1",
		"c.jsonl:4#2 raw unknown",
		"c.jsonl:5#3 raw unknown invalid_json ",
		"c.jsonl:6#4 raw mcp_envelope_v1",
		"d.txt#0 raw mcp_envelope_v1",
		"f.json#0 raw mcp_envelope_v1",
		"g.json#0 raw unknown invalid_json ",
		"empty.txt#0 raw unknown",
	}, g.lines)
	s := g.run.Summary
	assert.Equal(t, []int{11, 7, 2, 2}, []int{s.Payloads, s.Conforming, s.Violating, s.Unrecognized})

	g = execute(t, conformance.Options{Paths: []string{"-"}, In: strings.NewReader("hung up\n" + good)})
	assert.Equal(t, []string{"-:1#0 raw unknown", "-:2#1 log_body_map mcp_envelope_v1"}, g.lines, "what was captured need not be JSON")

	g = execute(t, conformance.Options{Paths: []string{"-", filepath.Join(dir, "a.json")}, In: strings.NewReader(goodOK)})
	assert.Equal(t, []string{"-:1#0 log_body_map meta_success", "a.json#0 log_body_map mcp_envelope_v1"}, g.lines, "in the order given")
}

func TestWhatCannotBeRead(t *testing.T) {
	dir := folder(t, map[string]string{
		"a.json": good, "b.xml": good, "none/x.md": "x", "list.json": "[1]", "no-capabilities.json": "{}",
		"bad/empty.json": "", "bad/text.json": "ToolError: hung up", "bad/lines.jsonl": good + "\n\n" + `"half` + "\n" + good,
	})
	for name, tc := range map[string]struct {
		o    conformance.Options
		says string
	}{
		"no such path":          {conformance.Options{Paths: []string{dir + "/nowhere"}}, "nowhere"},
		"unknown ending":        {conformance.Options{Paths: []string{dir + "/b.xml"}}, ".jsonl"},
		"folder without any":    {conformance.Options{Paths: []string{dir + "/none"}}, "no payload was found"},
		"nothing recognised":    {conformance.Options{Paths: []string{dir + "/list.json"}}, "none of 1 payloads"},
		"empty input":           {conformance.Options{Paths: []string{"-"}, In: strings.NewReader("")}, "no payload"},
		"broken input":          {conformance.Options{Paths: []string{"-"}, In: iotest.ErrReader(errors.New("it broke"))}, "line 1: it broke"},
		"empty file":            {conformance.Options{Paths: []string{dir}}, "/bad/empty.json: expected JSON"},
		"text in a .json":       {conformance.Options{Paths: []string{dir + "/bad/text.json"}}, "/bad/text.json: expected JSON, and this is none; raw text is read from a name that ends in .txt"},
		"text in a .jsonl":      {conformance.Options{Paths: []string{dir + "/bad/lines.jsonl"}}, "/bad/lines.jsonl:3: expected JSON"},
		"no capabilities file":  {conformance.Options{Paths: []string{dir + "/a.json"}, Capabilities: dir + "/nowhere"}, "read capabilities"},
		"capabilities are none": {conformance.Options{Paths: []string{dir + "/a.json"}, Capabilities: dir + "/no-capabilities.json"}, "no-capabilities.json: read capabilities"},
	} {
		_, err := conformance.Execute(t.Context(), tc.o, new(gathered))
		require.ErrorContains(t, err, tc.says, name)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := conformance.Execute(ctx, conformance.Options{Paths: []string{dir + "/a.json"}}, new(gathered))
	assert.ErrorIs(t, err, context.Canceled)
}

func TestLongInputIsRefusedAndNotHeld(t *testing.T) {
	long := `{"error_kind":"` + strings.Repeat("x", classify.MaxPayload) + `"}`
	dir := folder(t, map[string]string{"long.json": long, "long.txt": long, "lines.jsonl": long + "\n" + good})
	g := execute(t, conformance.Options{Paths: []string{dir}})
	assert.Equal(t, []string{
		"lines.jsonl:1#0 raw unknown invalid_json ", "lines.jsonl:2#1 log_body_map mcp_envelope_v1",
		"long.json#0 raw unknown invalid_json ", "long.txt#0 raw unknown invalid_json ",
	}, g.lines)
}

// TestItems decides each item for payloads that keep and break it (R118 to R124).
func TestItems(t *testing.T) {
	const pass, fail, not = classify.ItemPass, classify.ItemFail, classify.ItemNotTested
	replace := func(old, with string) string { return strings.Replace(good, old, with, 1) }
	capable := func(s string) string { return `{"openbridge_envelope":` + s + `}` }
	for _, tc := range []struct {
		name         string
		payload      string
		capabilities string
		fromStdin    bool
		want         []classify.ItemResult
		conforms     bool
	}{
		{"a good envelope", good, "", false, []classify.ItemResult{pass, pass, pass, not, not, pass}, true},
		{"a good answer", goodOK, "", false, []classify.ItemResult{not, not, not, pass, not, pass}, true},
		{"from standard input", good, "", true, []classify.ItemResult{pass, pass, pass, not, not, not}, true},
		{"a member lacks", noHints, "", false, []classify.ItemResult{fail, pass, pass, not, not, fail}, false},
		{"a kind outside the taxonomy", replace("auth_error", "oauth"), "", false, []classify.ItemResult{fail, fail, pass, not, not, fail}, false},
		{"a pairing", replace("auth_error", "internal_error"), "", false, []classify.ItemResult{fail, pass, pass, not, not, fail}, false},
		{"no kind", replace(`"error_kind":"auth_error",`, ""), "", false, []classify.ItemResult{fail, not, pass, not, not, fail}, false},
		{"version 2", replace(`version":1`, `version":2`), "", false, []classify.ItemResult{fail, pass, fail, not, not, fail}, false},
		{"a kind that is no text", replace(`"auth_error"`, "7"), "", false, []classify.ItemResult{fail, fail, pass, not, not, fail}, false},
		{"a null kind", replace(`"auth_error"`, "null"), "", false, []classify.ItemResult{fail, fail, pass, not, not, fail}, false},
		{"a kind whose violation is cut", strings.Replace(replace("auth_error", "bogus"), `"details":[]`, `"details":[`+repeated(`{}`, 40)+`]`, 1), "", false, []classify.ItemResult{fail, fail, pass, not, not, fail}, false},
		{"a version whose violation is cut", strings.Replace(replace(`version":1`, `version":2`), `{`, `{`+numbered("B", 120)+numbered("B", 120), 1), "", false, []classify.ItemResult{fail, pass, fail, not, not, fail}, false},
		{"version is text", replace(`version":1`, `version":"1"`), "", false, []classify.ItemResult{fail, pass, fail, not, not, fail}, false},
		{"version 1.0", replace(`version":1`, `version":1.0`), "", false, []classify.ItemResult{pass, pass, pass, not, not, pass}, true},
		{"version lacks", replace(`,"_envelope_version":1`, ""), "", false, []classify.ItemResult{fail, pass, fail, not, not, fail}, false},
		{"a kind of event", `{"_meta":{"normalized":[{"kind":"trimmed"}]}}`, "", false, []classify.ItemResult{not, not, not, fail, not, fail}, false},
		{"a kind of event whose violation is cut", `{"_meta":{"normalized":[` + repeated(`{"kind":"renamed"}`, 60) + `,{"kind":"unknown_field_dropped"}]}}`, "", false, []classify.ItemResult{not, not, not, fail, not, fail}, false},
		{"a kind of event beyond the rows that are kept", `{"_meta":{"normalized":[` + repeated(`{"kind":"renamed","from":"a","to":"b"}`, classify.MaxRows) + `,{"kind":"trimmed"}]}}`, "", false, []classify.ItemResult{not, not, not, fail, not, fail}, false},
		{"an event without a kind", `{"_meta":{"normalized":[{"from":"a"}]}}`, "", false, []classify.ItemResult{not, not, not, fail, not, fail}, false},
		{"an event that is text", `{"_meta":{"normalized":["renamed"]}}`, "", false, []classify.ItemResult{not, not, not, fail, not, fail}, false},
		{"events that are no array", `{"_meta":{"normalized":{"kind":"renamed"}}}`, "", false, []classify.ItemResult{not, not, not, fail, not, fail}, false},
		{"no events", `{"_meta":{"normalized":[]}}`, "", false, []classify.ItemResult{not, not, not, not, not, fail}, false},
		{"a member of an event", `{"_meta":{"normalized":[{"kind":"renamed","from":"a"}]}}`, "", false, []classify.ItemResult{not, not, not, pass, not, fail}, false},
		{"unreadable", good[:60], "", false, []classify.ItemResult{fail, not, not, not, not, fail}, false},
		{"agent error", `{"error":{"code":"unavailable"}}`, "", false, []classify.ItemResult{not, not, not, not, not, fail}, false},
		{"capabilities", good, capable(`{"contract_version":1,"error_kinds":["auth_error"]}`), false, []classify.ItemResult{pass, pass, pass, not, pass, pass}, true},
		{"capabilities with another kind", good, capable(`{"contract_version":1,"error_kinds":["precondition_failed"]}`), false, []classify.ItemResult{pass, pass, pass, not, fail, pass}, false},
		{"capabilities of version 2", good, capable(`{"contract_version":2,"error_kinds":[]}`), false, []classify.ItemResult{pass, pass, pass, not, fail, pass}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := folder(t, map[string]string{"p.txt": tc.payload, "capabilities.json": tc.capabilities})
			o := conformance.Options{Paths: []string{filepath.Join(dir, "p.txt")}}
			if tc.fromStdin {
				o.Paths, o.In = []string{"-"}, strings.NewReader(tc.payload)
			}
			if tc.capabilities != "" {
				o.Capabilities = filepath.Join(dir, "capabilities.json")
			}
			run := execute(t, o).run
			var got []classify.ItemResult
			for i, item := range run.Items {
				assert.Equal(t, i+1, item.Number)
				assert.Equal(t, item.Result == not, item.Why != "", "what was not tested says why")
				assert.Equal(t, item.Result == fail, len(item.Failures) > 0)
				assert.Equal(t, run.Summary.Items[fmt.Sprint(i+1)], item.Result)
				got = append(got, item.Result)
			}
			assert.Equal(t, tc.want, got)
			assert.Equal(t, tc.conforms, run.Conforms())
			var summary bytes.Buffer
			require.NoError(t, json.NewEncoder(&summary).Encode(map[string]any{"summary": run.Summary}))
			_, err := classify.ParseConformance(summary.Bytes())
			assert.NoError(t, err, "what a run says can be read back")
		})
	}
}

func TestUndeclaredKindsAreNoted(t *testing.T) {
	dir := folder(t, map[string]string{
		"p.json": good, "q.json": strings.NewReplacer("auth_error", "internal_error", "AUTHENTICATION_ERROR", "INTERNAL_ERROR").Replace(good),
		"c.txt": `{"contract_version":1,"error_kinds":["auth_error"]}`,
	})
	run := execute(t, conformance.Options{Paths: []string{dir + "/p.json", dir + "/q.json"}, Capabilities: dir + "/c.txt"}).run
	assert.Equal(t, []string{`kinds among the payloads that the capabilities do not declare: "internal_error"`}, run.Notes)
	assert.True(t, run.Conforms(), "a note breaks nothing")
	assert.Equal(t, []string{"auth_error"}, run.Capabilities.ErrorKinds)
	run = execute(t, conformance.Options{Paths: []string{dir + "/p.json"}, Capabilities: dir + "/c.txt"}).run
	assert.Empty(t, run.Notes)
}

// TestServerIsDeclared holds that the emitter's scope is applied (R52).
func TestServerIsDeclared(t *testing.T) {
	dir := folder(t, map[string]string{"p.json": strings.NewReplacer("auth_error", "sp_api_http", "AUTHENTICATION_ERROR", "SP_API_HTTP_404").Replace(good)})
	for server, want := range map[string]struct {
		stored   string
		conforms bool
	}{
		"":                   {"", true},
		"amazon_sp_mcp":      {"amazon_sp_mcp", true},
		"amazon-sp-mcp":      {"amazon_sp_mcp", true},
		"amazon-ads-mcp":     {"amazon_ads_mcp", false},
		" Amazon_Ads_MCP":    {"amazon_ads_mcp", false},
		"openbridge-mcp":     {"openbridge_mcp", true},
		"some-other-service": {"some-other-service", true},
	} {
		run := execute(t, conformance.Options{Paths: []string{dir}, Server: server}).run
		assert.Equal(t, want.conforms, run.Conforms(), server)
		assert.Equal(t, want.stored, run.Server, server)
	}
}

// TestTenThousandPayloads holds the time that a folder of them may take.
func TestTenThousandPayloads(t *testing.T) {
	dir := t.TempDir()
	for i := range 10_000 {
		text := good
		if i%10 == 0 {
			text = noHints
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%05d.json", i)), []byte(text), 0o600))
	}
	limit := 5 * time.Second
	if raceEnabled {
		limit *= 12
	}
	for _, format := range []string{"text", "json", "junit"} {
		var out, progress bytes.Buffer
		report := reportOf(t, format, &out)
		start := time.Now()
		run, err := conformance.Execute(t.Context(), conformance.Options{Paths: []string{dir}, Progress: &progress}, report)
		took := time.Since(start)
		require.NoError(t, err)
		assert.Equal(t, 10_000, run.Summary.Payloads)
		assert.Equal(t, 1000, run.Summary.Violating)
		assert.Len(t, run.Items[0].Failures, conformance.MaxFailures)
		assert.Equal(t, 1000, run.Items[0].Failed)
		assert.Less(t, took, limit)
		assert.Contains(t, progress.String(), "\r5000 payloads judged")
		assert.True(t, strings.HasSuffix(progress.String(), "\r\x1b[K"), "the line is taken away")
		t.Logf("%s: %s", format, took)
	}
}

func TestTerminal(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	require.NoError(t, err)
	assert.Nil(t, conformance.Terminal(f), "a file is none")
	require.NoError(t, f.Close())
	assert.Nil(t, conformance.Terminal(f), "nor is a closed one")
}

func reportOf(t *testing.T, format string, out *bytes.Buffer) conformance.Report {
	t.Helper()
	switch format {
	case "json":
		return conformance.NewJSON(out)
	case "junit":
		return conformance.NewJUnit(out)
	}
	r, err := conformance.NewText(out)
	require.NoError(t, err)
	return r
}
