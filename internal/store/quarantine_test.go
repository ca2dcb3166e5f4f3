package store

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/classify"
	"github.com/soakgate/soakgate/internal/store/journal"
)

// rejectedFrame is a request of one record that breaks the contract.
func rejectedFrame(t *testing.T, f *feed, arrival time.Time) journal.Frame {
	t.Helper()
	q := NewQuarantine()
	f.batch.Reset(arrival, uuid.New())
	o := event(classify.EventErrorEnvelope, `{"error_kind":"internal_error","_envelope_version":1}`, arrival, 0)
	require.True(t, f.batch.Classify(&o, func(r *classify.Record) {
		require.NotEmpty(t, r.Violations)
		q.Append(r, Place{JournalID: f.journal, Seq: 1})
	}))
	packed, err := q.AppendPacked(nil)
	require.NoError(t, err)
	return journal.Frame{Journal: journal.ID(f.journal), Arrival: arrival, Kind: KindRejected, Rows: uint32(q.Rows()), Payload: packed}
}

// TestRejectedRecordsAreNotParked sets a batch aside whose records ClickHouse
// refuses, and finds its rejected ones stored and told of once.
func TestRejectedRecordsAreNotParked(t *testing.T) {
	s := testStore(t)
	f, q := newFeed(t, s), newQueue()
	require.NoError(t, s.conn.Exec(t.Context(), "ALTER TABLE "+s.database+".records DROP COLUMN surface"))
	var parked, invalid int
	w := newWriter(t, s, q, WriterOptions{
		Limits: Limits{Rows: 3, Bytes: 1 << 20, Age: time.Second}, Parking: t.TempDir(),
		Parked:  func(_ error, _, records int) { parked = records },
		Invalid: func(rows int) { invalid += rows },
	})
	q.push(frame(f, at(10, 5, 0), "a", "b"))
	q.push(rejectedFrame(t, f, at(10, 5, 1)))
	runWriter(t, w, q)
	assert.Equal(t, []int{2, 1}, []int{parked, invalid})
	assert.Equal(t, []map[string]any{{"reason": "invalid", "state": "open", "n": 1.0}},
		ask(t, s, "SELECT reason, state, count() AS n FROM DB.rejected_records GROUP BY reason, state"))
}

// TestALateRepeatDoesNotReopenWhatIsExplained delivers the same frame again, as
// a writer does after a crash.
func TestALateRepeatDoesNotReopenWhatIsExplained(t *testing.T) {
	s := testStore(t)
	f, q := newFeed(t, s), newQueue()
	w := newWriter(t, s, q, WriterOptions{})
	again := rejectedFrame(t, f, at(10, 5, 1))
	q.push(again)
	runWriter(t, w, q)
	rows, err := s.Rejected(t.Context(), RejectedFilter{})
	require.NoError(t, err)
	require.Len(t, rows, 1)
	require.NoError(t, s.Explain(t.Context(), rows[0], "a test server"))
	q.push(again)
	runWriter(t, w, q)
	rows, err = s.Rejected(t.Context(), RejectedFilter{})
	require.NoError(t, err)
	require.Len(t, rows, 1)
	assert.Equal(t, RejectedExplained, rows[0].State)
}
