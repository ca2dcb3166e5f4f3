package dsquery

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
)

// hostile is a value as a sender may choose it: it ends a literal, escapes what
// follows, separates values, and looks like a variable.
const hostile = `o'brien\, "x" \' ${tool} $1`

// attribute is one attribute in OTLP's JSON.
func attribute(key string, value any) map[string]any {
	kind := "stringValue"
	if _, isBool := value.(bool); isBool {
		kind = "boolValue"
	}
	return map[string]any{"key": key, "value": map[string]any{kind: value}}
}

// shipHostile sends what a sound server sends, in hostile names.
func (r running) shipHostile(t *testing.T, records int) {
	t.Helper()
	logs := make([]any, 0, 2*records)
	for i := range records {
		at := fmt.Sprint(time.Now().Add(-time.Duration(i) * time.Minute).UnixNano())
		envelope, meta := `{"error_kind":"rate_limited","tool":`+quoted(hostile)+`,"summary":"Wait.","details":[],"hints":[],"examples":[],"error_code":"HTTP_429","retryable":true,"_envelope_version":1,"_meta":{"retry_after_seconds":3,"rate_limit":{"remaining":0,"limit_per_second":2}}}`,
			`{"_meta":{"normalized":[{"kind":"key_alias","from":"a","to":"b"}],"warnings":[{"kind":"unlisted","summary":"s","hints":[]}]}}`
		for event, body := range map[string]string{"mcp.error_envelope": envelope, "mcp.response_meta": meta} {
			logs = append(logs, map[string]any{
				"timeUnixNano": at, "eventName": event, "body": map[string]any{"stringValue": body},
				"attributes": []any{attribute("gen_ai.tool.name", hostile)},
			})
		}
	}
	body, err := json.Marshal(map[string]any{"resourceLogs": []any{map[string]any{
		"resource": map[string]any{"attributes": []any{
			attribute("service.name", hostile), attribute("service.version", hostile), attribute("mcp.deployment.id", hostile),
			attribute("deployment.environment.name", hostile), attribute("mcp.normalization.meta", true),
		}},
		"scopeLogs": []any{map[string]any{"logRecords": logs}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.Post("http://"+r.http+"/v1/logs", "application/json", strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if answer, _ := io.ReadAll(response.Body); response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", response.Status, answer)
	}
}

func quoted(text string) string {
	out, _ := json.Marshal(text)
	return string(out)
}

// TestHostileValues chooses values in which a sender put a quote, a backslash, a
// comma and a dollar, as the variables list them: the panels show what it sent.
func TestHostileValues(t *testing.T) {
	r := collector(t)
	r.shipHostile(t, 30)
	c := open(t, r.dsn, "SELECT sum(records) FROM soakgate.slice_seals FINAL", 59)
	over := backend.TimeRange{From: time.Now().Add(-3 * time.Hour), To: time.Now().Add(time.Minute)}
	got := rows(t, c, over, func(listed []string) []string { return listed })
	for _, place := range []string{
		"soakgate-soak/Tools/A", "soakgate-soak/Blocks by version/A", "soakgate-soak/Deployments/A", "soakgate-errors/Errors by kind/A",
		"soakgate-errors/Tools with most failures/A", "soakgate-errors/Servers and versions/A", "soakgate-contract/Violations by rule/A",
		"soakgate-contract/Latest examples/A", "soakgate-upstream/Limits/A", "soakgate-upstream/Warnings by kind/A", "soakgate-upstream/Retry after/A",
	} {
		if got[place] == 0 {
			t.Errorf("%s gave no rows", place)
		}
	}
	dashboards, err := ReadDashboards("../../dashboards")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dashboards {
		for name, values := range choices(t, c, d, over, func(listed []string) []string { return listed }) {
			if !slices.ContainsFunc(values, func(v string) bool { return strings.Contains(v, "brien") }) {
				t.Errorf("%s: variable %s lists %q", d.UID, name, values)
			}
		}
	}
}
