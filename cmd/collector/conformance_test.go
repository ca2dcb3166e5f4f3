package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/classify"
	"github.com/soakgate/soakgate/internal/conformance"
)

// TestConformanceCommand holds exit statuses and what is recorded.
func TestConformanceCommand(t *testing.T) {
	const good = `{"error_kind":"auth_error","tool":"t","summary":"s","details":[],"hints":[],"examples":[],"error_code":"AUTHENTICATION_ERROR","retryable":false,"_envelope_version":1}`
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	right, wrong := write("right.json", good), write("wrong.json", `{"_envelope_version":1}`)
	other, broken := write("other.json", `{"a":1}`), write("broken.json", "{'a':1}")
	pipe := filepath.Join(dir, "pipe.json")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	named := []string{"--server", "amazon-sp-mcp", "--server-version", "1.2.0"}
	var recorded []conformance.Run
	keep := func(_ context.Context, dsn string, run conformance.Run) error {
		assert.Equal(t, "http://store", dsn)
		recorded = append(recorded, run)
		return nil
	}
	lose := func(context.Context, string, conformance.Run) error { return errors.New("store away") }
	for _, tc := range []struct {
		name     string
		args     []string
		record   conformance.Recorder
		code     int
		says     string
		recorded int
		out      string
	}{
		{"conforms", []string{right}, nil, 0, "", 0, "item 1  pass"},
		{"violates", []string{right, wrong}, nil, 1, "", 0, "item 1  fail"},
		{"json", []string{right, "--format", "json"}, nil, 0, "", 0, `{"summary":{"payloads":1`},
		{"junit", []string{right, "--format", "junit"}, nil, 0, "", 0, "<testsuites"},
		{"recorded", append(named, right, "--record", "http://store"), keep, 0, "", 1, "1.2.0"},
		{"a failing run is recorded too", append(named, wrong, "--record", "http://store"), keep, 1, "", 1, "item 1  fail"},
		{"not recorded", append(named, right, "--record", "http://store"), lose, 2, "store away", 0, "item 1  pass"},
		{"no store", append(named, right, "--record", "http://store"), nil, 2, "run without --record", 0, ""},
		{"record what", []string{right, "--record", "http://store"}, keep, 2, "add --server and --server-version", 0, ""},
		{"recorded suite", append(named, right, "--record", "http://store", "--suite-version", "9.9"), keep, 2, "leave out --suite-version or --record", 0, ""},
		{"suite", []string{right, "--suite-version", "9.9"}, nil, 0, "", 0, "suite 9.9"},
		{"no path", nil, nil, 2, "name a file", 0, ""},
		{"no such path", []string{dir + "/nowhere"}, nil, 2, "nowhere", 0, ""},
		{"broken fixture", []string{right, broken}, nil, 2, "broken.json: expected JSON", 0, ""},
		{"pipe", []string{right, pipe}, nil, 2, "expected a regular file", 0, ""},
		{"nothing tested", []string{other}, nil, 2, "nothing was tested", 0, ""},
		{"format", []string{right, "--format", "xml"}, nil, 2, "text, json or junit", 0, ""},
		{"flag", []string{right, "--colour"}, nil, 2, "colour", 0, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			recorded = nil
			var out bytes.Buffer
			cmd := newConformanceCommand(tc.record)
			cmd.SetArgs(tc.args)
			cmd.SetOut(&out)
			cmd.SetErr(&out)
			err := cmd.ExecuteContext(t.Context())
			code := 0
			if err != nil {
				var exit *exitError
				require.ErrorAs(t, err, &exit)
				code = exit.code
				assert.Contains(t, err.Error(), tc.says)
			}
			assert.Equal(t, tc.code, code)
			assert.Contains(t, out.String(), tc.out)
			require.Len(t, recorded, tc.recorded)
			if tc.recorded == 1 {
				r := recorded[0]
				assert.Equal(t, "amazon_sp_mcp", r.Server)
				assert.Equal(t, "1.2.0", r.ServerVersion)
				assert.WithinDuration(t, time.Now(), r.At, time.Minute)
				assert.Len(t, r.Summary.Items, classify.ItemCount)
				assert.NotEmpty(t, r.Summary.SuiteVersion)
			}
		})
	}
}
