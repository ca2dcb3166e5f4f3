package store

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// beat stores a heartbeat of a journal.
func beat(t *testing.T, s *Store, journalID uuid.UUID, when, through time.Time) {
	t.Helper()
	block, err := Heartbeat{JournalID: journalID, Collector: "c-" + journalID.String()[:4], At: when, InsertedThrough: through}.AppendPacked(nil)
	require.NoError(t, err)
	require.NoError(t, s.inserter.insert(t.Context(), s.database+".collector_heartbeats", heartbeatColumns, block))
}

func books(t *testing.T, s *Store) Books {
	t.Helper()
	b, err := s.Books(t.Context())
	require.NoError(t, err)
	return b
}

// TestFinalSlices follows the watermark of two journals.
func TestFinalSlices(t *testing.T) {
	s := testStore(t)
	f := newFeed(t, s)
	for i := range 5 {
		f.send(at(10, i, 1), failureOf(byte(i+1)))
		f.send(at(10, i, 2), failureOf(1)) // and a repeat in each
	}
	require.Equal(t, 5, seal(t, s))
	assert.Equal(t, Books{}, books(t, s), "without a heartbeat nothing is final")

	one, two := f.journal, uuid.New()
	beat(t, s, one, at(10, 6, 0), at(10, 4, 30))
	assert.Equal(t, Books{Through: at(10, 4, 0), Distinct: 4, Sealed: 4, Waiting: one.String()}, books(t, s), "the slice that the watermark is in is not final")

	beat(t, s, two, at(10, 6, 0), at(10, 2, 0))
	assert.Equal(t, Books{Through: at(10, 2, 0), Distinct: 2, Sealed: 2, Waiting: two.String()}, books(t, s), "a journal that lags holds slices open")

	collectors, err := s.Collectors(t.Context())
	require.NoError(t, err)
	require.Len(t, collectors, 2)
	for _, c := range collectors {
		if c.JournalID == two.String() {
			require.NoError(t, s.Retire(t.Context(), c))
		}
	}
	assert.Equal(t, at(10, 4, 0), books(t, s).Through, "a retired one does not")
	beat(t, s, two, time.Now().Add(time.Minute), at(10, 3, 0))
	assert.Equal(t, at(10, 3, 0), books(t, s).Through, "unless it comes back")

	beat(t, s, one, time.Now().Add(time.Minute), at(11, 0, 0))
	beat(t, s, two, time.Now().Add(2*time.Minute), at(11, 0, 0))
	f.send(at(10, 2, 3), failureOf(9))
	assert.Equal(t, at(10, 2, 0), books(t, s).Through, "a final slice that is written again waits for its seal")
	seal(t, s)
	got := books(t, s)
	assert.Equal(t, [3]any{at(11, 0, 0), uint64(6), uint64(6)}, [3]any{got.Through, got.Distinct, got.Sealed})

	require.NoError(t, s.conn.Exec(t.Context(), "ALTER TABLE "+s.database+".records DELETE WHERE received_at >= '"+millis(at(10, 4, 0))+"' SETTINGS mutations_sync = 1"))
	got = books(t, s)
	assert.Equal(t, [2]uint64{5, 6}, [2]uint64{got.Distinct, got.Sealed}, "what is missing shows")
}

// TestExpiredSlicesAreLeftAlone: slices whose records expire keep their rollups,
// and leave the books.
func TestExpiredSlicesAreLeftAlone(t *testing.T) {
	s := testStore(t)
	f := newFeed(t, s)
	f.send(at(-2, 0, 1), failureOf(1))               // out of the days kept at any hour of today
	f.send(at(34, 0, 1), failureOf(2), failureOf(1)) // in them, with a repeat
	seal(t, s)
	beat(t, s, f.journal, time.Now(), at(40, 0, 0))
	assert.Equal(t, uint64(2), books(t, s).Distinct)
	require.NoError(t, s.conn.Exec(t.Context(), "ALTER TABLE "+s.database+".records MODIFY TTL toDateTime(received_at) + INTERVAL 3 DAY SETTINGS materialize_ttl_after_modify = 0"))
	got := books(t, s)
	assert.Equal(t, [2]uint64{1, 1}, [2]uint64{got.Distinct, got.Sealed}, "the repeat's first copy is outside")
	sealer, err := NewSealer(s, uuid.New())
	require.NoError(t, err)
	n, err := sealer.Reseal(t.Context(), at(-24, 0, 0), at(48, 0, 0))
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	assert.Equal(t, 2, count(t, s, "sum(errors) FROM DB.errors_by_minute_unique"))
}
