package soakgateexporter

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/soakgate/soakgate/internal/store/embedded/embeddedtest"
	"github.com/soakgate/soakgate/internal/store/journal"
)

// nowhere is a DSN that nothing answers at.
const nowhere = "http://127.0.0.1:1/soakgate"

func testConfig(t *testing.T, dsn string) *Config {
	t.Helper()
	c := createDefaultConfig().(*Config)
	c.DSN, c.Journal.Directory = configopaque.String(dsn), t.TempDir()
	c.Batch.MaxAge, c.Seal.Interval = 100*time.Millisecond, 100*time.Millisecond
	require.NoError(t, c.Validate())
	return c
}

func newLogs(t *testing.T, c *Config) exporter.Logs {
	t.Helper()
	e, err := NewFactory().CreateLogs(t.Context(), exportertest.NewNopSettings(Type), c)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, e.Shutdown(context.Background())) })
	return e
}

func start(t *testing.T, e exporter.Logs) {
	t.Helper()
	require.NoError(t, e.Start(t.Context(), componenttest.NewNopHost()))
}

// envelopes is a request of n distinct envelopes, of a server of its own.
func envelopes(server string, n int) plog.Logs {
	logs := plog.NewLogs()
	rl := logs.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr("service.name", server)
	records := rl.ScopeLogs().AppendEmpty().LogRecords()
	for i := range n {
		r := records.AppendEmpty()
		r.SetEventName("mcp.error_envelope")
		r.SetTimestamp(pcommon.NewTimestampFromTime(time.Now()))
		r.Body().SetStr(fmt.Sprintf(`{"error_kind":"internal_error","tool":"t%d","summary":"s","details":[],"hints":[],"examples":[],"error_code":"INTERNAL_ERROR","retryable":false,"_envelope_version":1}`, i))
	}
	return logs
}

// stored counts the distinct records in a database.
func stored(t testing.TB, dsn string) string {
	t.Helper()
	at := strings.LastIndex(dsn, "/")
	return ask(t, dsn[:at], "SELECT uniqExact(record_id) FROM "+dsn[at+1:]+".records")
}

// ask runs a query that answers with one word.
func ask(t testing.TB, address, query string) string {
	t.Helper()
	answer, err := http.Post(address+"/", "text/plain", strings.NewReader(query))
	require.NoError(t, err)
	defer answer.Body.Close()
	var n string
	_, _ = fmt.Fscan(answer.Body, &n)
	return n
}

func TestStoredBehindTheAnswer(t *testing.T) {
	dsn := embeddedtest.Start(t)
	e := newLogs(t, testConfig(t, dsn))
	start(t, e)
	require.NoError(t, e.ConsumeLogs(t.Context(), envelopes("a", 10)))
	require.Eventually(t, func() bool { return stored(t, dsn) == "10" }, time.Minute, 20*time.Millisecond)
}

func TestShutdownStoresWhatWasAcknowledged(t *testing.T) {
	dsn := embeddedtest.Start(t)
	c := testConfig(t, dsn)
	c.Batch.MaxAge = time.Minute // nothing is sent before the end
	e := newLogs(t, c)
	start(t, e)
	require.NoError(t, e.ConsumeLogs(t.Context(), envelopes("a", 1)))
	require.Eventually(t, func() bool { _, err := http.Get(strings.TrimSuffix(dsn, "/soakgate")); return err == nil }, time.Minute, 10*time.Millisecond)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { assert.NoError(t, e.ConsumeLogs(t.Context(), envelopes("b", 100))) })
	}
	wg.Wait()
	// The schema must be there, else shutdown rightly leaves everything in the journal.
	require.Eventually(t, e.(signal).connected.Load, time.Minute, 20*time.Millisecond)
	require.NoError(t, e.Shutdown(t.Context()))
	assert.Equal(t, "801", stored(t, dsn))
}

func TestAcknowledgedWhileClickHouseIsAway(t *testing.T) {
	away := testConfig(t, nowhere)
	e := newLogs(t, away)
	start(t, e)
	require.NoError(t, e.ConsumeLogs(t.Context(), envelopes("a", 25)))
	require.NoError(t, e.Shutdown(t.Context()))

	dsn := embeddedtest.Start(t)
	back := testConfig(t, dsn)
	back.Journal.Directory = away.Journal.Directory
	start(t, newLogs(t, back))
	require.Eventually(t, func() bool { return stored(t, dsn) == "25" }, time.Minute, 20*time.Millisecond)
}

func TestFullJournalRefusesWithATimeToComeBack(t *testing.T) {
	c := testConfig(t, nowhere)
	c.Journal.MaxSizeMiB = 8
	e := newLogs(t, c)
	start(t, e)
	var refusal error
	for range 1000 {
		if refusal = e.ConsumeLogs(t.Context(), envelopes("a", 500)); refusal != nil {
			break
		}
	}
	require.Error(t, refusal)
	assert.False(t, consumererror.IsPermanent(refusal))
	assert.Equal(t, codes.ResourceExhausted, status.Code(refusal))
	assert.Positive(t, retryDelay(refusal))
}

func retryDelay(err error) time.Duration {
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.RetryInfo); ok {
			return info.GetRetryDelay().AsDuration()
		}
	}
	return 0
}

func TestRefusals(t *testing.T) {
	for _, tt := range []struct {
		name      string
		err       error
		code      codes.Code
		permanent bool
	}{
		{"full", &journal.AppendError{Reason: journal.ReasonFull, Err: errors.New("x")}, codes.ResourceExhausted, false},
		{"disk full", &journal.AppendError{Reason: journal.ReasonDiskFull, Err: errors.New("x")}, codes.ResourceExhausted, false},
		{"busy", &journal.AppendError{Reason: journal.ReasonBusy, Err: errors.New("x")}, codes.ResourceExhausted, false},
		{"stalled", &journal.AppendError{Reason: journal.ReasonStalled, Err: errors.New("x")}, codes.Unavailable, false},
		{"failed", &journal.AppendError{Reason: journal.ReasonFailed, Err: errors.New("x")}, codes.Unavailable, false},
		{"closed", journal.ErrClosed, codes.Unavailable, false},
		{"too large", fmt.Errorf("append: %w", journal.ErrTooLarge), codes.InvalidArgument, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			i := newLogs(t, testConfig(t, nowhere)).(signal).instance
			got := i.refuse(tt.err)
			assert.Equal(t, tt.permanent, consumererror.IsPermanent(got))
			assert.Equal(t, tt.code, status.Code(errors.Unwrap(unwrapPermanent(got))))
			if !tt.permanent {
				assert.GreaterOrEqual(t, retryDelay(got), time.Second)
			}
		})
	}
}

// unwrapPermanent gives an error whose Unwrap is the status, permanent or not.
func unwrapPermanent(err error) error {
	if consumererror.IsPermanent(err) {
		return err
	}
	return fmt.Errorf("%w", err)
}

func TestLifecycle(t *testing.T) {
	t.Run("shutdown without start, and twice", func(t *testing.T) {
		e := newLogs(t, testConfig(t, nowhere))
		require.NoError(t, e.Shutdown(t.Context()))
		require.NoError(t, e.Shutdown(t.Context()))
	})
	t.Run("data before start is refused", func(t *testing.T) {
		e := newLogs(t, testConfig(t, nowhere))
		require.ErrorContains(t, e.ConsumeLogs(t.Context(), envelopes("a", 1)), "not been started")
	})
	t.Run("logs and traces share one journal", func(t *testing.T) {
		f, c := NewFactory(), testConfig(t, nowhere)
		logs, err := f.CreateLogs(t.Context(), exportertest.NewNopSettings(Type), c)
		require.NoError(t, err)
		traces, err := f.CreateTraces(t.Context(), exportertest.NewNopSettings(Type), c)
		require.NoError(t, err)
		require.NoError(t, logs.Start(t.Context(), componenttest.NewNopHost()))
		require.NoError(t, traces.Start(t.Context(), componenttest.NewNopHost()))
		require.NoError(t, logs.Shutdown(t.Context()))
		require.NoError(t, traces.Shutdown(t.Context()))
		again, err := f.CreateLogs(t.Context(), exportertest.NewNopSettings(Type), c)
		require.NoError(t, err)
		require.NoError(t, again.Start(t.Context(), componenttest.NewNopHost()), "the folder is free again")
		require.NoError(t, again.Shutdown(t.Context()))
	})
	t.Run("two components on one journal", func(t *testing.T) {
		first, c := newLogs(t, testConfig(t, nowhere)), testConfig(t, nowhere)
		start(t, first)
		c.Journal.Directory = first.(signal).config.Journal.Directory
		second := newLogs(t, c)
		require.ErrorIs(t, second.Start(t.Context(), componenttest.NewNopHost()), journal.ErrLocked)
	})
}

func TestHeartbeatVouchesForNothingUnderWay(t *testing.T) {
	start := time.Now().Round(0).Truncate(time.Millisecond)
	now := start
	f := inflight{clock: func() time.Time { return now }}
	assert.Equal(t, start, f.oldest())
	first, endFirst := f.begin()
	now = start.Add(2 * time.Second)
	second, endSecond := f.begin()
	now = start.Add(3 * time.Second)
	assert.Equal(t, []time.Time{start, start.Add(2 * time.Second)}, []time.Time{first, second})
	assert.Equal(t, start, f.oldest())
	endFirst()
	assert.Equal(t, second, f.oldest())
	endSecond()
	assert.Equal(t, now, f.oldest())
	now = start // the clock is set back
	third, endThird := f.begin()
	defer endThird()
	assert.Equal(t, start.Add(3*time.Second), third, "not before what was vouched for")
}

func TestConfigNamesTheField(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Config)
		want   string
	}{
		{"dsn", func(c *Config) { c.DSN = "http://h:1/a-b" }, "dsn"},
		{"no journal", func(c *Config) { c.Journal.Directory = " " }, "journal::directory"},
		{"tiny journal", func(c *Config) { c.Journal.MaxSizeMiB = 1 }, "journal::max_size_mib is 1"},
		{"no pending bytes", func(c *Config) { c.Journal.MaxPendingMiB = 0 }, "journal::max_pending_mib is 0"},
		{"no rows", func(c *Config) { c.Batch.MaxRows = 0 }, "batch::max_rows is 0"},
		{"no bytes", func(c *Config) { c.Batch.MaxSizeMiB = -1 }, "batch::max_size_mib is -1"},
		{"age", func(c *Config) { c.Batch.MaxAge = time.Hour }, "batch::max_age is 1h0m0s"},
		{"interval", func(c *Config) { c.Seal.Interval = 0 }, "seal::interval is 0s"},
		{"records shorter than payloads", func(c *Config) { c.Retention.RecordsDays = 3 }, "retention::records_days is 3: it must be at least 30"},
		{"rollups shorter than records", func(c *Config) { c.Retention.RollupDays = 99 }, "retention::rollup_days is 99: it must be at least 100"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := createDefaultConfig().(*Config)
			require.NoError(t, c.Validate())
			tt.change(c)
			require.ErrorContains(t, c.Validate(), tt.want)
		})
	}
}

func TestSecretsDoNotPrint(t *testing.T) {
	c := createDefaultConfig().(*Config)
	c.DSN = "http://user:secret@host:8123/soakgate"
	assert.NotContains(t, fmt.Sprintf("%v %+v %s", c.DSN, *c, c.DSN), "secret")
}
