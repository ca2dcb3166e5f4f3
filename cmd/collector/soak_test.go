package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/soak"
	"github.com/soakgate/soakgate/internal/soak/evidence"
	"github.com/soakgate/soakgate/internal/soak/policy"
)

const soakTestPolicy = `version: 1
name: test
in_force_since: 2026-01-01T00:00:00Z
servers: [{name: sp}]
`

// soakFigures gives the least figures that flip under soakTestPolicy as of at.
func soakFigures(at soak.AsOf) soak.Figures {
	t, day := at.Minute(), func(n int) time.Time { return at.At.AddDate(0, 0, -n) }
	start := t - 15*1440
	f := soak.Figures{
		Version: soak.FiguresVersion, Bounds: soak.Bounds{AsOf: at, RunStarts: []soak.RunStart{{Server: "sp", From: start}}},
		Kept:     soak.Got(soak.Kept{Oldest: start}),
		Servers:  soak.Got([]soak.ServerRow{{Server: "sp", Environment: "production", Calls: 900, First: start, Last: t - 1}}),
		Versions: soak.Got([]soak.VersionRow{{Server: "sp", Version: "1.0.0", First: start, FirstOn: start, LastOn: t - 1, Live: 9}}),
		Refills:  soak.Got([]soak.Refill{}), Arrivals: soak.Got([]soak.ArrivalRow{{Server: "sp", Received: 900}}),
		Heartbeats: soak.Got(soak.Heartbeats{Up: []soak.Run{{From: start, To: t}}, Collectors: []soak.Collector{{Journal: "j", At: at.At.Add(-time.Second)}}}),
		Lateness:   soak.Got([]soak.LatenessRow{{Server: "sp", Instance: "i", Day: int64(t) / 1440, Records: 900}}),
		Readable:   soak.Got([]soak.ReadableRow{{Server: "sp", Version: "1.0.0", Readable: 9000}}),
		Findings:   soak.Got([]soak.FindingRow{}), Legacy: soak.Got([]soak.LegacyRow{}), StrictHours: soak.Got([]soak.StrictHours{}),
		Tools:       soak.Got([]soak.ToolRow{{Server: "sp", Tool: "list", Seen: 900, On: 900}}),
		Defaults:    soak.Got([]soak.DefaultRow{{Server: "sp", Version: "1.0.0", At: day(1), RecordedAt: day(1)}}),
		Conformance: soak.Got([]soak.ConformanceRow{{Server: "sp", Version: "1.0.0", Suite: "1", At: day(1), RecordedAt: day(1), Items: map[string]string{"1": "pass", "2": "pass", "3": "pass", "4": "pass", "6": "pass"}}}),
		Registers:   soak.Got(soak.Registers{Reviews: []soak.Review{{Server: "sp", By: "ann", At: day(1), RecordedAt: day(1)}}}),
		Replays:     soak.Got([]soak.Replay{}), Replayed: soak.Got([]soak.ReplayedRow{}), Rejected: soak.Got([]soak.RejectedRow{}), Books: soak.Got(soak.Books{SealedThrough: t}),
	}
	f.Activity, f.Blocks, f.Kinds = soak.Got([]soak.Activity{}), soak.Got([]soak.BlockRow{}), soak.Got([]soak.KindRow{})
	for _, d := range []string{"a", "b", "c"} {
		f.Activity.Value = append(f.Activity.Value, soak.Activity{Server: "sp", Deployment: d, Source: "mcp.deployment.id", On: []soak.CallRun{{Run: soak.Run{From: start, To: t}, Calls: 400}}})
		f.Blocks.Value = append(f.Blocks.Value, soak.BlockRow{
			Server: "sp", Version: "1.0.0", Deployment: d, Source: "mcp.deployment.id", Trusted: true, Blocks: 2000,
			WeightMicro: 2_000_000_000, Sizes: []soak.Bin{{Size: 90, Count: 2000}}, Known: 2000, KnownBytes: 180_000, AnswerBytes: 9_000_000,
		})
		for _, kind := range []string{"renamed", "dropped_alias", "coerced"} {
			f.Kinds.Value = append(f.Kinds.Value, soak.KindRow{Server: "sp", Kind: kind, Tool: "list", Deployment: d, Source: "mcp.deployment.id", Calls: 50})
		}
	}
	return f
}

// soakOutcomes are the figures that a child process is asked to read.
var soakOutcomes = map[string]func(f *soak.Figures) error{
	"flip":  func(*soak.Figures) error { return nil },
	"hold":  func(f *soak.Figures) error { f.Blocks.Value = f.Blocks.Value[:1]; return nil },
	"block": func(f *soak.Figures) error { f.Blocks.Value[0].Malformed = 1; return nil },
	"unread": func(f *soak.Figures) error {
		f.Books = soak.Failed[soak.Books](errors.New("no such table"))
		return nil
	},
	"down": func(*soak.Figures) error { return errors.New("connection refused") },
}

func soakReader(outcome string) FiguresReader {
	return func(_ context.Context, dsn string, _ policy.Policy, at soak.AsOf, registers soak.Registers) (soak.Figures, evidence.Sources, error) {
		f := soakFigures(at)
		f.Registers.Value = f.Registers.Value.Join(registers)
		err := soakOutcomes[outcome](&f)
		return f, evidence.Sources{Queries: map[string]string{"dsn": dsn}}, err
	}
}

// TestSoakChild lets the test binary stand in for the collector in shell scripts.
func TestSoakChild(*testing.T) {
	outcome := os.Getenv("SOAKGATE_TEST_SOAK")
	if outcome == "" {
		return // only a child process has something to do here
	}
	os.Exit(soakRun(soakReader(outcome), os.Stdout, os.Stderr, strings.Split(os.Getenv("SOAKGATE_TEST_ARGS"), "\x1f")...))
}

// soakRun runs the command as main does, and gives the exit status.
func soakRun(read FiguresReader, out, errs io.Writer, args ...string) int {
	cmd := newSoakCommand(read)
	cmd.SetArgs(args)
	cmd.SetOut(out)
	cmd.SetErr(errs)
	err := cmd.ExecuteContext(context.Background())
	if err == nil {
		return 0
	}
	_, _ = errs.Write([]byte(err.Error()))
	if exit, ok := errors.AsType[*exitError](err); ok {
		return exit.code
	}
	return 1
}

func writeSoakFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// U56: every verdict and every fault has its own exit status, and nothing but a
// FLIP is 0.
func TestSoakExitStatuses(t *testing.T) {
	good := writeSoakFile(t, "policy.yaml", soakTestPolicy)
	bad := func(text string) string { return writeSoakFile(t, "bad.yaml", text) }
	register := writeSoakFile(t, "register.yaml", "complaints: [{id: c1, server: sp, kind: parsing, action: open, by: ann, at: 2026-03-01T00:00:00Z, entered: 2026-03-01T00:00:00Z}]\n")
	for _, tt := range []struct {
		name, outcome string
		args          []string
		code          int
		out, errs     string
	}{
		{"FLIP", "flip", []string{"--policy", good}, 0, "FLIP", ""},
		{"HOLD", "hold", []string{"--policy", good}, 3, "HOLD", ""},
		{"BLOCK", "block", []string{"--policy", good}, 4, "BLOCK", ""},
		{"one figure unread", "unread", []string{"--policy", good}, 1, "no such table", ""},
		{"store away", "down", []string{"--policy", good}, 1, "COULD NOT TELL", "connection refused"},
		{"a complaint from a register", "flip", []string{"--policy", good, "--register", register}, 4, "c1", ""},
		{"JSON", "hold", []string{"--policy", good, "--format", "json"}, 3, `"decision": "HOLD"`, ""},
		{"Markdown", "hold", []string{"--policy", good, "--format", "markdown"}, 3, "## Soak: HOLD", ""},
		{"history", "hold", []string{"--policy", good, "--history", "3h"}, 3, "or before", ""},
		{"the built-in policy", "flip", nil, 3, "amazon_sp_mcp", ""},
		{"empty policy", "flip", []string{"--policy", bad("")}, 2, "", "line 1"},
		{"misspelt gate", "flip", []string{"--policy", bad(soakTestPolicy + "gates: {malfromed: {}}\n")}, 2, "", "malfromed"},
		{"text as a threshold", "flip", []string{"--policy", bad(soakTestPolicy + "gates: {deployments: {min: three}}\n")}, 2, "", "gates.deployments.min"},
		{"no such policy", "flip", []string{"--policy", good + ".none"}, 2, "", "policy.yaml.none"},
		{"no such register", "flip", []string{"--policy", good, "--register", "/none"}, 2, "", "/none"},
		{"a register about a stranger", "flip", []string{"--policy", bad(strings.Replace(soakTestPolicy, "sp", "ads", 1)), "--register", register}, 2, "", "is not named in the policy"},
		{"instant without offset", "flip", []string{"--policy", good, "--as-of", "2026-03-01T00:00:00"}, 2, "", "offset"},
		{"instant to come", "flip", []string{"--policy", good, "--as-of", "2999-03-01T00:00:00Z"}, 2, "", "future"},
		{"unknown format", "flip", []string{"--policy", good, "--format", "yaml"}, 2, "", "yaml"},
		{"bad history", "flip", []string{"--policy", good, "--history", "long"}, 2, "", "--history"},
		{"unknown flag", "flip", []string{"--polcy", good}, 2, "", "polcy"},
		{"an argument", "flip", []string{"now"}, 2, "", "now"},
		{"evidence that cannot be written", "flip", []string{"--policy", good, "--evidence", "/none/at/all"}, 1, "FLIP", "/none/at/all"},
		{"metrics that cannot be written", "flip", []string{"--policy", good, "--metrics", "/none/at/all"}, 1, "FLIP", "/none/at/all"},
		{"verify nothing", "flip", []string{"verify"}, 2, "", "arg"},
		{"verify no such file", "flip", []string{"verify", "/none"}, 1, "", "/none"},
		{"verify what is no evidence", "flip", []string{"verify", good}, 1, "", "altered"},
		{"verify in an unknown format", "flip", []string{"verify", "--format", "yaml", good}, 2, "", "yaml"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			code := soakRun(soakReader(tt.outcome), &out, &errs, tt.args...)
			assert.Equal(t, tt.code, code, errs.String())
			assert.Contains(t, out.String(), tt.out)
			assert.Contains(t, errs.String(), tt.errs)
			if tt.errs == "" {
				assert.Empty(t, errs.String(), "a verdict is not an error message")
			}
		})
	}
}

// A shell script sees the statuses that the documentation promises.
func TestSoakExitStatusesInAShell(t *testing.T) {
	good := writeSoakFile(t, "policy.yaml", soakTestPolicy)
	script := `set -e
status=0; "$COLLECTOR" -test.run TestSoakChild >/dev/null 2>&1 || status=$?
case $status in 0) echo flip ;; 3) echo hold ;; 4) echo block ;; 1) echo could not tell ;; 2) echo usage ;; *) echo "$status" ;; esac`
	self, err := os.Executable()
	require.NoError(t, err)
	for outcome, want := range map[string]string{"flip": "flip", "hold": "hold", "block": "block", "unread": "could not tell", "down": "could not tell", "usage": "usage"} {
		args := []string{"--policy", good}
		child := outcome
		if outcome == "usage" {
			args, child = []string{"--nonsense"}, "flip"
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
		cmd.Env = append(os.Environ(), "COLLECTOR="+self, "SOAKGATE_TEST_SOAK="+child, "SOAKGATE_TEST_ARGS="+strings.Join(args, "\x1f"))
		out, err := cmd.Output()
		require.NoError(t, err, outcome)
		assert.Equal(t, want, strings.TrimSpace(string(out)), outcome)
	}
}

// U52: the evidence stands alone, is the same for the same data, and verifies.
func TestSoakEvidence(t *testing.T) {
	good := writeSoakFile(t, "policy.yaml", soakTestPolicy)
	for outcome, code := range map[string]int{"flip": 0, "hold": 3, "block": 4, "unread": 1, "down": 1} {
		var files [2][]byte
		for i := range files {
			path := filepath.Join(t.TempDir(), "soak.json")
			require.NoError(t, os.WriteFile(path, []byte("an older one"), 0o600))
			assert.Equal(t, code, soakRun(soakReader(outcome), &bytes.Buffer{}, &bytes.Buffer{}, "--policy", good, "--as-of", "2026-03-21T15:00:00Z", "--dsn", "http://store", "--evidence", path))
			var err error
			files[i], err = os.ReadFile(path)
			require.NoError(t, err)
			var out, errs bytes.Buffer
			assert.Equal(t, code, soakRun(nil, &out, &errs, "verify", path), errs.String())
			assert.Contains(t, out.String(), "2026-03-21T15:00:00Z")
			altered := writeSoakFile(t, "altered.json", strings.Replace(string(files[i]), `"alpha":0.05`, `"alpha":0.04`, 1))
			assert.Equal(t, 1, soakRun(nil, &bytes.Buffer{}, &errs, "verify", altered))
			entries, err := os.ReadDir(filepath.Dir(path))
			require.NoError(t, err)
			assert.Len(t, entries, 1, "no half-written file is left")
		}
		assert.Equal(t, string(files[0]), string(files[1]), outcome)
		assert.Contains(t, string(files[0]), `"soakgate":"`+version+`"`)
	}
}

// A store that is away must not leave yesterday's FLIP where machines look.
func TestSoakMetricsOfAStoreThatIsAway(t *testing.T) {
	good := writeSoakFile(t, "policy.yaml", soakTestPolicy)
	path := filepath.Join(t.TempDir(), "soak.prom")
	for outcome, want := range map[string]string{"flip": "soakgate_soak_verdict 1", "down": "soakgate_soak_verdict -2", "block": "soakgate_soak_verdict -1", "hold": "soakgate_soak_verdict 0"} {
		soakRun(soakReader(outcome), &bytes.Buffer{}, &bytes.Buffer{}, "--policy", good, "--metrics", path)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Contains(t, string(text), want)
	}
}

// CLI, evidence and metrics tell of one verdict.
func TestSoakOutputsAgree(t *testing.T) {
	good := writeSoakFile(t, "policy.yaml", soakTestPolicy)
	dir := t.TempDir()
	var out bytes.Buffer
	soakRun(soakReader("hold"), &out, &bytes.Buffer{}, "--policy", good, "--format", "json", "--evidence", dir+"/e", "--metrics", dir+"/m")
	var printed soak.Verdict
	require.NoError(t, json.Unmarshal(out.Bytes(), &printed))
	text, err := os.ReadFile(dir + "/e")
	require.NoError(t, err)
	e, err := evidence.Verify(text)
	require.NoError(t, err)
	assert.Equal(t, e.Verdict, printed)
	metrics, err := os.ReadFile(dir + "/m")
	require.NoError(t, err)
	assert.Equal(t, len(printed.Gates), strings.Count(string(metrics), "soakgate_soak_gate{"))
	for _, g := range printed.Gates {
		if g.State == soak.StateHold {
			assert.Contains(t, string(metrics), `soakgate_soak_gate{gate="`+string(g.Gate)+`",server="`+g.Server+`"} 0`)
		}
	}
}
