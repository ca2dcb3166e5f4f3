package soakgateexporter

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/soakgate/soakgate/internal/findings"
	"github.com/soakgate/soakgate/internal/store"
	"github.com/soakgate/soakgate/internal/store/embedded/embeddedtest"
)

// mixed is a request of a valid envelope, one without its error_code, and a line.
func mixed() plog.Logs {
	logs := envelopes("probe", 2)
	records := logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords()
	records.At(1).Body().SetStr(strings.Replace(records.At(1).Body().Str(), `"error_code":"INTERNAL_ERROR",`, "", 1))
	line := records.AppendEmpty()
	line.SetTimestamp(pcommon.NewTimestampFromTime(time.Now()))
	line.Body().SetStr("listening")
	return logs
}

// text is ClickHouse's answer to a query that names the database as DB.
func text(t *testing.T, dsn, query string) string {
	t.Helper()
	at := strings.LastIndex(dsn, "/")
	answer, err := http.Post(dsn[:at]+"/", "text/plain", strings.NewReader(strings.ReplaceAll(query, "DB", dsn[at+1:])))
	require.NoError(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return strings.TrimSpace(string(body))
}

func TestFindingsGoBackThroughTheContext(t *testing.T) {
	want := findings.Found{Seen: 3, Invalid: 1, Named: []findings.Finding{{Index: 1, Rule: "required", Message: "/error_code: expected this member, and it is missing"}}}
	for _, tt := range []struct {
		name   string
		reject bool
	}{{"accepted", false}, {"rejected", true}} {
		t.Run(tt.name, func(t *testing.T) {
			e := newLogs(t, testConfig(t, nowhere))
			start(t, e)
			report := &findings.Report{RejectInvalid: tt.reject}
			require.NoError(t, e.ConsumeLogs(findings.NewContext(t.Context(), report), mixed()))
			got, delivered := report.Found()
			require.True(t, delivered)
			w := want
			if tt.reject {
				w.Rejected = 1
			}
			assert.Equal(t, w, got)
			backlog := e.(signal).journal.Stats().BacklogRows
			assert.Equal(t, uint64(2), backlog, "both are in the journal")
		})
	}
	t.Run("nothing is said before it is on disk", func(t *testing.T) {
		e := newLogs(t, testConfig(t, nowhere))
		start(t, e)
		require.NoError(t, e.Shutdown(t.Context()))
		var report findings.Report
		require.Error(t, e.ConsumeLogs(findings.NewContext(t.Context(), &report), mixed()))
		_, delivered := report.Found()
		assert.False(t, delivered)
	})
}

// TestRejectedRecordsAreInQuarantineOnly is U01 with reject_invalid, up to the
// store and back by a replay; a second delivery changes nothing.
func TestRejectedRecordsAreInQuarantineOnly(t *testing.T) {
	dsn := embeddedtest.Start(t)
	e := newLogs(t, testConfig(t, dsn))
	start(t, e)
	logs := mixed()
	for range 2 {
		ctx := findings.NewContext(t.Context(), &findings.Report{RejectInvalid: true})
		require.NoError(t, e.ConsumeLogs(ctx, logs))
	}
	const quarantine = "SELECT reason, state, server, detail, position(original, 'error_kind') > 0 FROM DB.rejected_records FINAL FORMAT CSV"
	require.Eventually(t, func() bool { return stored(t, dsn) == "1" }, time.Minute, 20*time.Millisecond)
	assert.Equal(t, `"invalid","open","probe","/error_code: expected this member, and it is missing",1`, text(t, dsn, quarantine))

	i := e.(signal).instance
	require.Eventually(t, func() bool { return i.books.rejected.Load() == 2 }, time.Minute, 20*time.Millisecond)
	h := i.heartbeat(time.Now())
	assert.Equal(t, []uint64{4, 2, 2, 0}, []uint64{h.Accepted, h.Inserted, h.Rejected, h.BacklogRecords}, "accepted = inserted + rejected, in deliveries")

	s, err := store.Open(dsn)
	require.NoError(t, err)
	defer s.Close()
	rows, err := s.Rejected(t.Context(), store.RejectedFilter{Reason: store.ReasonInvalid})
	require.NoError(t, err)
	require.Len(t, rows, 1)
	require.NoError(t, s.Replay(t.Context(), rows[0]))
	assert.Equal(t, "2", stored(t, dsn))
	assert.Equal(t, "required", text(t, dsn, "SELECT arrayStringConcat(violations.rule) FROM DB.records FINAL WHERE NOT valid"))
	assert.Equal(t, "replayed", text(t, dsn, "SELECT state FROM DB.rejected_records FINAL"))
}
