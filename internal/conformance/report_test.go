package conformance_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/conformance"
)

// mixed has a payload of each sort, and a member whose name would steer a
// terminal and break XML.
func mixed(t *testing.T) string {
	return folder(t, map[string]string{
		"1-good.json":   good,
		"2-bad.json":    strings.Replace(noHints, `"tool":"t"`, `"tool":"s3cr3t","x":{"\u001b[31m<&>\u0000":1e999}`, 1),
		"3-opaque.txt":  "ToolError: hung up",
		"4-cut.txt":     good[:60],
		"5-advice.json": strings.Replace(good, `"tool":"t"`, `"tool":""`, 1),
		"6-meta.json": `{"_meta":{"normalized":[{"kind":"coerced","field":"a","from_type":"str","to_type":"list"}],"rate_limit":{"limit_per_second":"burst","remaining":0,"reset_at":"x"},` +
			`"retry_after_seconds":2.5,"warnings":[{"kind":"partial_results","summary":"s","details":[],"hints":[]}]}}`,
	})
}

func reported(t *testing.T, format string, o conformance.Options) string {
	t.Helper()
	var out bytes.Buffer
	_, err := conformance.Execute(t.Context(), o, reportOf(t, format, &out))
	require.NoError(t, err)
	return out.String()
}

func TestTextReport(t *testing.T) {
	dir := mixed(t)
	capabilities := filepath.Join(t.TempDir(), "capabilities.json")
	require.NoError(t, os.WriteFile(capabilities, []byte(`{"contract_version":2,"error_kinds":[]}`), 0o600))
	got := reported(t, "text", conformance.Options{Paths: []string{dir}, Server: "amazon_sp_mcp", SuiteVersion: "9.9", Capabilities: capabilities})
	got = strings.ReplaceAll(strings.ReplaceAll(got, dir, "fixtures"), capabilities, "capabilities.json")
	for _, line := range []string{
		"fixtures/2-bad.json (mcp_envelope_v1)\n  error   required  /hints: expected this member, and it is missing\n          do: Send the member.",
		"  error   number_range  /x/\ufffd[31m<&>\ufffd: expected a number that a double can hold",
		"fixtures/4-cut.txt (unknown)\n  error   invalid_json  the whole text: members of an envelope are named here",
		"  hint    the text names members of an envelope",
		"fixtures/5-advice.json (mcp_envelope_v1)\n  advice  tool_empty  /tool: ",
		"6 payloads: 3 conform, 2 violate the contract, 1 are nothing of ours\n  nothing of ours: fixtures/3-opaque.txt\nserver amazon_sp_mcp, version unknown\nsuite 9.9\n",
		"item 1  fail        every error response validates against the contract (2 of 4 do not; the first: fixtures/2-bad.json /hints)\n",
		"item 4  pass        _meta.normalized uses only the v1 kinds\n",
		"item 5  fail        the capabilities have contract_version 1 and kinds of the taxonomy (1 of 1 do not; the first: capabilities.json /contract_version)\n  error   const  /contract_version: expected 1\n",
		`note: kinds among the payloads that the capabilities do not declare: "auth_error"`,
	} {
		assert.Contains(t, got, line)
	}
	assert.NotContains(t, got, "1-good.json (", "what is right is counted, not listed")
	assert.NotContains(t, got, "s3cr3t")
	assert.NotContains(t, got, "\x1b")

	got = reported(t, "text", conformance.Options{Paths: []string{filepath.Join(dir, "1-good.json")}})
	assert.Contains(t, got, "item 5  not_tested  the capabilities have contract_version 1 and kinds of the taxonomy (no capabilities were given;")
}

func TestTextReportIsBounded(t *testing.T) {
	lines := strings.Repeat(noHints+"\n", 200)
	got := reported(t, "text", conformance.Options{Paths: []string{"-"}, In: strings.NewReader(lines)})
	assert.Equal(t, 50, strings.Count(got, "error   required"))
	assert.Contains(t, got, "and 150 more payloads with findings")
	many := `{"_meta":{"normalized":[` + strings.Repeat(`{"kind":"coerced"},`, 99) + `{"kind":"coerced"}]}}`
	got = reported(t, "text", conformance.Options{Paths: []string{"-"}, In: strings.NewReader(many)})
	assert.Contains(t, got, "and 200 more\n", "findings that a judgement cut")
	got = reported(t, "text", conformance.Options{Paths: []string{"-"}, In: strings.NewReader(good + "\n" + strings.Repeat("x\n", 19) + "{'error_kind': 'x'}\n" + strings.Repeat("x\n", 30))})
	assert.Equal(t, 20, strings.Count(got, "  nothing of ours: -:"))
	assert.Contains(t, got, "  nothing of ours: -:2\n")
	assert.Contains(t, got, "  nothing of ours: -:21: the text is the printed form of a Python dict")
	assert.Contains(t, got, "  and 30 more; --format json has them all\n")
}

// TestJSONReport holds the fields that scripts rely on, and that unknown is null.
func TestJSONReport(t *testing.T) {
	dir := mixed(t)
	got := reported(t, "json", conformance.Options{Paths: []string{dir}, SuiteVersion: "9.9"})
	var lines []map[string]any
	for d := json.NewDecoder(strings.NewReader(got)); d.More(); {
		var line map[string]any
		require.NoError(t, d.Decode(&line))
		lines = append(lines, line)
	}
	require.Len(t, lines, 7)
	assert.Equal(t, map[string]any{
		"path": filepath.Join(dir, "3-opaque.txt"), "index": 0.0, "carrier": "raw", "recognized": false, "shape": "unknown", "server_family": "unknown",
		"valid": false, "off_taxonomy": false, "error_kind": nil, "error_code": nil, "legacy_error_kind": nil, "retryable": nil, "normalized_kinds": []any{},
		"rate_limit": nil, "retry_after_seconds": nil, "warnings_kinds": []any{}, "violations": []any{}, "advisories": []any{}, "hint": nil,
	}, lines[2])
	assert.Equal(t, "auth_error", lines[0]["error_kind"])
	assert.Equal(t, false, lines[0]["retryable"])
	assert.Equal(t, map[string]any{"path": "/hints", "rule": "required", "message": "/hints: expected this member, and it is missing"}, lines[1]["violations"].([]any)[0])
	assert.Equal(t, "tool_empty", lines[4]["advisories"].([]any)[0].(map[string]any)["rule"])
	assert.Equal(t, []any{"coerced"}, lines[5]["normalized_kinds"])
	assert.Equal(t, []any{"partial_results"}, lines[5]["warnings_kinds"])
	assert.Equal(t, map[string]any{"limit_per_second": "burst", "remaining": 0.0, "reset_at": "x"}, lines[5]["rate_limit"])
	assert.InDelta(t, 2.5, lines[5]["retry_after_seconds"], 0)
	assert.Equal(t, map[string]any{"summary": map[string]any{
		"payloads": 6.0, "conforming": 3.0, "violating": 2.0, "unrecognized": 1.0, "suite_version": "9.9",
		"items": map[string]any{"1": "fail", "2": "pass", "3": "pass", "4": "pass", "5": "not_tested", "6": "fail"},
	}}, lines[6])
}

func TestJUnitReport(t *testing.T) {
	at := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	got := reported(t, "junit", conformance.Options{Paths: []string{mixed(t)}, At: at, Server: "amazon_sp_mcp", ServerVersion: "1.2"})
	var doc struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Skipped  int `xml:"skipped,attr"`
		Suites   []struct {
			Name      string `xml:"name,attr"`
			Tests     int    `xml:"tests,attr"`
			Failures  int    `xml:"failures,attr"`
			Skipped   int    `xml:"skipped,attr"`
			Timestamp string `xml:"timestamp,attr"`
			Cases     []struct {
				Name    string    `xml:"name,attr"`
				Failure *xml.Name `xml:"failure"`
				Skipped *xml.Name `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	require.NoError(t, xml.Unmarshal([]byte(got), &doc), got)
	require.Len(t, doc.Suites, 2)
	assert.Equal(t, "2026-01-31T12:00:00Z", doc.Suites[0].Timestamp)
	assert.Equal(t, []int{12, 4, 2}, []int{doc.Tests, doc.Failures, doc.Skipped})
	tests, failures, skipped := 0, 0, 0
	for _, s := range doc.Suites {
		tests, failures, skipped = tests+s.Tests, failures+s.Failures, skipped+s.Skipped
		assert.Len(t, s.Cases, s.Tests)
		for _, c := range s.Cases {
			if c.Failure != nil {
				failures--
			}
			if c.Skipped != nil {
				skipped--
			}
		}
	}
	assert.Equal(t, []int{12, 0, 0}, []int{tests, failures, skipped}, "the counts are those of the cases")
	assert.Contains(t, got, `<property name="server_version" value="1.2">`)
	assert.Contains(t, got, "required  /hints: expected this member")
	assert.NotContains(t, got, "s3cr3t")
}

// brokenWriter fails once its room is used.
type brokenWriter struct{ room int }

func (w *brokenWriter) Write(p []byte) (int, error) {
	if w.room -= len(p); w.room < 0 {
		return 0, errors.New("no space left")
	}
	return len(p), nil
}

// TestReportsThatCannotBeWritten holds that a full disk is no pass, wherever in
// the report it comes.
func TestReportsThatCannotBeWritten(t *testing.T) {
	lines := strings.Repeat(noHints+"\n", 60)
	for _, format := range []string{"text", "json", "junit"} {
		var whole bytes.Buffer
		_, err := conformance.Execute(t.Context(), conformance.Options{Paths: []string{"-"}, In: strings.NewReader(lines)}, reportOf(t, format, &whole))
		require.NoError(t, err)
		for room := 0; room < whole.Len(); room += whole.Len()/20 + 1 {
			var report conformance.Report
			w := &brokenWriter{room: room}
			switch format {
			case "text":
				report, err = conformance.NewText(w)
				require.NoError(t, err)
			case "json":
				report = conformance.NewJSON(w)
			case "junit":
				report = conformance.NewJUnit(w)
			}
			_, err = conformance.Execute(t.Context(), conformance.Options{Paths: []string{"-"}, In: strings.NewReader(lines)}, report)
			assert.ErrorContains(t, err, "no space left", fmt.Sprint(format, " with room for ", room))
		}
	}
}
