package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDashboardsCommand(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, c := range []struct {
		name string
		args []string
		code int
	}{
		{"written", []string{"--out", filepath.Join(dir, "out"), "--datasource", "clickhouse-prod", "--database", "telemetry"}, 0},
		{"no folder", nil, 2},
		{"no name of a database", []string{"--out", dir, "--database", "a b"}, 2},
		{"an unknown flag", []string{"--outt", dir}, 2},
		{"an argument", []string{"--out", dir, "more"}, 2},
		{"a folder that cannot be", []string{"--out", filepath.Join(file, "out")}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			command := newCommand()
			var out bytes.Buffer
			command.SetOut(&out)
			command.SetErr(&out)
			command.SetArgs(append([]string{"dashboards"}, c.args...))
			err := command.Execute()
			code := 0
			if err != nil {
				code = 1
				if exit, ok := errors.AsType[*exitError](err); ok {
					code = exit.code
				}
			}
			assert.Equal(t, c.code, code, err)
		})
	}
	raw, err := os.ReadFile(filepath.Join(dir, "out", "soak.json"))
	require.NoError(t, err)
	assert.Contains(t, string(raw), `"value": "clickhouse-prod"`)
	assert.Contains(t, string(raw), "telemetry.blocks_by_minute_unique")
}
