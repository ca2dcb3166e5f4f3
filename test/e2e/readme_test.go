package e2e

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// runDemo runs what `make demo DEMO_EXIT=1` runs.
func runDemo(c *collector) (output string, err error) {
	command := exec.Command(filepath.Join(filepath.Dir(binary(c.t)), "demo"), "-exit")
	command.Dir, command.Env = "../..", c.env()
	text, err := command.CombinedOutput()
	return string(text), err
}

func TestDemo(t *testing.T) {
	c := newCollector(t)
	for range 2 {
		output, err := runDemo(c)
		require.NoError(t, err, output)
		assert.Contains(t, output, "Shipped and acknowledged: 18000 log records")
		assert.Contains(t, output, "│ amazon_ads_mcp", "the failed calls by server, from the rollups")
		assert.Contains(t, output, "BLOCK", "the demo's second server breaks the contract")
	}
}

func TestDemoNamesThePortThatIsTaken(t *testing.T) {
	c := newCollector(t)
	taken, err := net.Listen("tcp", c.http)
	require.NoError(t, err)
	defer taken.Close()
	output, err := runDemo(c)
	require.Error(t, err)
	assert.Contains(t, output, c.http)
	assert.Contains(t, output, "SOAKGATE_OTLP_HTTP")
	assert.NoDirExists(t, filepath.Join(c.data, "clickhouse"), "nothing was started")
}

// TestReadme runs the README's requests as they stand, but for the ports.
func TestReadme(t *testing.T) {
	c := newCollector(t)
	c.start()
	c.waitSchema()
	text, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "```sh\ncurl ")
	require.True(t, found, "the README shows a request")
	block, _, _ := strings.Cut("curl "+rest, "\n```")
	block = strings.NewReplacer("127.0.0.1:4318", c.http, "127.0.0.1:8123", c.clickhouse).Replace(block)
	request, question, found := strings.Cut(block, "\ncurl ")
	require.True(t, found, "the README asks what arrived")
	answer := shell(t, request)
	assert.Equal(t, "{}", answer, "nothing to say")
	require.Eventually(t, func() bool {
		return strings.Contains(shell(t, "curl "+question), "amazon_sp_mcp\tinternal_error\ttrue\t[]")
	}, patience, 200*time.Millisecond)
}

func shell(t *testing.T, script string) string {
	t.Helper()
	command := exec.Command("bash", "-c", script)
	var out, errors bytes.Buffer
	command.Stdout, command.Stderr = &out, &errors
	require.NoError(t, command.Run(), "%s\n%s", script, errors.String())
	return out.String()
}
