package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/store/journal"
)

func TestPackedBlocksJoinAndUnpack(t *testing.T) {
	noise := make([]byte, 2*framePiece+7)
	random := rand.NewChaCha8([32]byte{1})
	_, err := random.Read(noise)
	require.NoError(t, err)
	blocks := [][]byte{[]byte("a"), bytes.Repeat([]byte("soak"), framePiece), {}, noise}
	var all []byte
	for _, b := range blocks {
		all, err = Pack(all, b)
		require.NoError(t, err)
	}
	size, err := unpackedSize(all)
	require.NoError(t, err)
	assert.Equal(t, 1+4*framePiece+len(noise), size)
	got, err := unpack(all)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(bytes.Join(blocks, nil), got))

	for _, cut := range []int{1, frameHeader - 1, len(all) - 1} {
		_, err := unpack(all[:cut])
		require.ErrorContains(t, err, "unpack blocks", cut)
	}
	all[len(all)/2] ^= 1
	_, err = unpack(all)
	require.ErrorContains(t, err, "unpack blocks")
}

// TestBlocksOfEarlierVersionsAreStored has a journal and a folder of parked
// batches from before blocks were packed.
func TestBlocksOfEarlierVersionsAreStored(t *testing.T) {
	s := testStore(t)
	f := newFeed(t, s)
	q := newQueue()
	plain := func(tool string) []byte {
		block, err := unpack(frame(f, at(10, 0, 0), tool).Payload)
		require.NoError(t, err)
		return block
	}
	journaled := frameOf(f, at(10, 0, 0), plain("a"), 1)
	journaled.Kind = kindRecords
	rejected := rejectedFrame(t, f, at(10, 0, 1))
	block, err := unpack(rejected.Payload)
	require.NoError(t, err)
	rejected.Kind, rejected.Payload = kindRejected, block
	beat, err := Heartbeat{JournalID: f.journal, At: at(10, 0, 1), InsertedThrough: at(10, 0, 1)}.AppendPacked(nil)
	require.NoError(t, err)
	beat, err = unpack(beat)
	require.NoError(t, err)
	q.push(journaled)
	q.push(rejected)
	q.push(journal.Frame{Journal: journal.ID(f.journal), Kind: kindHeartbeats, Arrival: at(10, 0, 1), Payload: beat})
	q.push(frame(f, at(10, 0, 2), "b"))

	dir := t.TempDir()
	header := fmt.Sprintf(`{"format":1,"journal_id":%q,"rows":1,"slices":["2026-01-01T10:00:00Z"]}`, f.journal)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "1.parked"), append([]byte(header+"\n"), plain("c")...), 0o600))
	w := newWriter(t, s, q, WriterOptions{Parking: dir, Heartbeat: func(time.Time, int, int) ([]byte, error) { return packed(t, beat), nil }})
	runWriterUntil(t, w, func() bool {
		left, err := filepath.Glob(filepath.Join(dir, "*"))
		return err == nil && len(left) == 0 && q.done()
	})
	assert.Equal(t, []map[string]any{{"tool": "a"}, {"tool": "b"}, {"tool": "c"}}, ask(t, s, "SELECT tool FROM DB.records ORDER BY tool"))
	assert.Equal(t, 1, count(t, s, "count() FROM DB.rejected_records"))
	assert.Equal(t, 1, count(t, s, "count() FROM DB.collector_heartbeats"))
}
