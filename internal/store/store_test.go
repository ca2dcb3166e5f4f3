package store

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/classify"
)

// testStore is a migrated store in a database of its own.
func testStore(t testing.TB) *Store {
	t.Helper()
	s, err := Open(testDSN(t))
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	_, err = s.Migrate(t.Context(), DefaultRetention, "test")
	require.NoError(t, err)
	return s
}

// at is a moment of the tests' day, which lies within every retention.
func at(hour, minute, second int) time.Time {
	day := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -2)
	return day.Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second)
}

// feed inserts observations as one request that arrived at a time, as the
// component does, and marks the slice.
type feed struct {
	t       testing.TB
	store   *Store
	batch   *classify.Batch
	columns *Columns
	journal uuid.UUID
	seq     uint64
}

func newFeed(t testing.TB, s *Store) *feed {
	t.Helper()
	c, err := classify.New()
	require.NoError(t, err)
	return &feed{t: t, store: s, batch: classify.NewBatch(c), columns: NewColumns(), journal: uuid.New()}
}

func (f *feed) block(arrival time.Time, observations ...classify.Observation) []byte {
	f.t.Helper()
	f.columns.Reset()
	f.batch.Reset(arrival, uuid.New())
	for i := range observations {
		if !f.batch.Classify(&observations[i], func(r *classify.Record) {
			f.seq++
			f.columns.Append(r, Place{JournalID: f.journal, Seq: f.seq})
		}) {
			f.t.Fatalf("observation %d is not ours", i)
		}
	}
	packed, err := f.columns.AppendPacked(nil)
	require.NoError(f.t, err)
	return packed
}

func (f *feed) send(arrival time.Time, observations ...classify.Observation) {
	f.t.Helper()
	block := f.block(arrival, observations...)
	require.NoError(f.t, f.store.inserter.insert(f.t.Context(), f.store.database+".records", recordColumns, block))
	require.NoError(f.t, f.store.markWritten(f.t.Context(), f.journal, []time.Time{arrival.Truncate(Slice)}))
}

func source() *classify.Source {
	return &classify.Source{
		Server: "amazon_sp_mcp", Family: classify.FamilySP, ServerVersion: "1.2.3", Environment: "production",
		Deployment: "d1", DeploymentSource: "mcp.deployment.id", Instance: "i1",
		Option: classify.SwitchOn, Strict: classify.SwitchOff,
	}
}

// event is an observation of a JSON log body with the time and the span given.
func event(name classify.Event, body string, when time.Time, span byte) classify.Observation {
	o := classify.Observation{
		Source: source(), Event: name, TimeUnixNano: uint64(when.UnixNano()), Tool: "get_order",
		SamplingWeight: classify.UnsampledWeight, Call: name == classify.EventToolCall,
	}
	if body != "" {
		o.Candidates = []classify.Candidate{{Carrier: classify.CarrierLogBodyText, Text: []byte(body)}}
	}
	if span != 0 {
		o.TraceID, o.SpanID = [16]byte{1}, [8]byte{span}
	}
	return o
}

func envelope(kind, code, more string) string {
	return fmt.Sprintf(`{"error_kind":%q,"tool":"get_order","summary":"s","details":[],"hints":[],"examples":[],"error_code":%q,"retryable":false,"_envelope_version":1%s}`, kind, code, more)
}

const normalized = `{"_meta":{"normalized":[{"kind":"renamed","from":"a","to":"b"},{"kind":"coerced","field":"b","from_type":"str","to_type":"list"},{"kind":"renamed","from":"c","to":"d"}]}}`

// ask runs a query and returns its rows as JSON objects. DB. stands for the
// store's database.
func ask(t testing.TB, s *Store, query string) []map[string]any {
	t.Helper()
	target := s.inserter.base
	target.RawQuery = "default_format=JSONEachRow"
	answer, err := http.Post(target.String(), "text/plain", strings.NewReader(strings.ReplaceAll(query, "DB.", s.database+".")))
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.StatusCode, string(text))
	rows := []map[string]any{}
	for line := range strings.Lines(string(text)) {
		row := map[string]any{}
		require.NoError(t, json.Unmarshal([]byte(line), &row))
		rows = append(rows, row)
	}
	return rows
}

// count is one number: count(t, s, "sum(x) FROM DB.table").
func count(t testing.TB, s *Store, query string) int {
	t.Helper()
	figure, rest, _ := strings.Cut(strings.ReplaceAll(query, "DB.", s.database+"."), " FROM ")
	var n int64
	require.NoError(t, s.conn.QueryRow(t.Context(), "SELECT toInt64("+figure+") FROM "+rest).Scan(&n))
	return int(n)
}

func seal(t testing.TB, s *Store) int {
	t.Helper()
	sealer, err := NewSealer(s, uuid.New())
	require.NoError(t, err)
	n, err := sealer.SealDirty(t.Context())
	require.NoError(t, err)
	return n
}

// reseal seals one slice again.
func reseal(t testing.TB, s *Store, slice time.Time) {
	t.Helper()
	sealer, err := NewSealer(s, uuid.New())
	require.NoError(t, err)
	n, err := sealer.Reseal(t.Context(), slice, slice.Add(Slice))
	require.NoError(t, err)
	require.Equal(t, 1, n)
}

func TestRecordRoundTrip(t *testing.T) {
	s := testStore(t)
	f := newFeed(t, s)
	when := at(10, 0, 5).Add(123456789)
	o := event(classify.EventErrorEnvelope, envelope("rate_limited", "SP_API_HTTP_429",
		`,"legacy_error_kind":"sp_api_http","_meta":{"normalized":[{"kind":"renamed","from":"a","to":"b"},{"kind":"odd"}],`+
			`"rate_limit":{"limit_per_second":"burst","remaining":0,"reset_at":"2026-01-02T03:04:05Z"},"retry_after_seconds":1.5,`+
			`"warnings":[{"kind":"upstream_warning","summary":"slow","details":[],"hints":[]}]}`), when, 7)
	o.Candidates[0].Text = []byte(strings.Replace(string(o.Candidates[0].Text), `"summary":"s"`, `"summary":"Bearer abcdefgh12345"`, 1))
	o.SessionID, o.RequestID, o.Surface, o.ErrorType = "s", "r", "direct", "tool_error"
	o.Duration = classify.Some(1500 * time.Microsecond)
	o.ResponseBytes = classify.Some(uint64(2048))
	o.Attributes = []classify.Attribute{{Key: "k", Value: "v"}}
	bare := event(classify.EventToolCall, "", at(10, 0, 6), 0)
	f.send(at(10, 1, 0), o, bare)

	rows := ask(t, s, "SELECT * FROM DB.records ORDER BY seq")
	require.Len(t, rows, 2)
	got := rows[0]
	for column, want := range map[string]any{
		"observed_at": when.Format("2006-01-02 15:04:05.000000000"), "received_at": at(10, 1, 0).Format("2006-01-02 15:04:05.000"),
		"sent_minute": at(10, 0, 0).Format(time.DateTime), "journal_id": f.journal.String(), "event": "mcp.error_envelope",
		"server": "amazon_sp_mcp", "server_family": "sp", "server_version": "1.2.3", "environment": "production",
		"deployment": "d1", "deployment_source": "mcp.deployment.id", "instance": "i1", "option": "on", "strict": "off",
		"surface": "direct", "carrier": "log_body_text", "shape": "mcp_envelope_v1", "tool": "get_order",
		"session_id": "s", "request_id": "r", "is_call": true, "outcome": "error", "error_type": "tool_error", "mistake": "upstream",
		"error_kind": "rate_limited", "error_code": "SP_API_HTTP_429", "legacy_error_kind": "sp_api_http",
		"http_status": 429.0, "retryable": false, "envelope_version": 1.0, "recognized": true, "valid": false, "off_taxonomy": false,
		"has_normalized": true, "limit_per_second": nil, "limit_per_second_text": "burst", "remaining": 0.0, "remaining_text": nil,
		"reset_at_text": "2026-01-02T03:04:05Z", "reset_at": "2026-01-02 03:04:05.000", "retry_after_seconds": 1.5,
		"violations.rule": []any{"enum"}, "violations.path": []any{"/_meta/normalized/1/kind"},
		"normalized.kind": []any{"renamed", "odd"}, "normalized.from": []any{"a", nil}, "normalized.reason": []any{nil, nil},
		"warnings.kind": []any{"upstream_warning"}, "warnings.summary": []any{"slow"},
		"duration_ns": 1500000.0, "response_bytes": 2048.0, "time_source": "event",
		"trace_id": "01000000000000000000000000000000", "span_id": "0700000000000000", "parent_span_id": "",
		"attributes": map[string]any{"k": "v"}, "sampling_weight": 1000000.0,
	} {
		assert.Equal(t, want, got[column], column)
	}
	assert.NotContains(t, got["payload"], "abcdefgh12345")
	assert.Contains(t, got["payload"], "[redacted]")
	assert.EqualValues(t, len(o.Candidates[0].Text), got["payload_bytes"])

	for _, column := range []string{"error_kind", "error_code", "retryable", "http_status", "call_key", "duration_ns", "normalized_bytes"} {
		assert.Nil(t, rows[1][column], "absence of %s", column)
	}
	assert.Equal(t, []any{"no_call_key"}, rows[1]["advisories.rule"])
	assert.Equal(t, "success", orUnknown(rows[1]["outcome"]))
}

func orUnknown(v any) any {
	if v == "" {
		return "success" // a call event without error.type: the walker says success, this test does not set it
	}
	return v
}

func TestRepeatsCountOnce(t *testing.T) {
	s := testStore(t)
	f := newFeed(t, s)
	call := event(classify.EventErrorEnvelope, envelope("internal_error", "INTERNAL_ERROR", ""), at(9, 0, 0), 3)
	f.send(at(10, 0, 1), call)
	f.send(at(10, 0, 2), call)       // a repeat within the slice
	f.send(at(10, 7, 0), call)       // and in a later one
	f.send(at(23, 59, 0), call)      // and hours later
	f.send(at(24, 0, 30), call)      // and on the next day, in another partition
	f.send(at(10, 0, 3), call, call) // two equal ones in one request are two: one repeats, one is new
	assert.Equal(t, 4, seal(t, s))
	assert.Equal(t, 2, count(t, s, "count() FROM DB.records_unique"))
	assert.Equal(t, 2, count(t, s, "sum(records) FROM DB.slice_seals FINAL"))
	// Both records carry one call key: one call, one failure.
	assert.Equal(t, 1, count(t, s, "sum(errors) FROM DB.errors_by_minute_unique"))
	assert.Equal(t, 1, count(t, s, "sum(calls) FROM DB.calls_by_minute_unique"))
}

func TestSealIsRepeatable(t *testing.T) {
	s := testStore(t)
	f := newFeed(t, s)
	f.send(at(10, 0, 1),
		event(classify.EventErrorEnvelope, envelope("internal_error", "INTERNAL_ERROR", ""), at(10, 0, 0), 1),
		event(classify.EventResponseMeta, normalized, at(10, 0, 0), 2),
		event(classify.EventToolCall, "", at(10, 0, 0), 3))
	require.Equal(t, 1, seal(t, s))
	assert.Equal(t, 0, seal(t, s), "a sealed slice is clean")
	tables := []string{"errors_by_minute", "normalizations_by_minute", "calls_by_minute", "blocks_by_minute", "violations_by_minute", "lateness_by_day"}
	read := func() string {
		var b strings.Builder
		for _, table := range tables {
			fmt.Fprint(&b, table, ask(t, s, "SELECT * EXCEPT version FROM DB."+table+" FINAL ORDER BY ALL"))
		}
		return b.String()
	}
	before := read()
	for range 3 {
		reseal(t, s, at(10, 0, 0))
	}
	assert.Equal(t, before, read())
}

func TestOneCallOneCount(t *testing.T) {
	failed := func(o classify.Observation) classify.Observation { o.Outcome = classify.OutcomeError; return o }
	success := func(o classify.Observation) classify.Observation { o.Outcome = classify.OutcomeSuccess; return o }
	call := success(event(classify.EventToolCall, "", at(10, 0, 0), 1))
	failure := event(classify.EventErrorEnvelope, envelope("auth_error", "AUTHENTICATION_ERROR", ""), at(10, 0, 0), 1)
	meta := event(classify.EventResponseMeta, normalized, at(10, 0, 0), 1)
	exception := failure
	exception.Event = classify.EventUnnamed
	exception.Candidates = []classify.Candidate{{Carrier: classify.CarrierSpanException, Text: failure.Candidates[0].Text, ToolError: true}}
	tests := []struct {
		name                  string
		requests              [][]classify.Observation // one a minute
		calls, failed, errors int
		blocks                int
	}{
		{"call event and envelope", [][]classify.Observation{{call, failure}}, 1, 1, 1, 0},
		{"the same in two requests of two slices", [][]classify.Observation{{call}, {failure}}, 1, 1, 1, 0},
		{"span event and log record of one exception", [][]classify.Observation{{exception, failure}}, 1, 1, 1, 0},
		{"the same in two slices", [][]classify.Observation{{exception}, {failure}}, 1, 1, 1, 0},
		{"call event and _meta", [][]classify.Observation{{call, meta}}, 1, 0, 0, 1},
		{"_meta told twice", [][]classify.Observation{{meta, event(classify.EventUnnamed, normalized, at(10, 0, 0), 1)}}, 1, 0, 0, 1},
		{"an envelope alone is a call", [][]classify.Observation{{failure}}, 1, 1, 1, 0},
		{"a failed call without an envelope", [][]classify.Observation{{failed(call)}}, 1, 1, 0, 0},
		{"two calls", [][]classify.Observation{{call, success(event(classify.EventToolCall, "", at(10, 0, 0), 2))}}, 2, 0, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := testStore(t)
			f := newFeed(t, s)
			for i, r := range tt.requests {
				f.send(at(10, i, 1), r...)
			}
			seal(t, s)
			assert.Equal(t, tt.calls, count(t, s, "sum(calls) FROM DB.calls_by_minute_unique"), "calls")
			assert.Equal(t, tt.failed, count(t, s, "sumIf(calls, outcome = 'error') FROM DB.calls_by_minute_unique"), "failed calls")
			assert.Equal(t, tt.errors, count(t, s, "sum(errors) FROM DB.errors_by_minute_unique"), "errors")
			assert.Equal(t, tt.blocks, count(t, s, "sum(blocks) FROM DB.blocks_by_minute_unique"), "blocks")
		})
	}
}

func TestRollupsOfMeta(t *testing.T) {
	s := testStore(t)
	f := newFeed(t, s)
	malformed := event(classify.EventResponseMeta, `{"_meta":{"normalized":[{"kind":"renamed","from":"a"}]}}`, at(10, 0, 0), 2)
	unlisted := event(classify.EventResponseMeta, `{"_meta":{"normalized":[{"kind":"odd"}]}}`, at(10, 0, 0), 3)
	sized := event(classify.EventResponseMeta, normalized, at(10, 0, 0), 4)
	sized.ResponseBytes = classify.Some(uint64(1000))
	f.send(at(10, 0, 1), malformed, unlisted, sized,
		event(classify.EventResponseMeta, `{"_meta":{"rate_limit":{"remaining":0},"retry_after_seconds":0.25}}`, at(10, 0, 0), 5),
		event(classify.EventResponseMeta, `{"_meta":{"rate_limit":{"remaining":2},"retry_after_seconds":2}}`, at(10, 0, 0), 6))
	seal(t, s)
	assert.Equal(t, []map[string]any{
		{"kind": "coerced", "events": 1.0, "calls": 1.0},
		{"kind": "odd", "events": 1.0, "calls": 1.0},
		{"kind": "renamed", "events": 3.0, "calls": 2.0},
	}, ask(t, s, "SELECT kind, sum(n.events) AS events, sum(n.calls) AS calls FROM DB.normalizations_by_minute_unique AS n GROUP BY kind ORDER BY kind"))
	// An unlisted kind is a finding of the taxonomy, not a malformed block.
	block := ask(t, s, "SELECT sum(b.blocks) AS blocks, sum(b.malformed) AS malformed, sum(b.known_size_blocks) AS known, sum(b.response_bytes_sum) AS answers, sum(b.bytes_sum) = sum(arraySum(arrayMap((x, y) -> x * y, mapKeys(sizes), mapValues(sizes)))) AS exact FROM DB.blocks_by_minute_unique AS b")
	assert.Equal(t, []map[string]any{{"blocks": 3.0, "malformed": 1.0, "known": 1.0, "answers": 1000.0, "exact": 1.0}}, block)
	assert.Equal(t, []map[string]any{{"records": 2.0, "least": 0.0, "zero": 1.0, "waits": 2.0, "sum": 2250.0, "most": 2000.0}},
		ask(t, s, "SELECT sum(r.records) AS records, min(least_remaining) AS least, sum(r.at_zero) AS zero, sum(r.retry_after_count) AS waits, sum(r.retry_after_ms_sum) AS sum, max(r.retry_after_ms_max) AS most FROM DB.rate_limits_by_minute_unique AS r"))
	assert.Equal(t, []map[string]any{
		{"rule": "enum", "path": "/_meta/normalized/*/kind", "n": 1.0},
		{"rule": "required", "path": "/_meta/normalized/*/to", "n": 1.0},
	}, ask(t, s, "SELECT rule, path, sum(v.violations) AS n FROM DB.violations_by_minute_unique AS v GROUP BY rule, path ORDER BY rule"))
}

func TestDeclarationsAreSealed(t *testing.T) {
	s := testStore(t)
	f := newFeed(t, s)
	run := event(classify.EventConformance, `{"summary":{"payloads":3,"conforming":2,"violating":1,"unrecognized":0,"items":{"1":"fail","5":"not_tested"},"suite_version":"1"}}`, at(10, 0, 0), 0)
	run.Attributes = []classify.Attribute{{Key: "mcp.server.name", Value: "amazon_ads_mcp"}, {Key: "mcp.server.version", Value: "9.9"}}
	f.send(at(10, 0, 1), run,
		event(classify.EventCapabilities, `{"openbridge_envelope":{"contract_version":1,"error_kinds":["auth_error"]},"env_vars":{"MCP_SCHEMA_KEY_NORMALIZATION_META":{"default":false}},"tools":["a"]}`, at(10, 0, 0), 0))
	seal(t, s)
	reseal(t, s, at(10, 0, 0))
	assert.Equal(t, []map[string]any{{"server": "amazon_ads_mcp", "version": "9.9", "suite_version": "1", "items": map[string]any{"1": "fail", "5": "not_tested"}, "payloads": 3.0}},
		ask(t, s, "SELECT server, version, suite_version, items, payloads FROM DB.conformance_runs FINAL"))
	assert.Equal(t, []map[string]any{{"server": "amazon_sp_mcp", "contract_version": 1.0, "error_kinds": []any{"auth_error"}, "declared_default": false, "tools": []any{"a"}}},
		ask(t, s, "SELECT server, contract_version, error_kinds, declared_default, tools FROM DB.capabilities FINAL"))
	assert.Zero(t, count(t, s, "sum(calls) FROM DB.calls_by_minute_unique"))
}

func TestMigrate(t *testing.T) {
	s, err := Open(testDSN(t))
	require.NoError(t, err)
	defer s.Close()
	require.ErrorContains(t, s.CheckSchema(t.Context()), "collector migrate up")

	errs := make(chan error, 4)
	for range 4 { // collectors that start at once
		go func() {
			other, err := Open("http://" + strings.TrimPrefix(s.address, "http://"))
			if err == nil {
				_, err = other.Migrate(context.WithoutCancel(t.Context()), DefaultRetention, "test")
				err = firstError(err, other.Close())
			}
			errs <- err
		}()
	}
	for range 4 {
		require.NoError(t, <-errs)
	}
	require.NoError(t, s.CheckSchema(t.Context()))
	again, err := s.Migrate(t.Context(), DefaultRetention, "test")
	require.NoError(t, err)
	assert.Zero(t, again)

	require.NoError(t, s.conn.Exec(t.Context(), "INSERT INTO "+s.database+".schema_migrations (version, name, release) VALUES (9999, 'future', 'x')"))
	_, err = s.Migrate(t.Context(), DefaultRetention, "test")
	var schema *SchemaError
	require.ErrorAs(t, err, &schema)
	assert.ErrorContains(t, err, "newer than this program")
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestOpenRefuses(t *testing.T) {
	for _, tt := range []struct{ name, dsn, want string }{
		{"password stays out", "http://u:p%zz-secret@h:1/db", "read the ClickHouse DSN"},
		{"database name", "http://h:1/a-b", "letters, digits and underscores"},
		{"scheme", "ftp://h:1/db", "scheme is none of"},
		{"no scheme", "u:secret@h:1/db", "scheme is none of"},
		{"raw special characters", "http://u:p@secret:w/rd?#%@h:1/db", "DSN"},
		{"raw percent sign", "clickhouse://u:secret%@h:1/db", "SOAKGATE_CLICKHOUSE_PASSWORD"},
		{"raw slash", "clickhouse://u:secret/9@h:1/db", "DSN"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Open(tt.dsn)
			require.ErrorContains(t, err, tt.want)
			assert.NotContains(t, err.Error(), "secret")
		})
	}
}
