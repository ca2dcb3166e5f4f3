package e2e

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
)

// must runs a subcommand that succeeds, and returns what it printed.
func (s *withStore) must(args ...string) string {
	s.t.Helper()
	stdout, stderr, status := s.run(args...)
	require.Zero(s.t, status, "%s: %s%s", strings.Join(args, " "), stdout, stderr)
	return stdout
}

// mistaken is a request of failures of tools [from, to) whose retryable is a text.
func mistaken(from, to int) plogotlp.ExportRequest {
	request := failures(from, to)
	records := request.Logs().ResourceLogs().At(0).ScopeLogs().At(0).LogRecords()
	for i := range records.Len() {
		body := records.At(i).Body()
		body.SetStr(strings.Replace(body.Str(), `"retryable":false`, `"retryable":"yes"`, 1))
	}
	return request
}

// TestRejectedRecordsAreMended rejects five records for the contract and five
// for the store, finds each with its reason and text, and stores those whose
// cause is gone (U28).
func TestRejectedRecordsAreMended(t *testing.T) {
	s := newWithStore(t, "local.yaml")
	s.configs = append(s.configs, "--set", "receivers.soakgate.reject_invalid=true")
	s.launch()
	s.waitSchema()
	s.mustQuery("ALTER TABLE soakgate.records ADD CONSTRAINT known CHECK tool NOT IN ('tool_0', 'tool_1', 'tool_2', 'tool_3', 'tool_4')")
	for _, request := range []plogotlp.ExportRequest{failures(0, 8), mistaken(8, 13)} {
		_, err := s.send(request, 1)
		require.NoError(t, err)
	}
	s.eventually("refuse ten, store three", func() error {
		if n := s.number("SELECT count() FROM soakgate.rejected_records FINAL"); n != 10 {
			return fmt.Errorf("%d are rejected", n)
		}
		return nil
	})
	s.exactly(3)

	listed := s.must("rejected", "list")
	assert.Equal(t, 11, strings.Count(listed, "\n"), listed)
	byStore := s.must("rejected", "list", "--reason", "store")
	require.Equal(t, 6, strings.Count(byStore, "\n"), "a heading and five: %s", byStore)
	shown := s.must("rejected", "show", "--reason", "store")
	for i := range 5 {
		assert.Contains(t, shown, fmt.Sprintf(`tool_%d`, i))
	}
	assert.Contains(t, shown, "VIOLATED_CONSTRAINT")
	assert.Contains(t, s.must("rejected", "show", "--reason", "invalid"), `"retryable":"yes"`)

	_, stderr, status := s.run("rejected", "replay", "--reason", "store")
	require.NotZero(t, status, "the cause is still there")
	assert.Contains(t, stderr, "0 of 5 replayed")
	s.mustQuery("ALTER TABLE soakgate.records DROP CONSTRAINT known")
	assert.Contains(t, s.must("rejected", "replay", "--reason", "store"), "5 records replayed")
	assert.Contains(t, s.must("rejected", "replay", "--reason", "store"), "0 records replayed")
	s.exactly(8)

	_, stderr, status = s.run("rejected", "explain")
	require.Equal(t, 2, status)
	assert.Contains(t, stderr, "--note is missing")
	assert.Contains(t, s.must("rejected", "explain", "--note", "a test server"), "5 records marked as known")
	assert.Zero(t, strings.Count(s.must("rejected", "list"), " open "))
	s.eventually("count what was replayed", func() error {
		stdout, stderr, status := s.run("check")
		if status != 0 {
			return fmt.Errorf("%s%s", stdout, stderr)
		}
		return nil
	})
}

// TestReseal makes the rollups of an hour wrong and computes them again.
func TestReseal(t *testing.T) {
	s := newWithStore(t, "local.yaml")
	s.launch()
	s.waitSchema()
	_, err := s.send(failures(0, 20), 1)
	require.NoError(t, err)
	s.waitSealed(20)
	const counted = "SELECT sum(errors) FROM soakgate.errors_by_minute_unique"
	require.EqualValues(t, 20, s.number(counted))
	s.mustQuery("ALTER TABLE soakgate.errors_by_minute DELETE WHERE 1 SETTINGS mutations_sync = 2")
	require.Zero(t, s.number(counted))

	from, to := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339), time.Now().Add(time.Minute).UTC().Format(time.RFC3339)
	assert.Regexp(t, `^[12] slices sealed again`, s.must("reseal", "--from", from, "--to", to))
	assert.EqualValues(t, 20, s.number(counted))
	_, stderr, status := s.run("reseal", "--from", to, "--to", from)
	assert.Equal(t, 2, status)
	assert.Contains(t, stderr, "is not before")
}

// TestComplaints enters a complaint, resolves it and reopens it.
func TestComplaints(t *testing.T) {
	s := newWithStore(t, "local.yaml")
	s.launch()
	s.waitSchema()
	id := strings.TrimSpace(s.must("complaint", "add", "--server", "amazon-sp-mcp", "--kind", "payload_size", "--ref", "T-1", "--by", "ada"))
	last := func() string {
		return s.mustQuery("SELECT argMax(action, recorded_at) AS state FROM soakgate.complaints WHERE id = '" + id + "' AND server = 'amazon_sp_mcp'")[0]["state"].(string)
	}
	assert.Equal(t, "open", last())
	s.must("complaint", "resolve", "--id", id, "--ref", "PR-2", "--fixed-in", "1.4.1", "--by", "ada")
	assert.Equal(t, "resolve", last())
	s.must("complaint", "reopen", "--id", id, "--by", "bob", "--note", "it is back")
	assert.Equal(t, "reopen", last())
	s.must("complaint", "review", "--server", "amazon-sp-mcp", "--by", "bob")
	listed := s.must("complaint", "list")
	for _, said := range []string{id, "payload_size", "PR-2", "1.4.1", "it is back", "review"} {
		assert.Contains(t, listed, said)
	}
	for problem, args := range map[string][]string{
		"--ref is missing":        {"complaint", "resolve", "--id", id, "--not-ours"},
		"0 complaints have":       {"complaint", "resolve", "--id", "c-none", "--ref", "x", "--not-ours"},
		"there already":           {"complaint", "add", "--id", id, "--server", "amazon-sp-mcp", "--kind", "parsing"},
		"payload_size or parsing": {"complaint", "add", "--server", "amazon-sp-mcp", "--kind", "slow"},
	} {
		_, stderr, status := s.run(args...)
		assert.Equal(t, 2, status, args)
		assert.Contains(t, stderr, problem)
	}
}

// TestATrickleMakesFewInserts sends one record every 100 ms: what decides how
// many parts ClickHouse has to merge is the age of a batch, not how often
// senders send (U22).
func TestATrickleMakesFewInserts(t *testing.T) {
	const records = 100
	s := newWithStore(t, "local.yaml")
	s.configs = append(s.configs, "--set", "exporters.soakgate.batch.max_age=4s")
	s.launch()
	s.waitSchema()
	before := s.metric("soakgate_insert_seconds_count")
	started := time.Now()
	for i := range records {
		request := failures(i, i+1)
		request.Logs().ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).SetTimestamp(pcommon.NewTimestampFromTime(time.Now()))
		_, err := s.send(request, 1)
		require.NoError(t, err)
		time.Sleep(100 * time.Millisecond)
	}
	s.exactly(records)
	inserts, most := s.metric("soakgate_insert_seconds_count")-before, math.Ceil(time.Since(started).Seconds()/4)+1
	assert.Positive(t, inserts)
	assert.LessOrEqual(t, inserts, most)
}
