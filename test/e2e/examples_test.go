package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// installed runs an installation once for each state of the file that pins what
// it installs, and keeps it below .cache.
func installed(t *testing.T, name, pins string, install func(dir string) [][]string) (dir string) {
	t.Helper()
	text, err := os.ReadFile(pins)
	require.NoError(t, err)
	sum := sha256.Sum256(text)
	dir, err = filepath.Abs("../../.cache/examples/" + name + "-" + hex.EncodeToString(sum[:6]))
	require.NoError(t, err)
	done := filepath.Join(dir, "installed")
	if _, err := os.Stat(done); err == nil {
		return dir
	}
	require.NoError(t, os.RemoveAll(dir))
	require.NoError(t, os.MkdirAll(dir, 0o750))
	for _, args := range install(dir) {
		command := exec.CommandContext(t.Context(), args[0], args[1:]...)
		command.Dir = dir
		output, err := command.CombinedOutput()
		require.NoError(t, err, "%s: %s", strings.Join(args, " "), output)
	}
	require.NoError(t, os.WriteFile(done, nil, 0o600))
	return dir
}

// pythonExample installs FastMCP and OpenTelemetry into a virtual environment, and
// returns the command that makes the calls.
func pythonExample(t *testing.T) []string {
	source, err := filepath.Abs("../../examples/python")
	require.NoError(t, err)
	pins := filepath.Join(source, "requirements.txt")
	dir := installed(t, "python", pins, func(dir string) [][]string {
		return [][]string{{"python3", "-m", "venv", dir}, {filepath.Join(dir, "bin/pip"), "install", "-q", "--no-deps", "-r", pins}}
	})
	return []string{filepath.Join(dir, "bin/python"), filepath.Join(source, "calls.py")}
}

// typescriptExample installs the MCP SDK and OpenTelemetry, and compiles.
func typescriptExample(t *testing.T) []string {
	source, err := filepath.Abs("../../examples/typescript")
	require.NoError(t, err)
	dir := installed(t, "typescript", filepath.Join(source, "package-lock.json"), func(dir string) [][]string {
		return [][]string{
			{"cp", filepath.Join(source, "package.json"), filepath.Join(source, "package-lock.json"), dir},
			{"npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"},
		}
	})
	// Always the sources as they are now; what was installed stays.
	for _, args := range [][]string{{"cp", "-r", filepath.Join(source, "src"), filepath.Join(source, "tsconfig.json"), dir}, {"npx", "tsc"}} {
		command := exec.CommandContext(t.Context(), args[0], args[1:]...)
		command.Dir = dir
		output, err := command.CombinedOutput()
		require.NoError(t, err, "%s: %s", strings.Join(args, " "), output)
	}
	return []string{"node", filepath.Join(dir, "dist/calls.js")}
}

// ended is what an example's client saw.
type ended struct {
	Calls  map[string]int `json:"calls"`  // "tool outcome"
	Errors map[string]int `json:"errors"` // "kind code"
}

// TestExamples runs the servers of examples/ as they stand, with spans only and
// then with events too, and holds what arrives against what their clients saw.
func TestExamples(t *testing.T) {
	for _, tt := range []struct {
		name, service string
		calls         func(*testing.T) []string
		spans, events string
	}{
		{"Python", "amazon_sp_mcp", pythonExample, "server.py", "server_with_events.py"},
		{"TypeScript", "amazon_ads_mcp", typescriptExample, "server.js", "server-with-events.js"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			calls := tt.calls(t)
			c := newCollector(t)
			c.start()
			stored := int64(0)
			for _, script := range []string{tt.spans, tt.events} {
				saw := runExample(t, c, tt.service, script, calls)
				total := int64(0)
				for _, n := range saw.Calls {
					total += int64(n)
				}
				require.EqualValues(t, 15, total)
				stored += total
				if script == tt.events {
					stored += total // an event beside each span
				}
				c.waitSealed(stored)
				assert.Equal(t, saw, arrived(t, c, script), script)
			}
			assert.Equal(t, []map[string]any{{"server": tt.service, "environment": "production", "version": "1.0.0"}},
				c.mustQuery("SELECT DISTINCT server, environment, server_version AS version FROM soakgate.records_unique"))
			assert.Equal(t, int64(6), c.number("SELECT sum(n.calls) FROM soakgate.normalizations_by_minute_unique AS n WHERE kind = 'renamed'"), "_meta comes with events")
			assert.Equal(t, int64(6), c.number("SELECT countIf(response_bytes > 0) FROM soakgate.records_unique"))
			assert.Zero(t, c.number("SELECT countIf(notEmpty(violations.rule)) FROM soakgate.records_unique"))
			require.NoError(t, c.terminate(), c.output)
		})
	}
}

func runExample(t *testing.T, c *collector, service, script string, calls []string) (saw ended) {
	t.Helper()
	command := exec.CommandContext(t.Context(), calls[0], append(calls[1:], script)...)
	command.Env = append(os.Environ(),
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://"+c.http, "OTEL_BSP_SCHEDULE_DELAY=200", "OTEL_BLRP_SCHEDULE_DELAY=200", "OTEL_SERVICE_NAME="+service,
		"OTEL_RESOURCE_ATTRIBUTES=service.version=1.0.0,deployment.environment.name=production,mcp.deployment.id="+script)
	var stderr lockedBuffer
	command.Stderr = &stderr
	output, err := command.Output()
	require.NoError(t, err, "%s: %s", script, stderr.String())
	require.NoError(t, json.Unmarshal(output, &saw), "%s: %s", script, output)
	return saw
}

// arrived is what a deployment's rollups hold.
func arrived(t *testing.T, c *collector, deployment string) ended {
	t.Helper()
	got := ended{Calls: map[string]int{}, Errors: map[string]int{}}
	for _, r := range c.mustQuery(fmt.Sprintf("SELECT tool, outcome, sum(c.calls) AS n FROM soakgate.calls_by_minute_unique AS c WHERE deployment = '%s' GROUP BY tool, outcome HAVING n > 0", deployment)) {
		got.Calls[r["tool"].(string)+" "+r["outcome"].(string)] = int(r["n"].(float64))
	}
	for _, r := range c.mustQuery(fmt.Sprintf("SELECT error_kind, error_code, sum(e.errors) AS n FROM soakgate.errors_by_minute_unique AS e WHERE deployment = '%s' GROUP BY error_kind, error_code HAVING n > 0", deployment)) {
		got.Errors[r["error_kind"].(string)+" "+r["error_code"].(string)] = int(r["n"].(float64))
	}
	return got
}
