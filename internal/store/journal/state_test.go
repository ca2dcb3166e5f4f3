package journal

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStateThatCannotBeRead(t *testing.T) {
	w := write(t, 10, 1<<20, true, smallSizes)
	state := filepath.Join(w.dir, stateName)
	for name, do := range map[string]func(){
		"both slots": func() {
			overwrite(t, state, 20, []byte("x"))
			overwrite(t, state, slotStride+20, []byte("x"))
		},
		"emptied": func() { require.NoError(t, os.Truncate(state, 0)) },
		"deleted": func() { require.NoError(t, os.Remove(state)) },
	} {
		t.Run(name, func(t *testing.T) {
			j, _, err := Open(Options{Dir: w.dir})
			require.NoError(t, err)
			old := j.ID()
			closeJournal(t, j)
			do()
			j, rec := open(t, Options{Dir: w.dir})
			defer closeJournal(t, j)
			assert.True(t, rec.StateLost)
			assert.Contains(t, rec.String(), "could not be read")
			assert.NotEqual(t, old, j.ID(), "sequences may have been used that are not known; a new id names them apart")
			assert.EqualValues(t, 10, rec.Frames)
			got := readAll(t, j)
			require.Len(t, got, 10)
			for i, p := range w.places {
				sameFrame(t, p.seq, testFrame(p.n, w.sizes(p.n)), got[i])
			}
		})
	}
}

// The slot that is damaged may be the one that knew how far the journal was
// consumed: then frames come again, and none is called lost.
func TestNewestSlotOfTheStateDamaged(t *testing.T) {
	w := write(t, 100, minSegmentBytes, true, smallSizes)
	path := filepath.Join(w.dir, stateName)
	o := Options{Dir: w.dir, CommitInterval: time.Hour, disk: quickDisk()}
	j, _, err := Open(o)
	require.NoError(t, err)
	for i := range 70 {
		f, ok := tryNext(t, j)
		require.True(t, ok)
		if i == 4 {
			require.NoError(t, j.Reader().Commit(f.Seq))
			require.NoError(t, j.Sync(t.Context()))
		}
		if i == 69 {
			require.NoError(t, j.Reader().Commit(f.Seq))
		}
	}
	closeJournal(t, j)
	require.Less(t, len(segmentFiles(t, w.dir)), 3, "some are consumed and gone")
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	first, _ := decodeState(b)
	second, _ := decodeState(b[slotStride:])
	newest := int64(0)
	if second.generation > first.generation {
		newest = slotStride
	}
	overwrite(t, path, newest+300, []byte("x"))
	j, rec := open(t, o)
	assert.Empty(t, rec.Damage)
	got := readAll(t, j)
	require.GreaterOrEqual(t, len(got), 30)
	require.Equal(t, w.places[99].seq, got[len(got)-1].Seq)
	require.Zero(t, j.Stats().DamageEvents)
}

// A crash, and then every segment is gone, and one slot of the state too: what
// was used is still not used again, and what was there is known to be lost.
func TestNothingButOneSlotOfTheState(t *testing.T) {
	for name, c := range map[string]struct {
		left   int
		learns bool // the state has been written since the append
	}{
		"first slot left":               {0, true},
		"second slot left":              {slotStride, true},
		"first slot left, early crash":  {0, false},
		"second slot left, early crash": {slotStride, false},
	} {
		t.Run(name, func(t *testing.T) {
			left := c.left
			dir := t.TempDir()
			path := filepath.Join(dir, stateName)
			o := Options{Dir: dir, CommitInterval: time.Millisecond}
			j, _, err := Open(o)
			require.NoError(t, err)
			closeJournal(t, j)
			j, _, err = Open(o)
			require.NoError(t, err)
			id := j.ID()
			crashed, err := os.ReadFile(path)
			require.NoError(t, err)
			used := appendFrame(t, j, testFrame(1, 100))
			require.Eventually(t, func() bool { // the state learns of the segment by itself
				if !c.learns {
					return true
				}
				crashed, err = os.ReadFile(path)
				require.NoError(t, err)
				first, _ := decodeState(crashed)
				second, _ := decodeState(crashed[slotStride:])
				return max(first.last, second.last) == used
			}, 5*time.Second, time.Millisecond)
			closeJournal(t, j)
			overwrite(t, path, 0, crashed)
			overwrite(t, path, int64(slotStride-left+40), []byte("damaged!"))
			require.NoError(t, os.Remove(segmentFiles(t, dir)[0]))

			j, rec := open(t, o)
			assert.Equal(t, id, j.ID())
			if s, _ := decodeState(crashed[left:]); s.last == used { // the other one may be older
				require.Len(t, rec.Damage, 1)
				assert.EqualValues(t, 1, rec.Damage[0].Frames())
				assert.Equal(t, used, rec.Damage[0].LastSeq)
			}
			assert.Greater(t, appendFrame(t, j, testFrame(2, 100)), used)
			assert.Len(t, readAll(t, j), 1)
		})
	}
}

// The frames at a segment's end are lost, those before are consumed. After a
// restart the loss is not told again.
func TestLossAtTheEndOfASegmentIsToldOnce(t *testing.T) {
	w := write(t, 60, minSegmentBytes, true, smallSizes)
	end := 0
	for w.places[end+1].file == w.places[0].file {
		end++
	}
	flip(t, filepath.Join(w.dir, w.places[end].file), (w.places[end].start+headerSize)*8)
	o := Options{Dir: w.dir, disk: quickDisk()}
	j, _, err := Open(o)
	require.NoError(t, err)
	for range end {
		f, ok := tryNext(t, j)
		require.True(t, ok)
		require.NoError(t, j.Reader().Commit(f.Seq))
	}
	// The reader is asked once more and finds the damage; what comes is not committed.
	f, ok := tryNext(t, j)
	require.True(t, ok)
	require.Equal(t, w.places[end+1].seq, f.Seq)
	require.EqualValues(t, 1, j.Stats().LostFrames)
	closeJournal(t, j)
	j, _ = open(t, o)
	got := readAll(t, j)
	require.Len(t, got, 60-end-1)
	require.Zero(t, j.Stats().DamageEvents)
}
