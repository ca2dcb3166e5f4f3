package journal

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A later start of the same damage reads the same, and saves no second copy.
func TestDamageThatIsMetAgain(t *testing.T) {
	w := write(t, 60, minSegmentBytes, true, smallSizes)
	path := segmentFiles(t, w.dir)[0]
	flip(t, path, (w.places[3].start+headerSize)*8)
	for range 3 {
		j, rec, err := Open(Options{Dir: w.dir})
		require.NoError(t, err)
		assert.EqualValues(t, 60, rec.Frames, "known from the footer, before anything is read")
		require.Len(t, readAll(t, j), 59)
		s := j.Stats()
		assert.EqualValues(t, 1, s.LostFrames)
		assert.EqualValues(t, 1, s.DamageEvents)
		assert.Equal(t, w.places[3].end-w.places[3].start, s.SavedBytes)
		closeJournal(t, j)
	}
	j, _ := open(t, Options{Dir: w.dir})
	all := readAll(t, j)
	s := j.Stats()
	assert.EqualValues(t, testFrame(3, 0).Rows, s.LostRows)
	require.NoError(t, j.Reader().Commit(all[58].Seq))
	s = j.Stats()
	assert.Zero(t, s.BacklogFrames)
	assert.Zero(t, s.BacklogRows, "the lost rows wait no more")
}

func TestDamagedFolderIsBounded(t *testing.T) {
	w := write(t, 3, 1<<20, true, func(int) int { return 1000 })
	path := segmentFiles(t, w.dir)[0]
	flip(t, path, (w.places[0].start+headerSize)*8)
	flip(t, path, (w.places[2].start+headerSize)*8)
	var told []Damage
	j, _ := open(t, Options{Dir: w.dir, MaxDamagedBytes: 1500, OnDamage: func(d Damage) { told = append(told, d) }})
	f, err := j.Reader().Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, w.places[1].seq, f.Seq)
	appendFrame(t, j, testFrame(9, 9))
	_, err = j.Reader().Next(t.Context())
	require.NoError(t, err)
	require.Len(t, told, 2)
	assert.NotEmpty(t, told[0].Saved)
	assert.Empty(t, told[1].Saved)
	assert.Contains(t, told[1].String(), "may hold 1500")
	assert.LessOrEqual(t, j.Stats().SavedBytes, int64(1500))
}

// A sector that cannot be read costs the frames in it. Any other read error may
// pass, and costs none.
func TestReadErrors(t *testing.T) {
	w := write(t, 40, 1<<20, true, func(int) int { return 1000 })
	restore := w.restorer(t)
	t.Run("bad sectors", func(t *testing.T) {
		restore()
		d := quickDisk()
		bad := faultRange{from: 3 * sectorSize, to: 5 * sectorSize, err: syscall.EIO}
		wrap(d, func(path string, f file) file {
			if filepath.Ext(path) != segmentSuffix {
				return f
			}
			return &badReads{file: f, bad: &bad}
		})
		j, _ := open(t, Options{Dir: w.dir, disk: d})
		var want []uint64
		for _, p := range w.places {
			if p.end <= bad.from || p.start >= bad.to {
				want = append(want, p.seq)
			}
		}
		require.Equal(t, want, seqs(readAll(t, j)))
		closeJournal(t, j)
	})
	t.Run("too many open files", func(t *testing.T) {
		restore()
		d := quickDisk()
		openReal, fail := d.open, false
		d.open = func(path string) (file, error) {
			if fail {
				return nil, &os.PathError{Op: "open", Path: path, Err: syscall.EMFILE}
			}
			return openReal(path)
		}
		j, _ := open(t, Options{Dir: w.dir, disk: d})
		fail = true
		_, err := j.Reader().Next(t.Context())
		require.ErrorIs(t, err, syscall.EMFILE)
		fail = false
		require.Len(t, readAll(t, j), 40)
		require.Zero(t, j.Stats().DamageEvents)
	})
}

// U29: a start after damage takes no longer than one without.
func TestStartDoesNotReadTheBacklog(t *testing.T) {
	w := write(t, 2000, 1<<20, true, func(int) int { return 4000 })
	d := quickDisk()
	var read int64
	wrap(d, func(_ string, f file) file { return &countingReads{file: f, n: &read} })
	began := time.Now()
	j, rec := open(t, Options{Dir: w.dir, disk: d})
	t.Logf("opened %d bytes in %s, read %d", rec.Bytes, time.Since(began), read)
	assert.EqualValues(t, 2000, rec.Frames)
	assert.Less(t, read, rec.Bytes/1000)
	require.Len(t, readAll(t, j), 2000)
}
