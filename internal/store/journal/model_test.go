package journal

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// cutDisk loses power: after cut, nothing that was not fsynced need be there. What
// a file held beyond its last fsync is kept in part, as zeros or as garbage.
type cutDisk struct {
	mu     sync.Mutex
	cut    cut
	synced map[string]int64 // by path
	sizes  map[string]int64
}

// cut is how the power goes.
type cut int

const (
	powerOn cut = iota
	// cutSync lets writes pass and no fsync, truncation or removal.
	cutSync
	// cutAll lets nothing pass.
	cutAll
)

func newCutDisk() *cutDisk {
	return &cutDisk{synced: map[string]int64{}, sizes: map[string]int64{}}
}

func (c *cutDisk) disk() *disk {
	d := quickDisk()
	wrap(d, func(path string, f file) file {
		if info, err := f.Stat(); err == nil {
			c.mu.Lock()
			c.sizes[path], c.synced[path] = info.Size(), info.Size()
			c.mu.Unlock()
		}
		return &cutFile{f, path, c}
	})
	remove := d.remove
	d.remove = func(path string) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.cut != powerOn {
			return errPower
		}
		delete(c.synced, path)
		delete(c.sizes, path)
		return remove(path)
	}
	return d
}

var errPower = fmt.Errorf("the power is off")

type cutFile struct {
	file
	path string
	c    *cutDisk
}

func (f *cutFile) WriteAt(b []byte, off int64) (int, error) {
	f.c.mu.Lock()
	defer f.c.mu.Unlock()
	if f.c.cut == cutAll || f.c.cut == cutSync && filepath.Base(f.path) == stateName {
		return 0, errPower
	}
	n, err := f.file.WriteAt(b, off)
	f.c.sizes[f.path] = max(f.c.sizes[f.path], off+int64(n))
	return n, err
}

func (f *cutFile) Truncate(size int64) error {
	f.c.mu.Lock()
	defer f.c.mu.Unlock()
	if f.c.cut != powerOn {
		return errPower
	}
	f.c.sizes[f.path], f.c.synced[f.path] = size, min(size, f.c.synced[f.path])
	return f.file.Truncate(size)
}

func (f *cutFile) Sync() error {
	f.c.mu.Lock()
	defer f.c.mu.Unlock()
	if f.c.cut != powerOn {
		return errPower
	}
	f.c.synced[f.path] = f.c.sizes[f.path]
	return nil
}

// lose does to the files what a power cut may do.
func (c *cutDisk) lose(t *testing.T, r *rand.Rand) {
	t.Helper()
	for path, synced := range c.synced {
		size := c.sizes[path]
		if filepath.Base(path) == stateName || size <= synced {
			continue
		}
		keep := synced + r.Int64N(size-synced+1)
		if r.IntN(3) == 0 {
			keep = size
		}
		require.NoError(t, os.Truncate(path, keep))
		switch r.IntN(3) {
		case 0: // the size arrived, the bytes did not
			require.NoError(t, os.Truncate(path, size))
		case 1: // another file's bytes came to light
			b := make([]byte, size-keep)
			for i := range b {
				b[i] = byte(r.Uint32())
			}
			if len(b) > 0 {
				overwrite(t, path, keep, b)
			}
		}
	}
}

// Random histories of appends, reads, commits, clean restarts and power cuts,
// against a list. The list says what must come, and what may.
func TestRandomHistories(t *testing.T) {
	const seed, histories, steps = 4711, 80, 150
	t.Logf("seed %d", seed)
	kept, lost := 0, 0
	for h := range uint64(histories) {
		t.Run(fmt.Sprintf("history %d", h), func(t *testing.T) {
			m := runHistory(t, rand.New(rand.NewPCG(seed, h)), steps)
			kept, lost = kept+m.kept, lost+m.dropped
		})
	}
	t.Logf("of the appends a power cut met, %d are kept and %d are not", kept, lost)
	require.Positive(t, kept)
	require.Positive(t, lost)
}

// model is what the journal should be.
type model struct {
	want      []uint64       // what is on disk for sure, in order
	number    map[uint64]int // by sequence
	maybe     []uint64       // appends that a power cut met, after all of want
	read      int            // index into want: delivered since the last start
	committed int            // index into want
	persisted int            // committed, and on disk for sure

	kept, dropped int // of maybe, over all
}

func historySize(n int) int { return n * 37 % 3000 }

func runHistory(t *testing.T, r *rand.Rand, steps int) model {
	dir := t.TempDir()
	m := model{number: map[uint64]int{}}
	c := newCutDisk()
	o := func() Options {
		return Options{Dir: dir, SegmentBytes: minSegmentBytes + r.Int64N(16<<10), CommitInterval: time.Hour, disk: c.disk()}
	}
	j, _, err := Open(o())
	require.NoError(t, err)
	n := 0
	for range steps {
		switch k := r.IntN(100); {
		case k < 45:
			seq, err := j.Append(context.Background(), testFrame(n, historySize(n)))
			require.NoError(t, err)
			if len(m.want) > 0 {
				require.Greater(t, seq, m.want[len(m.want)-1])
			}
			m.want = append(m.want, seq)
			m.number[seq] = n
			n++
		case k < 78:
			f, ok := tryNext(t, j)
			require.Equal(t, m.read < len(m.want), ok)
			if !ok {
				continue
			}
			m.same(t, m.read, f)
			m.read++
		case k < 88:
			if m.read > m.committed {
				m.committed += 1 + r.IntN(m.read-m.committed)
				require.NoError(t, j.Reader().Commit(m.want[m.committed-1]))
			}
		case k < 91:
			require.NoError(t, j.Sync(context.Background()))
			m.persisted = m.committed
		case k < 94:
			require.NoError(t, j.Close(context.Background()))
			m.persisted = m.committed
			j = m.reopen(t, o)
		default:
			c.mu.Lock()
			c.cut = cutAll
			if k < 98 {
				c.cut = cutSync
			}
			c.mu.Unlock()
			// One is told nothing of an append that the power cut met. Its sequence
			// is the next one; a later one cannot be, as no file can be made.
			next := j.nextSeq
			_, err := j.Append(context.Background(), testFrame(n, historySize(n)))
			require.Error(t, err)
			m.number[next] = n
			m.maybe = append(m.maybe, next)
			n++
			_ = j.Close(context.Background()) // ends the goroutines; nothing reaches the disk
			c.mu.Lock()
			c.cut = powerOn
			c.mu.Unlock()
			c.lose(t, r)
			j = m.reopen(t, o)
		}
		s := j.Stats()
		require.EqualValues(t, len(m.want)-m.committed, s.BacklogFrames)
		require.Zero(t, s.LostFrames)
	}
	require.NoError(t, j.Close(context.Background()))
	return m
}

// same compares a frame with the one at an index of want.
func (m *model) same(t *testing.T, i int, f Frame) {
	t.Helper()
	n := m.number[m.want[i]]
	sameFrame(t, m.want[i], testFrame(n, historySize(n)), f)
}

// reopen opens the folder, reads all of it, and opens it again. What was met by a
// power cut is either there as it was written, or not; then it never comes.
func (m *model) reopen(t *testing.T, o func() Options) *Journal {
	t.Helper()
	j, rec, err := Open(o())
	require.NoError(t, err)
	for _, d := range rec.Damage {
		require.Zero(t, d.Frames(), d.String())
	}
	got := readAll(t, j)
	for _, seq := range m.maybe {
		if len(got) > 0 && got[len(got)-1].Seq == seq {
			m.want = append(m.want, seq)
			m.kept++
		} else {
			m.dropped++
		}
	}
	m.maybe = nil
	before := m.committed
	m.committed = len(m.want) - len(got)
	require.LessOrEqual(t, m.committed, before, "a frame that was not consumed is lost")
	require.GreaterOrEqual(t, m.committed, m.persisted, "what was consumed for sure comes again, or more is there than was written")
	for i, f := range got {
		m.same(t, m.committed+i, f)
	}
	require.NoError(t, j.Close(context.Background()))
	j, rec, err = Open(o())
	require.NoError(t, err)
	require.Empty(t, rec.Damage, "what was cut off is gone")
	require.EqualValues(t, len(got), rec.Frames)
	m.read = m.committed
	return j
}
