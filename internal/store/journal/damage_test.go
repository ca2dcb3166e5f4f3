package journal

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// place is where a frame lies.
type place struct {
	file       string
	start, end int64
	seq        uint64
	n          int // testFrame's
}

// written is a folder with frames, and where they are.
type written struct {
	dir    string
	places []place
	sizes  func(n int) int
}

// write fills a folder with count frames. closed seals the last segment; else it
// is left as a crash leaves it, without a footer.
func write(t testing.TB, count int, segmentBytes int64, closed bool, size func(n int) int) written {
	t.Helper()
	dir := t.TempDir()
	j, _, err := Open(Options{Dir: dir, SegmentBytes: segmentBytes, disk: quickDisk()})
	require.NoError(t, err)
	w := written{dir: dir, sizes: size}
	for n := range count {
		seq := appendFrame(t, j, testFrame(n, size(n)))
		j.mu.Lock()
		s := j.segments[len(j.segments)-1]
		end := s.end
		j.mu.Unlock()
		w.places = append(w.places, place{filepath.Base(s.path), end - headerSize - int64(size(n)), end, seq, n})
	}
	closeJournal(t, j)
	if !closed {
		last := filepath.Join(dir, w.places[count-1].file)
		require.NoError(t, os.Truncate(last, w.places[count-1].end))
	}
	return w
}

// copyOf puts the folder's files back as they were when it was called.
func (w written) restorer(t testing.TB) func() {
	t.Helper()
	saved := map[string][]byte{}
	entries, err := os.ReadDir(w.dir)
	require.NoError(t, err)
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(w.dir, e.Name()))
		require.NoError(t, err)
		saved[e.Name()] = b
	}
	return func() {
		require.NoError(t, os.RemoveAll(filepath.Join(w.dir, "damaged")))
		for _, f := range segmentFiles(t, w.dir) {
			require.NoError(t, os.Remove(f))
		}
		for name, b := range saved {
			// Without O_CREATE for what exists: the state keeps its inode.
			require.NoError(t, os.WriteFile(filepath.Join(w.dir, name), b, fileMode))
		}
	}
}

// check opens the folder and requires exactly the frames that touched spares.
// It returns all damage that was told.
func (w written) check(t testing.TB, touched func(p place) bool) []Damage {
	t.Helper()
	var told []Damage
	j, rec, err := Open(Options{Dir: w.dir, disk: quickDisk(), OnDamage: func(d Damage) { told = append(told, d) }})
	require.NoError(t, err)
	defer closeJournal(t, j)
	told = append(told, rec.Damage...)
	var want []place
	for _, p := range w.places {
		if !touched(p) {
			want = append(want, p)
		}
	}
	got := readAll(t, j)
	require.Len(t, got, len(want), "told: %v", told)
	for i, p := range want {
		sameFrame(t, p.seq, testFrame(p.n, w.sizes(p.n)), got[i])
	}
	// What is lost is known to be lost, once the segment is left behind.
	seq := appendFrame(t, j, testFrame(1000, 50))
	after := readAll(t, j)
	require.Len(t, after, 1)
	sameFrame(t, seq, testFrame(1000, 50), after[0])
	require.Greater(t, seq, w.places[len(w.places)-1].seq, "no sequence is used twice")
	require.NoError(t, j.Reader().Commit(seq))
	j.reader.mu.Lock()
	told = append(told, j.reader.damages...) // what Next would tell
	j.reader.mu.Unlock()
	var lost uint64
	for _, d := range told {
		lost += d.Frames()
	}
	require.Equal(t, lost, j.Stats().LostFrames)
	require.EqualValues(t, len(told), j.Stats().DamageEvents)
	return told
}

// flip inverts one bit.
func flip(t testing.TB, path string, bit int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	var b [1]byte
	_, err = f.ReadAt(b[:], bit/8)
	require.NoError(t, err)
	b[0] ^= 1 << (bit % 8)
	_, err = f.WriteAt(b[:], bit/8)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

func overwrite(t testing.TB, path string, off int64, b []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	_, err = f.WriteAt(b, off)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

func smallSizes(n int) int { return 20 + n%30 }

// The last segment is cut at every byte. What is whole stays; the rest is called
// torn where no one could have been told that it is safe.
func TestLastSegmentCutAtEveryByte(t *testing.T) {
	for _, closed := range []bool{false, true} {
		t.Run(fmt.Sprintf("closed %t", closed), func(t *testing.T) {
			w := write(t, 4, 1<<20, closed, smallSizes)
			restore := w.restorer(t)
			last := filepath.Join(w.dir, w.places[3].file)
			info, err := os.Stat(last)
			require.NoError(t, err)
			for cut := info.Size() - 1; cut >= 0; cut-- {
				restore()
				require.NoError(t, os.Truncate(last, cut))
				told := w.check(t, func(p place) bool { return p.end > cut })
				whole := cut == 0
				for _, p := range w.places {
					whole = whole || cut == p.end
				}
				var lost uint64
				for _, d := range told {
					assert.NotEmpty(t, d.String())
					lost += d.Frames()
				}
				if !whole {
					require.NotEmpty(t, told, "cut at %d", cut)
				}
				// Close wrote the highest sequence to the state, so all that is missing is known.
				var missing uint64
				for _, p := range w.places {
					if p.end > cut {
						missing++
					}
				}
				require.Equal(t, missing, lost, "cut at %d: %v", cut, told)
			}
		})
	}
}

// A crash within an append, before anyone was told: torn, and nothing is lost.
func TestTornAppend(t *testing.T) {
	w := write(t, 3, 1<<20, false, smallSizes)
	restore := w.restorer(t)
	last := filepath.Join(w.dir, w.places[2].file)
	var frame bytes.Buffer
	h := frameHeader{seq: w.places[2].seq + 1, segment: 1, offset: uint32(w.places[2].end), length: 100, rows: 1}
	b := make([]byte, headerSize+100)
	h.payload = checksum(b[headerSize:])
	h.encode(b)
	frame.Write(b)
	for name, tail := range map[string][]byte{
		"part of a header":        frame.Bytes()[:30],
		"header alone":            frame.Bytes()[:headerSize],
		"part of a payload":       frame.Bytes()[:headerSize+99],
		"zeros":                   make([]byte, 100_000),
		"one byte":                {0xF5},
		"zeros, less than a head": make([]byte, 20),
	} {
		t.Run(name, func(t *testing.T) {
			restore()
			overwrite(t, last, w.places[2].end, tail)
			told := w.check(t, func(place) bool { return false })
			require.Len(t, told, 1)
			assert.Equal(t, Damage{File: w.places[2].file, Offset: w.places[2].end, Bytes: int64(len(tail)), Torn: true}, told[0])
			assert.Contains(t, told[0].String(), "never acknowledged")
			assert.NoDirExists(t, filepath.Join(w.dir, "damaged"))
		})
	}
	t.Run("whole, but not told", func(t *testing.T) {
		restore()
		overwrite(t, last, w.places[2].end, frame.Bytes())
		j, rec := open(t, Options{Dir: w.dir})
		assert.Empty(t, rec.Damage)
		assert.Len(t, readAll(t, j), 4, "an append of unknown outcome may be kept")
	})
	t.Run("garbage is kept aside", func(t *testing.T) {
		restore()
		garbage := bytes.Repeat([]byte("garbage "), 100)
		overwrite(t, last, w.places[2].end, garbage)
		told := w.check(t, func(place) bool { return false })
		require.Len(t, told, 1)
		assert.False(t, told[0].Torn)
		saved, err := os.ReadFile(told[0].Saved)
		require.NoError(t, err)
		assert.Equal(t, garbage, saved)
	})
}

// One bit of every byte of headers, payloads, segment header and footer. It costs
// the frame it is in and no other, and is told.
func TestOneBitFlipped(t *testing.T) {
	for name, closed := range map[string]bool{"after a crash": false, "after a close": true} {
		t.Run(name, func(t *testing.T) {
			// Three segments; the second and the last are hit.
			w := write(t, 90, minSegmentBytes, closed, smallSizes)
			restore := w.restorer(t)
			files := segmentFiles(t, w.dir)
			require.Len(t, files, 3)
			r := rand.New(rand.NewPCG(7, 7))
			for _, path := range []string{files[1], files[len(files)-1]} {
				restore()
				info, err := os.Stat(path)
				require.NoError(t, err)
				// Every byte of the first frames and of the footer, and some between.
				for at := int64(0); at < info.Size(); at++ {
					if at > 200 && at < info.Size()-headerSize-20 {
						at += 41
					}
					restore()
					flip(t, path, at*8+int64(r.IntN(8)))
					hit := func(p place) bool { return p.file == filepath.Base(path) && p.start <= at && at < p.end }
					told := w.check(t, hit)
					if at < headerSize {
						require.Empty(t, told, "a segment's header holds nothing that is lost with it")
						continue
					}
					require.Len(t, told, 1, "byte %d of %s", at, path)
					d := told[0]
					require.Equal(t, filepath.Base(path), d.File)
					require.LessOrEqual(t, d.Offset, at)
					require.Greater(t, d.Offset+d.Bytes, at)
					for _, p := range w.places {
						if hit(p) {
							require.Equal(t, p.start, d.Offset)
							require.Equal(t, p.end-p.start, d.Bytes)
							require.Equal(t, [2]uint64{p.seq, p.seq}, [2]uint64{d.FirstSeq, d.LastSeq})
						}
					}
					require.NotEmpty(t, d.Saved)
				}
			}
		})
	}
}

func TestDamageOfEveryKind(t *testing.T) {
	sizes := func(n int) int { return 1000 + n }
	w := write(t, 100, 20_000, false, sizes)
	restore := w.restorer(t)
	files := segmentFiles(t, w.dir)
	in := func(i int) []place {
		var out []place
		for _, p := range w.places {
			if p.file == filepath.Base(files[i]) {
				out = append(out, p)
			}
		}
		return out
	}
	overlaps := func(i int, from, to int64) func(place) bool {
		return func(p place) bool { return p.file == filepath.Base(files[i]) && p.start < to && from < p.end }
	}
	none := func(place) bool { return false }
	second := in(1)
	for name, c := range map[string]struct {
		do      func()
		touched func(place) bool
		lost    uint64
	}{
		"16 bytes in the middle": {
			func() { overwrite(t, files[1], second[3].start+500, bytes.Repeat([]byte{0xAA}, 16)) },
			overlaps(1, second[3].start+500, second[3].start+516), 1,
		},
		"zeroed middle": {
			func() {
				overwrite(t, files[1], second[2].start+10, make([]byte, second[5].start+20-second[2].start-10))
			},
			overlaps(1, second[2].start+10, second[5].start+20), 4,
		},
		"zeroed front": {
			func() { overwrite(t, files[1], 0, make([]byte, second[1].start+3)) },
			overlaps(1, 0, second[1].start+3), 2,
		},
		"an earlier segment cut": {
			func() { require.NoError(t, os.Truncate(files[1], second[4].start+100)) },
			overlaps(1, second[4].start+100, 1<<30), uint64(len(second) - 4),
		},
		"an earlier segment emptied": {
			func() { require.NoError(t, os.Truncate(files[1], 0)) },
			overlaps(1, 0, 1<<30), uint64(len(second)),
		},
		"an earlier segment deleted": {
			func() { require.NoError(t, os.Remove(files[1])) },
			overlaps(1, 0, 1<<30), uint64(len(second)),
		},
		"the first segment deleted": {
			func() { require.NoError(t, os.Remove(files[0])) },
			overlaps(0, 0, 1<<30), uint64(len(in(0))),
		},
		"the last segment emptied": {
			func() { require.NoError(t, os.Truncate(files[len(files)-1], 0)) },
			overlaps(len(files)-1, 0, 1<<30), uint64(len(in(len(files) - 1))),
		},
		"the last segment deleted": {
			func() { require.NoError(t, os.Remove(files[len(files)-1])) },
			overlaps(len(files)-1, 0, 1<<30), uint64(len(in(len(files) - 1))),
		},
		"all segments deleted": {
			func() {
				for _, f := range files {
					require.NoError(t, os.Remove(f))
				}
			},
			func(place) bool { return true }, 100,
		},
		"a whole segment overwritten with another": {
			func() {
				b, err := os.ReadFile(files[2])
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(files[1], b, fileMode))
			},
			overlaps(1, 0, 1<<30), uint64(len(second)),
		},
		"a frame written over an earlier one": {
			func() {
				b, err := os.ReadFile(files[1])
				require.NoError(t, err)
				overwrite(t, files[1], second[2].start, b[second[6].start:second[6].end])
			},
			overlaps(1, second[2].start, second[2].start+second[6].end-second[6].start), 2,
		},
		"first slot of the state": {
			func() { overwrite(t, filepath.Join(w.dir, stateName), 100, []byte("xxxx")) },
			none, 0,
		},
		"second slot of the state": {
			func() { overwrite(t, filepath.Join(w.dir, stateName), slotStride+100, []byte("xxxx")) },
			none, 0,
		},
		"a foreign file": {
			func() { require.NoError(t, os.WriteFile(filepath.Join(w.dir, "1.seg"), []byte("hello"), fileMode)) },
			none, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			restore()
			c.do()
			told := w.check(t, c.touched)
			var lost uint64
			for _, d := range told {
				require.False(t, d.Torn)
				lost += d.Frames()
			}
			assert.Equal(t, c.lost, lost, "told: %v", told)
			if c.lost == 0 {
				assert.Empty(t, told)
			} else {
				assert.Len(t, told, 1, "one hole, told once")
			}
			require.NoError(t, os.RemoveAll(filepath.Join(w.dir, "1.seg")))
		})
	}
}
