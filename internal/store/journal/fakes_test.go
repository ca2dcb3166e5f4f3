package journal

import (
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// quickDisk is the real one without fsync, for tests that open a folder hundreds
// of times to look at what is in the files.
func quickDisk() *disk {
	d := realDisk()
	wrap(d, func(_ string, f file) file { return noSync{f} })
	d.syncDir = func(string) error { return nil }
	return d
}

type noSync struct{ file }

func (noSync) Sync() error { return nil }

// wrap puts something around every file that d opens or creates.
func wrap(d *disk, around func(path string, f file) file) {
	create, open := d.create, d.open
	d.create = func(path string) (file, error) {
		f, err := create(path)
		if err != nil {
			return nil, err
		}
		return around(path, f), nil
	}
	d.open = func(path string) (file, error) {
		f, err := open(path)
		if err != nil {
			return nil, err
		}
		return around(path, f), nil
	}
}

// faultRange is where reads fail.
type faultRange struct {
	from, to int64
	err      error
}

// badReads fails reads that touch bad, as a disk does: what lies before it in
// the same read is delivered.
type badReads struct {
	file
	bad *faultRange
}

func (f *badReads) ReadAt(b []byte, off int64) (int, error) {
	end := off + int64(len(b))
	if end <= f.bad.from || off >= f.bad.to {
		return f.file.ReadAt(b, off)
	}
	if off >= f.bad.from {
		return 0, f.bad.err
	}
	n, err := f.file.ReadAt(b[:f.bad.from-off], off)
	if err == nil {
		err = f.bad.err
	}
	return n, err
}

// countingReads counts the bytes that are read.
type countingReads struct {
	file
	n *int64
}

func (f *countingReads) ReadAt(b []byte, off int64) (int, error) {
	n, err := f.file.ReadAt(b, off)
	*f.n += int64(n)
	return n, err
}

// faults is a disk with a limited size and with errors on demand. Segments only:
// the state is overwritten in place and has its space.
type faults struct {
	mu     sync.Mutex
	free   int64 // bytes that may still be written; -1 is no limit
	write  error
	sync   error
	create error
	state  error // of writes to the state
	hold   chan struct{}
	held   chan struct{} // told when an fsync begins to be held
	sizes  map[string]int64
	syncs  map[string]int // fsyncs by path, those that failed included
	failed map[string]int // failed ones by path
	writes map[string]int // writes after a failed fsync on the same file
}

func newFaults() *faults {
	return &faults{free: -1, sizes: map[string]int64{}, syncs: map[string]int{}, failed: map[string]int{}, writes: map[string]int{}, held: make(chan struct{}, 100)}
}

func (f *faults) set(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
}

func (f *faults) disk() *disk {
	d := quickDisk()
	wrap(d, func(path string, inner file) file { return &faultyFile{inner, path, f} })
	create := d.create
	d.create = func(path string) (file, error) {
		f.mu.Lock()
		err := f.create
		f.mu.Unlock()
		if err != nil {
			return nil, &os.PathError{Op: "create", Path: path, Err: err}
		}
		return create(path)
	}
	remove := d.remove
	d.remove = func(path string) error {
		err := remove(path)
		f.mu.Lock()
		defer f.mu.Unlock()
		if err == nil {
			f.grow(path, 0)
			delete(f.sizes, path)
		}
		return err
	}
	return d
}

// grow counts a file's new size against what is free. It needs mu.
func (f *faults) grow(path string, size int64) {
	if f.free >= 0 {
		f.free -= size - f.sizes[path]
	}
	f.sizes[path] = size
}

type faultyFile struct {
	file
	path string
	f    *faults
}

func (f *faultyFile) WriteAt(b []byte, off int64) (int, error) {
	f.f.mu.Lock()
	defer f.f.mu.Unlock()
	fail := func(err error) error { return &os.PathError{Op: "write", Path: f.path, Err: err} }
	if _, ok := parseSegmentName(filepath.Base(f.path)); !ok {
		if f.f.state != nil {
			return 0, fail(f.f.state)
		}
		return f.file.WriteAt(b, off)
	}
	if f.f.failed[f.path] > 0 {
		f.f.writes[f.path]++
	}
	if f.f.write != nil {
		return 0, fail(f.f.write)
	}
	end := max(off+int64(len(b)), f.f.sizes[f.path])
	if more := end - f.f.sizes[f.path]; f.f.free >= 0 && more > f.f.free {
		room := max(0, int64(len(b))-(more-f.f.free)) // a full disk takes what it can
		n, err := f.file.WriteAt(b[:room], off)
		f.f.grow(f.path, max(off+int64(n), f.f.sizes[f.path]))
		if err == nil {
			err = fail(syscall.ENOSPC)
		}
		return n, err
	}
	f.f.grow(f.path, end)
	return f.file.WriteAt(b, off)
}

func (f *faultyFile) Truncate(size int64) error {
	f.f.mu.Lock()
	defer f.f.mu.Unlock()
	f.f.grow(f.path, size)
	return f.file.Truncate(size)
}

func (f *faultyFile) Sync() error {
	if _, ok := parseSegmentName(filepath.Base(f.path)); !ok {
		return f.file.Sync()
	}
	f.f.mu.Lock()
	hold := f.f.hold
	f.f.mu.Unlock()
	if hold != nil {
		f.f.held <- struct{}{}
		<-hold
	}
	f.f.mu.Lock()
	defer f.f.mu.Unlock()
	f.f.syncs[f.path]++
	if f.f.sync != nil {
		f.f.failed[f.path]++
		return &os.PathError{Op: "sync", Path: f.path, Err: f.f.sync}
	}
	return f.file.Sync()
}
