package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"

	"github.com/soakgate/soakgate/internal/ship"
	"github.com/soakgate/soakgate/internal/ship/fleet"
)

// shipped ships a scenario and returns what was acknowledged.
func (c *collector) ship(args ...string) ship.Summary {
	c.t.Helper()
	file := filepath.Join(c.t.TempDir(), "summary.json")
	_, stderr, status := c.run(append([]string{"ship", "--summary", file}, args...)...)
	require.Zero(c.t, status, stderr)
	text, err := os.ReadFile(file)
	require.NoError(c.t, err)
	var s ship.Summary
	require.NoError(c.t, json.Unmarshal(text, &s))
	require.Zero(c.t, s.NotAcknowledged)
	return s
}

// jsonRelay takes OTLP over HTTP with protobuf and hands it on as OTLP/JSON,
// which the Go SDK does not speak.
func jsonRelay(t *testing.T, target string) string {
	relay := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		request := plogotlp.NewExportRequest()
		if err := request.UnmarshalProto(body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		text, err := request.MarshalJSON()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		answer, err := http.Post("http://"+target+"/v1/logs", "application/json", bytes.NewReader(text))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer answer.Body.Close()
		w.Header().Set("Content-Type", "application/x-protobuf")
		w.WriteHeader(answer.StatusCode)
	}))
	t.Cleanup(relay.Close)
	return strings.TrimPrefix(relay.URL, "http://")
}

// TestEveryCountArrives ships the fleet over each protocol and compares every
// count of the store with what was shipped.
func TestEveryCountArrives(t *testing.T) {
	for _, tt := range []struct {
		name string
		args func(c *collector) []string
	}{
		{"grpc", func(c *collector) []string { return []string{"--protocol", "grpc", "--endpoint", c.grpc} }},
		{"http with protobuf", func(c *collector) []string { return []string{"--protocol", "http", "--endpoint", "http://" + c.http} }},
		{"http with JSON", func(c *collector) []string {
			return []string{"--protocol", "http", "--endpoint", "http://" + jsonRelay(t, c.http)}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newCollector(t)
			c.start()
			s := c.ship(append([]string{"--scenario", "fleet", "--records", "6000", "--seed", "11"}, tt.args(c)...)...)
			require.Positive(t, s.Tally.Ignored, "the fleet sends log lines that are not ours")
			c.waitSealed(s.Tally.Records - s.Tally.Ignored)
			compare(t, c, s.Tally)
			require.NoError(t, c.terminate(), c.output.String())
		})
	}
}

// compare holds every count of the store against the tally.
func compare(t *testing.T, c *collector, tally fleet.Tally) {
	t.Helper()
	rows := func(query string) []map[string]any { return c.mustQuery(query) }

	events := map[string]int64{}
	for _, r := range rows("SELECT event, count() AS n FROM soakgate.records_unique GROUP BY event") {
		events[r["event"].(string)] = int64(r["n"].(float64))
	}
	want := map[string]int64{}
	maps.Copy(want, tally.Events)
	want[""] -= tally.Ignored
	assert.Equal(t, nonZero(want), nonZero(events), "records by event name")

	calls := []fleet.CallCount{}
	for _, r := range rows("SELECT server, tool, outcome, sum(c.calls) AS n FROM soakgate.calls_by_minute_unique AS c GROUP BY server, tool, outcome HAVING n > 0") {
		calls = append(calls, fleet.CallCount{Server: r["server"].(string), Tool: r["tool"].(string), Outcome: r["outcome"].(string), Calls: int64(r["n"].(float64))})
	}
	assert.ElementsMatch(t, tally.Calls, calls, "calls")

	errors := []fleet.ErrorCount{}
	for _, r := range rows("SELECT server, ifNull(error_kind, '') AS kind, ifNull(error_code, '') AS code, valid, sum(e.errors) AS n FROM soakgate.errors_by_minute_unique AS e WHERE shape = 'mcp_envelope_v1' GROUP BY ALL HAVING n > 0") {
		errors = append(errors, fleet.ErrorCount{Server: r["server"].(string), Kind: r["kind"].(string), Code: r["code"].(string), Valid: r["valid"].(bool), Records: int64(r["n"].(float64))})
	}
	assert.ElementsMatch(t, tally.Errors, errors, "errors by kind and code")

	normalizations := []fleet.NormalizationCount{}
	for _, r := range rows("SELECT server, deployment, ifNull(kind, '') AS kind, sum(n.events) AS events, sum(n.calls) AS calls FROM soakgate.normalizations_by_minute_unique AS n GROUP BY server, deployment, kind HAVING events > 0") {
		normalizations = append(normalizations, fleet.NormalizationCount{
			Server: r["server"].(string), Deployment: r["deployment"].(string), Kind: r["kind"].(string),
			Events: int64(r["events"].(float64)), Calls: int64(r["calls"].(float64)),
		})
	}
	assert.ElementsMatch(t, tally.Normalizations, normalizations, "normalizations")

	blocks := []fleet.BlockCount{}
	for _, r := range rows("SELECT server, deployment, sum(b.blocks) AS blocks, sum(b.malformed) AS malformed, sum(b.bytes_sum) AS bytes, max(arrayMax(mapKeys(sizes))) AS largest, sum(b.known_size_blocks) AS sized, sum(b.known_bytes_sum) AS sized_bytes, sum(b.response_bytes_sum) AS answers FROM soakgate.blocks_by_minute_unique AS b WHERE b.blocks > 0 GROUP BY server, deployment") {
		n := func(k string) int64 { return int64(r[k].(float64)) }
		blocks = append(blocks, fleet.BlockCount{
			Server: r["server"].(string), Deployment: r["deployment"].(string), Blocks: n("blocks"), Malformed: n("malformed"),
			Bytes: n("bytes"), Largest: n("largest"), Sized: n("sized"), SizedBytes: n("sized_bytes"), AnswerBytes: n("answers"),
		})
	}
	assert.ElementsMatch(t, tally.Blocks, blocks, "blocks and their bytes")

	assert.ElementsMatch(t, findings(tally.Violations), storedFindings(rows("SELECT server, violations.rule AS rule, count() AS n FROM soakgate.records_unique ARRAY JOIN violations GROUP BY server, rule")), "violations by rule")
	assert.ElementsMatch(t, findings(tally.Violations), storedFindings(rows("SELECT server, rule, sum(v.violations) AS n FROM soakgate.violations_by_minute_unique AS v GROUP BY server, rule HAVING n > 0")), "violations by rule, sealed")
	compareMeta(t, c, tally)
}

func compareMeta(t *testing.T, c *collector, tally fleet.Tally) {
	t.Helper()
	warnings := []fleet.WarningCount{}
	for _, r := range c.mustQuery("SELECT server, ifNull(kind, '') AS kind, sum(w.warnings) AS n FROM soakgate.warnings_by_minute_unique AS w GROUP BY server, kind HAVING n > 0") {
		warnings = append(warnings, fleet.WarningCount{Server: r["server"].(string), Kind: r["kind"].(string), Warnings: int64(r["n"].(float64))})
	}
	assert.ElementsMatch(t, tally.Warnings, warnings, "warnings")

	limits := []fleet.RateLimitCount{}
	for _, r := range c.mustQuery("SELECT server, sum(l.records) AS n, sum(l.at_zero) AS zero, sum(l.retry_after_count) AS waits, sum(l.retry_after_ms_sum) AS ms, max(l.retry_after_ms_max) AS most FROM soakgate.rate_limits_by_minute_unique AS l GROUP BY server") {
		n := func(k string) int64 { return int64(r[k].(float64)) }
		limits = append(limits, fleet.RateLimitCount{
			Server: r["server"].(string), RateLimits: n("n"), AtZero: n("zero"), RetryAfters: n("waits"),
			RetryAfterSum: r["ms"].(float64) / 1000, RetryAfterMost: r["most"].(float64) / 1000,
		})
	}
	want := slices.Clone(tally.RateLimits)
	for i := range want {
		want[i].Textual = 0 // kept in records only
	}
	assert.ElementsMatch(t, want, limits, "rate limits")
	var textual int64
	for _, l := range tally.RateLimits {
		textual += l.Textual
	}
	assert.Equal(t, textual, c.number("SELECT countIf(limit_per_second_text IS NOT NULL OR remaining_text IS NOT NULL) FROM soakgate.records_unique"), "limits sent as text")
	assert.Equal(t, tally.Opaque, c.number("SELECT count() FROM soakgate.records_unique WHERE opaque"), "opaque errors")
}

// rule counts violations of one server by rule.
type rule struct{ server, rule string }

type ruleCount struct {
	rule
	n int64
}

func findings(counts []fleet.FindingCount) []ruleCount {
	sums := map[rule]int64{}
	for _, f := range counts {
		sums[rule{f.Server, f.Rule}] += f.Records
	}
	return ruleCounts(sums)
}

func storedFindings(rows []map[string]any) []ruleCount {
	sums := map[rule]int64{}
	for _, r := range rows {
		sums[rule{r["server"].(string), r["rule"].(string)}] += int64(r["n"].(float64))
	}
	return ruleCounts(sums)
}

func ruleCounts(sums map[rule]int64) []ruleCount {
	counts := []ruleCount{}
	for r, n := range sums {
		counts = append(counts, ruleCount{r, n})
	}
	return counts
}

func nonZero(m map[string]int64) map[string]int64 {
	out := map[string]int64{}
	for k, v := range m {
		if v != 0 {
			out[k] = v
		}
	}
	return out
}
