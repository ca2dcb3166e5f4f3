package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// minFree is the free space below which the engine is not started: it writes
// its metadata at once, and a store that is full at the start helps nobody.
const minFree = 64 << 20

// prepareFolder makes the folder and finds out now, in one sentence, what the
// engine would say in many lines on standard error.
func prepareFolder(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return fmt.Errorf("make the data folder of the embedded ClickHouse: %w", err)
	}
	probe, err := os.CreateTemp(path, ".probe-*")
	if err != nil {
		return fmt.Errorf("the data folder %s is not writable: %w", path, err)
	}
	name := probe.Name()
	if err := errors.Join(probe.Close(), os.Remove(name)); err != nil {
		return fmt.Errorf("the data folder %s is not writable: %w", path, err)
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(path, &fs); err != nil {
		return fmt.Errorf("read the free space of %s: %w", path, err)
	}
	if free := uint64(fs.Bavail) * uint64(fs.Bsize); free < minFree { //nolint:unconvert // the fields' types differ by platform
		return fmt.Errorf("the disk of the data folder %s has %d MiB free, and the embedded ClickHouse needs at least %d MiB", path, free>>20, minFree>>20)
	}
	return nil
}

// lockName is the file that marks a folder as taken. It stays behind: removing
// it would let two processes lock two files of one name.
const lockName = "soakgate.lock"

// folderLock is held while an engine has a folder.
type folderLock struct{ file *os.File }

// lockFolder takes a folder for this process, or says which process has it.
func lockFolder(path string) (*folderLock, error) {
	name := filepath.Join(path, lockName)
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the data folder: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder := make([]byte, 32)
		n, _ := file.ReadAt(holder, 0) // only for the message
		_ = file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("the data folder %s is in use by process %s; stop it, or take another folder", path, strings.TrimSpace(string(holder[:n])))
		}
		return nil, fmt.Errorf("lock the data folder %s: %w", path, err)
	}
	if err := errors.Join(file.Truncate(0), writeAt(file, itoa(int64(os.Getpid()))+"\n")); err != nil {
		return nil, errors.Join(fmt.Errorf("write the lock of the data folder: %w", err), file.Close())
	}
	return &folderLock{file: file}, nil
}

func writeAt(f *os.File, s string) error {
	_, err := f.WriteAt([]byte(s), 0)
	return err
}

// release gives the folder back.
func (l *folderLock) release() error { return l.file.Close() }
