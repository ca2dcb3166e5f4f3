package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Damage is a range of a segment that could not be read, or frames that are
// missing from it.
type Damage struct {
	// File is the segment's file name.
	File string
	// Offset and Bytes are the range; Bytes is 0 when frames are missing without a trace.
	Offset, Bytes int64
	// FirstSeq and LastSeq are the sequences that are missing, both 0 if none are
	// known to be.
	FirstSeq, LastSeq uint64
	// Torn says that this is an append that was cut off at the end of the last
	// segment, and so never acknowledged.
	Torn bool
	// Saved is the file that the bytes were copied to; empty if they were not,
	// and then Unsaved says why.
	Saved, Unsaved string
}

// Frames is how many frames are known to be lost.
func (d Damage) Frames() uint64 {
	if d.LastSeq == 0 {
		return 0
	}
	return d.LastSeq - d.FirstSeq + 1
}

// String is a sentence for an operator's log.
func (d Damage) String() string {
	var b strings.Builder
	if d.Torn {
		fmt.Fprintf(&b, "cut a torn append off segment %s: %d bytes at offset %d, never acknowledged", d.File, d.Bytes, d.Offset)
		return b.String()
	}
	fmt.Fprintf(&b, "damage in segment %s: %d bytes at offset %d cannot be read", d.File, d.Bytes, d.Offset)
	if n := d.Frames(); n > 0 {
		fmt.Fprintf(&b, ", %d frames are lost (sequence %d to %d)", n, d.FirstSeq, d.LastSeq)
	}
	if d.Saved != "" {
		fmt.Fprintf(&b, ", copied to %s", d.Saved)
	} else if d.Unsaved != "" {
		fmt.Fprintf(&b, ", not copied: %s", d.Unsaved)
	}
	return b.String()
}

// attic copies damaged ranges into the folder "damaged", and counts. It
// remembers what it was told, since recovery and the reader come upon the same range.
type attic struct {
	disk *disk
	dir  string
	max  int64

	mu     sync.Mutex
	known  map[damageKey]bool
	events uint64
	bytes  int64
	frames uint64
	saved  int64
}

type damageKey struct {
	file   string
	offset int64
}

func newAttic(d *disk, dir string, max int64) *attic {
	a := &attic{disk: d, dir: filepath.Join(dir, "damaged"), max: max, known: map[damageKey]bool{}}
	entries, err := os.ReadDir(a.dir)
	if err != nil {
		return a // absent, as it should be; any other trouble shows when something is saved
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			a.saved += info.Size()
		}
	}
	return a
}

// take counts d and copies its bytes from f, which is nil when there are none to
// copy. It reports false for damage that is known already.
func (a *attic) take(d *Damage, f io.ReaderAt) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := damageKey{d.File, d.Offset}
	if a.known[key] {
		return false
	}
	a.known[key] = true
	a.events++
	a.bytes += d.Bytes
	a.frames += d.Frames()
	if d.Torn || d.Bytes == 0 || f == nil {
		return true
	}
	path, err := a.save(d, f)
	if err != nil {
		d.Unsaved = err.Error()
	}
	d.Saved = path
	return true
}

// save copies the range. A file of the same name and size is the same range, met
// by an earlier run of the process.
func (a *attic) save(d *Damage, f io.ReaderAt) (path string, err error) {
	path = filepath.Join(a.dir, fmt.Sprintf("%s-%010d.bin", strings.TrimSuffix(d.File, segmentSuffix), d.Offset))
	if info, err := os.Stat(path); err == nil && info.Size() == d.Bytes {
		return path, nil
	}
	if a.saved+d.Bytes > a.max {
		return "", fmt.Errorf("%s holds %d bytes and may hold %d", a.dir, a.saved, a.max)
	}
	if err := os.MkdirAll(a.dir, dirMode); err != nil {
		return "", err
	}
	if err := a.disk.remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err // left by a run that ended half way
	}
	out, err := a.disk.create(path)
	if err != nil {
		return "", err
	}
	err = copyRange(&offsetWriter{f: out}, f, d.Offset, d.Bytes)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return "", errors.Join(err, a.disk.remove(path))
	}
	a.saved += d.Bytes
	return path, nil
}

// copyRange copies n bytes at off of f. Sectors that cannot be read become zeros,
// so that the rest stays in its place.
func copyRange(out io.Writer, f io.ReaderAt, off, n int64) error {
	buf := make([]byte, 64<<10)
	for n > 0 {
		b := buf[:min(n, int64(len(buf)))]
		got, err := f.ReadAt(b, off)
		if got == 0 && err != nil {
			if isEOF(err) {
				return fmt.Errorf("the file ends before offset %d", off)
			}
			if !isDamage(err) {
				return err
			}
			got = min(len(b), sectorSize-int(off%sectorSize))
			clear(b[:got])
		}
		if _, err := out.Write(b[:got]); err != nil {
			return err
		}
		off += int64(got)
		n -= int64(got)
	}
	return nil
}

// addFrames counts frames that turn out to be missing with damage that was counted.
func (a *attic) addFrames(n uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.frames += n
}
