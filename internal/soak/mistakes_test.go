package soak

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mistake is a usual mistake, as an edit of one file: from stands in it once.
type mistake struct{ name, file, from, to string }

// D20 (d). Each of these, put in on purpose, must turn a test red.
var mistakes = []mistake{
	{"blocks of wrong clocks are evidence for", "blocks.go", "counts := r.Trusted && j.countsFor(server, r.Deployment)", "counts := j.countsFor(server, r.Deployment)"},
	{"malformed blocks of wrong clocks are let go", "blocks.go", "	t.malformed += r.Malformed\n", "	if counts {\n		t.malformed += r.Malformed\n	}\n"},
	{"sampling weights are evidence", "blocks.go", "t.clean += r.Blocks - r.Malformed", "t.clean += r.WeightMicro/1_000_000 - r.Malformed"},
	{"a new version forgets the finding", "blocks.go", "return 1 + len(bad)", "return 1"},
	{"each try has the whole of alpha", "blocks.go", "math.Pow(2, float64(k))", "math.Pow(1, float64(k))"},
	{"one block fewer than n0", "gates_blocks.go", "missing := n0 - n\n", "missing := n0 - n - 1\n"},
	{"one malformed of many is tolerated", "gates_blocks.go", "case x > rules.MaxSeen:", "case x > rules.MaxSeen+n/1000:"},
	{"the smallest deployment is left out", "gates_blocks.go", "!d.counted || d.observed() != most", "!d.counted || d.observed() == most"},
	{"the 99th percentile is read off the sample", "gates_blocks.go", "if missing := stats.FurtherClean(x, n, p0, a); missing > 0 {", "if missing := 100*x - n; missing > 0 {"},
	{"a bound for one look is looked at daily", "stats/stats.go", "return n > 0 && EvidenceBelow(x, n, p0) >= -math.Log(a)", "return Upper(x, n, a) <= p0"},
	{"nothing of nothing is zero percent", "gate.go", "whole <= 0 ||", "whole < 0 ||"},
	{"a host is a deployment", "judge.go", `case "mcp.deployment.id",`, `case "host.name", "mcp.deployment.id",`},
	{"staging counts", "judge.go", `return strings.ToLower(strings.TrimSpace(environment)) == "production"`, `return strings.TrimSpace(environment) != ""`},
	{"calendar days instead of elapsed time", "gates_time.go", "if c.elapsed >= rules.Min {", "if (c.elapsed+policy.Day-1)/policy.Day >= rules.Min/policy.Day {"},
	{"silence is evidence", "runs.go", "if length > minutes(rules.PauseAfter) {", "if length > minutes(rules.RestartAfter) {"},
	{"nobody collected, and the clock runs on", "runs.go", "		if !h.waived {\n			begin(d.To", "		if h.waived {\n			begin(d.To"},
	{"what senders kept is not seen", "runs.go", "if silent || !overlaps(filled, d) {", "if silent || overlaps(filled, d) || true {"},
	{"one deployment off restarts the clock", "runs.go", "case length > minutes(rules.OffAfter) && overlaps(off, g):", "case overlaps(off, Run{g.From - 5000, g.To}):"},
	{"the clock runs on in silence", "runs.go", "		c.end = last\n", "		c.end = j.t\n"},
	{"a strict fleet must pass fields through", "gates_coverage.go", `{kindUnknownPassed, "off", strictOff}`, `{kindUnknownPassed, "off", strictOff || strictOn}`},
	{"an item not tested has passed", "gates_contract.go", "r != ItemPass && r != ItemFail && !slices", `r == "" && !slices`},
	{"a run of another version is evidence", "gates_contract.go", "r.Server == server && r.Version == version && counts", "r.Server == server && counts"},
	{"each server may have its own suite", "gates_contract.go", "if len(names) > 1 {", "if len(names) > 9 {"},
	{"versions compare as text", "versions.go", "return semver.Compare(semver.MajorMinor(x), semver.MajorMinor(y)) > 0", "return semver.MajorMinor(x) > semver.MajorMinor(y)"},
	{"no complaint is no complaint, though nobody looked", "gates_registers.go", "	review, ok := j.f.Registers.Value.reviewed(server, j.at.At)\n", "	review, ok := j.f.Registers.Value.reviewed(server, j.at.At)\n	if !ok {\n		review.At, ok = j.at.At, true\n	}\n"},
	{"what was entered later counts", "registers.go", "return at.Before(t) && !recorded.After(t)", "return at.Before(t)"},
	{"an expired waiver accepts", "judge.go", "case !j.at.At.Before(w.Until):", "case j.at.At.Before(w.From):"},
	{"waived reads as pass", "gate.go", "return g.set(StateWaived, ", "return g.set(StatePass, "},
	{"a gate that was not judged passes", "verdict.go", "			state = StateUnknown\n", "			state = StatePass\n"},
	{"what could not be read is waited for", "verdict.go", "case len(by[StateUnknown]) > 0 || len(demanded) == 0:", "case len(demanded) == 0:"},
	{"a block gives way to what could not be read", "verdict.go", "	case len(by[StateBlock]) > 0:\n", "	case len(by[StateBlock]) > 0 && len(by[StateUnknown]) == 0:\n"},
	{"one server decides for both", "verdict.go", "	return refs\n", "	return refs[:len(refs)-len(policy.ServerGates)]\n"},
	{"replays pass for live data", "gates_registers.go", "case calls > 0 && !j.p.AllowReplay:", "case calls > 0 && j.p.AllowReplay && false:"},
	{"a collector gone for good is forgotten", "gates_quality.go", "case j.at.At.Sub(c.At) > rules.HeartbeatMaxAge.Std():", "case j.at.At.Sub(c.At) > 1000*rules.HeartbeatMaxAge.Std():"},
	{"what lies before the look-back is forgotten", "judge.go", "kept.Oldest < j.t.Add(-j.p.LookBack)", "kept.Oldest < 0"},
	{"a queue that drains is a wrong clock", "clocks.go", "&& highest-lowest <= milliseconds(c.Steady)", ""},
}

// The table is checked in every run: an edit that no longer fits would prove nothing.
func TestMistakesStillFit(t *testing.T) {
	require.GreaterOrEqual(t, len(mistakes), 20)
	for _, m := range mistakes {
		text, err := os.ReadFile(m.file)
		require.NoError(t, err)
		assert.Equal(t, 1, strings.Count(string(text), m.from), "%s: %q in %s", m.name, m.from, m.file)
		assert.NotEqual(t, m.from, m.to)
	}
}

// Each mistake is compiled in, without touching the sources, and the tests run on
// it. This takes minutes, so it is asked for: SOAKGATE_MISTAKES=1 go test -run Mistakes.
func TestMistakesTurnATestRed(t *testing.T) {
	if os.Getenv("SOAKGATE_MISTAKES") == "" {
		return // TestMistakesStillFit has checked the table
	}
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			text, err := os.ReadFile(m.file)
			require.NoError(t, err)
			dir := t.TempDir()
			edited := filepath.Join(dir, "edited.go")
			require.NoError(t, os.WriteFile(edited, []byte(strings.Replace(string(text), m.from, m.to, 1)), 0o600))
			source, err := filepath.Abs(m.file)
			require.NoError(t, err)
			overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{source: edited}})
			require.NoError(t, err)
			list := filepath.Join(dir, "overlay.json")
			require.NoError(t, os.WriteFile(list, overlay, 0o600))
			cmd := exec.CommandContext(t.Context(), "go", "test", "-overlay", list, "./...")
			cmd.Env = append(os.Environ(), "SOAKGATE_MISTAKES=", "SOAKGATE_SIM_HISTORIES=60", "SOAKGATE_SIM_RATES=300", "SOAKGATE_SIM_PAIRS=4")
			out, err := cmd.CombinedOutput()
			require.Error(t, err, "no test is red")
			assert.NotContains(t, string(out), "[build failed]", string(out))
			for line := range strings.Lines(string(out)) {
				if strings.HasPrefix(strings.TrimSpace(line), "--- FAIL") && !strings.Contains(line, "Mistakes") {
					t.Log(strings.TrimSpace(line))
				}
			}
			assert.Contains(t, strings.ReplaceAll(string(out), "--- FAIL: TestMistakesStillFit", ""), "--- FAIL", "only the table's own check is red")
		})
	}
}
