package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/ship"
)

// shipTo runs collector ship against an OTLP/HTTP endpoint that answers with
// the status.
func shipTo(t *testing.T, status int, declare ship.DeclareReplay, args ...string) (stdout, stderr string, requests int, err error) {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests++ // one connection, so one request at a time
		w.WriteHeader(status)
	}))
	defer srv.Close()
	var out, errs bytes.Buffer
	cmd := newShipCommand(declare)
	cmd.SetOut(&out)
	cmd.SetErr(&errs)
	cmd.SilenceErrors = true
	cmd.SetArgs(append([]string{"--endpoint", srv.URL, "--protocol", "http", "--retry-for", "0s"}, args...))
	err = cmd.ExecuteContext(t.Context())
	return out.String(), errs.String(), requests, err
}

func TestShipPrintsWhatWasAcknowledged(t *testing.T) {
	stdout, _, requests, err := shipTo(t, http.StatusOK, nil, "--records", "2000")
	require.NoError(t, err)
	assert.Equal(t, 4, requests)
	assert.Contains(t, stdout, "2000 of 2000 records acknowledged in 4 requests")
	assert.Contains(t, stdout, "BLOCK by amazon_sp_mcp/malformed, amazon_ads_mcp/malformed")
}

func TestShipWritesItsSummary(t *testing.T) {
	file := filepath.Join(t.TempDir(), "summary.json")
	stdout, _, _, err := shipTo(t, http.StatusOK, nil, "--records", "1000", "--format", "json", "--summary", file)
	require.NoError(t, err)
	var printed, written ship.Summary
	require.NoError(t, json.Unmarshal([]byte(stdout), &printed))
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &written))
	assert.Equal(t, printed, written)
	assert.EqualValues(t, 1000, written.Tally.Records)
	assert.NotEmpty(t, written.Tally.Errors)
}

func TestShipFailsWhenRecordsWereNotAcknowledged(t *testing.T) {
	file := filepath.Join(t.TempDir(), "summary.json")
	_, _, requests, err := shipTo(t, http.StatusBadRequest, nil, "--records", "1000", "--summary", file)
	require.ErrorContains(t, err, "1000 of 1000 records were not acknowledged")
	require.ErrorContains(t, err, "400 Bad Request")
	assert.Equal(t, 1, requests, "nothing more is sent to an endpoint that refuses for good")
	assert.FileExists(t, file, "the summary is wanted all the more")
}

func TestShipDeclaresReplaysFirst(t *testing.T) {
	t.Setenv("SOAKGATE_DSN", "")
	var got ship.Replay
	var dsn string
	declare := func(_ context.Context, d string, r ship.Replay) error {
		dsn, got = d, r
		return nil
	}
	_, stderr, _, err := shipTo(t, http.StatusOK, declare, "--scenario", "flip", "--records", "600", "--until", "2026-03-20T12:00:00+01:00", "--seed", "5", "--by", "me")
	require.NoError(t, err)
	assert.Equal(t, "http://127.0.0.1:8123/soakgate", dsn)
	assert.Equal(t, "ship-flip-5-20260320T110000.000Z", got.ID)
	assert.Equal(t, "me", got.By)
	assert.Equal(t, "2026-02-28 11:00:00 +0000 UTC", got.From.String())
	assert.Contains(t, stderr, "replay "+got.ID+" was declared")

	_, _, requests, err := shipTo(t, http.StatusOK, func(context.Context, string, ship.Replay) error { return errors.New("store is away") },
		"--days", "3", "--records", "600")
	require.ErrorContains(t, err, "store is away")
	assert.Zero(t, requests, "an undeclared replay must not be shipped")

	_, stderr, _, err = shipTo(t, http.StatusOK, nil, "--days", "3", "--records", "600", "--replay-id", "mine")
	require.NoError(t, err)
	assert.Contains(t, stderr, "replay mine was not declared")
}

func TestShipRefuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"unknown scenario", []string{"--scenario", "flop"}, "want one of fleet, demo, twins, flip"},
		{"format", []string{"--format", "yaml"}, `--format "yaml"`},
		{"time without offset", []string{"--until", "2026-03-20T12:00:00"}, "RFC 3339"},
		{"days", []string{"--days", "-1"}, "days -1"},
		{"argument", []string{"now"}, "unknown command"},
		{"summary", []string{"--records", "200", "--summary", "/nowhere/summary.json"}, "write the summary"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, _, err := shipTo(t, http.StatusOK, nil, tt.args...)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestShipListsScenarios(t *testing.T) {
	stdout, _, requests, err := shipTo(t, http.StatusOK, nil, "--list")
	require.NoError(t, err)
	assert.Zero(t, requests)
	for _, name := range []string{"fleet", "demo", "flip", "hold-duration", "block-malformed"} {
		assert.Contains(t, stdout, name+" ")
	}
	stdout, _, _, err = shipTo(t, http.StatusOK, nil, "--list", "--format", "json")
	require.NoError(t, err)
	var listed []struct {
		Name   string `json:"name"`
		Expect struct {
			Verdict string `json:"verdict"`
		} `json:"expect"`
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &listed))
	assert.Equal(t, "fleet", listed[0].Name)
	assert.Equal(t, "BLOCK", listed[0].Expect.Verdict)
}
