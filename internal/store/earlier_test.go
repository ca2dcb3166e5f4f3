package store

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/store/journal"
	"github.com/soakgate/soakgate/internal/store/native"
)

// TestBlocksOfEarlierVersionsAreStored has a journal and a folder of parked
// batches from before blocks were packed.
func TestBlocksOfEarlierVersionsAreStored(t *testing.T) {
	s := testStore(t)
	f := newFeed(t, s)
	q := newQueue()
	plain := func(tool string) []byte {
		block, err := native.Unpack(frame(f, at(10, 0, 0), tool).Payload)
		require.NoError(t, err)
		return block
	}
	journaled := frameOf(f, at(10, 0, 0), plain("a"), 1)
	journaled.Kind = kindRecords
	rejected := rejectedFrame(t, f, at(10, 0, 1))
	block, err := native.Unpack(rejected.Payload)
	require.NoError(t, err)
	rejected.Kind, rejected.Payload = kindRejected, block
	beat, err := Heartbeat{JournalID: f.journal, At: at(10, 0, 1), InsertedThrough: at(10, 0, 1)}.AppendPacked(nil)
	require.NoError(t, err)
	beat, err = native.Unpack(beat)
	require.NoError(t, err)
	q.push(journaled)
	q.push(rejected)
	q.push(journal.Frame{Journal: journal.ID(f.journal), Kind: kindHeartbeats, Arrival: at(10, 0, 1), Payload: beat})
	q.push(frame(f, at(10, 0, 2), "b"))

	dir := t.TempDir()
	header := fmt.Sprintf(`{"format":1,"journal_id":%q,"rows":1,"slices":["2026-01-01T10:00:00Z"]}`, f.journal)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "1.parked"), append([]byte(header+"\n"), plain("c")...), 0o600))
	w := newWriter(t, s, q, WriterOptions{Parking: dir, Heartbeat: func(time.Time, int, int) ([]byte, error) { return native.Pack(nil, beat) }})
	runWriterUntil(t, w, func() bool {
		left, err := filepath.Glob(filepath.Join(dir, "*"))
		return err == nil && len(left) == 0 && q.done()
	})
	assert.Equal(t, []map[string]any{{"tool": "a"}, {"tool": "b"}, {"tool": "c"}}, ask(t, s, "SELECT tool FROM DB.records ORDER BY tool"))
	assert.Equal(t, 1, count(t, s, "count() FROM DB.rejected_records"))
	assert.Equal(t, 1, count(t, s, "count() FROM DB.collector_heartbeats"))
}
