package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// file is what the journal asks of an open file.
type file interface {
	io.ReaderAt
	io.WriterAt
	Sync() error
	Truncate(size int64) error
	Stat() (os.FileInfo, error)
	Close() error
}

// disk is what the journal asks of the filesystem. It is a seam for tests, which
// have to fail a write, an fsync or a read at will: no real disk does that on demand.
type disk struct {
	create  func(path string) (file, error) // a new file; it is an error if it exists
	open    func(path string) (file, error) // for reading and writing
	remove  func(path string) error
	syncDir func(path string) error
}

// Permissions: payloads are redacted, and still nobody else's business.
const (
	dirMode  = 0o700
	fileMode = 0o600
)

func realDisk() *disk {
	return &disk{
		create: func(path string) (file, error) {
			return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode)
		},
		open:    func(path string) (file, error) { return os.OpenFile(path, os.O_RDWR, 0) },
		remove:  os.Remove,
		syncDir: syncDir,
	}
}

// makeFolder makes dir and what is missing above it, durably.
func makeFolder(d *disk, dir string) error {
	var parents []string
	for p := dir; filepath.Dir(p) != p; p = filepath.Dir(p) {
		if _, err := os.Stat(p); err == nil {
			break
		}
		parents = append(parents, filepath.Dir(p))
	}
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return fmt.Errorf("make journal folder %s: %w", dir, err)
	}
	for _, p := range parents {
		if err := d.syncDir(p); err != nil {
			return fmt.Errorf("sync folder %s above journal folder %s: %w", p, dir, err)
		}
	}
	return nil
}

// syncDir makes the names in a folder durable. Some network filesystems refuse
// fsync on a folder with EINVAL; they keep names in step by themselves.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

// readFull reads len(b) bytes at off of a file of the given size. A file that
// ends before gives io.ErrUnexpectedEOF.
func readFull(f io.ReaderAt, b []byte, off, size int64) (int, error) {
	if off+int64(len(b)) > size {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := f.ReadAt(b, off)
	if n == len(b) {
		return n, nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// isDamage reports whether a read failed because the bytes are not there: the
// file is shorter than it should be, or the sector cannot be read. Other errors
// (too many open files, say) may pass and must not cost a frame.
func isDamage(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.EIO)
}
