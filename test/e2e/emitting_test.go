package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEmittingSnippets runs every snippet of docs/emitting.md as it stands, but
// for the port, and finds each tool that they name, judged valid.
func TestEmittingSnippets(t *testing.T) {
	c := newCollector(t)
	c.start()
	c.waitSchema()
	text, err := os.ReadFile("../../docs/emitting.md")
	require.NoError(t, err)
	ran := map[string]int{}
	for _, m := range regexp.MustCompile("(?s)```([a-z]+)\n(.*?)\n```").FindAllSubmatch(text, -1) {
		language, snippet := string(m[1]), strings.ReplaceAll(string(m[2]), "127.0.0.1:4318", c.http)
		ran[language]++
		runSnippet(t, language, snippet)
	}
	assert.Equal(t, map[string]int{"sh": 3, "python": 1, "javascript": 1, "go": 1}, ran)
	c.waitSealed(10)
	tools := []string{}
	for _, r := range c.mustQuery("SELECT tool FROM soakgate.records_unique WHERE valid AND recognized ORDER BY tool") {
		tools = append(tools, r["tool"].(string))
	}
	assert.Equal(t, []string{"curl_attribute", "curl_event", "curl_meta", "curl_rpc", "curl_span", "go_event", "javascript_event", "javascript_meta", "python_event", "python_meta"}, tools)
}

func runSnippet(t *testing.T, language, snippet string) {
	t.Helper()
	var command *exec.Cmd
	switch language {
	case "sh":
		assert.Equal(t, "{}", shell(t, snippet), "nothing to say")
		return
	case "python":
		command = exec.CommandContext(t.Context(), pythonExample(t)[0], "-c", snippet)
	case "javascript":
		// Beside the packages, since that is where Node looks for them.
		file := filepath.Join(filepath.Dir(typescriptExample(t)[1]), "snippet.mjs")
		require.NoError(t, os.WriteFile(file, []byte(snippet), 0o600))
		command = exec.CommandContext(t.Context(), "node", file)
	case "go":
		file := filepath.Join(t.TempDir(), "main.go")
		require.NoError(t, os.WriteFile(file, []byte(snippet), 0o600))
		command = exec.CommandContext(t.Context(), "go", "run", file)
	default:
		t.Fatalf("no way to run %s", language)
	}
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s: %s", language, output)
}
