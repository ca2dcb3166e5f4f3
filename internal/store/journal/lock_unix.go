//go:build linux || darwin

package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// lockFolder takes the folder for this Journal, or says who has it. The lock
// goes with the open file, so it ends with the process however that ends, and
// two Journals in one process exclude each other too.
func lockFolder(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, fmt.Errorf("open lock of journal folder %s: %w", dir, err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		// Who holds it is for the reader of the message below; a failure to say so
		// (a full disk) does not weaken the lock.
		host, _ := os.Hostname()
		if f.Truncate(0) == nil {
			_, _ = fmt.Fprintf(f, "process %d on %s\n", os.Getpid(), host)
		}
		return f, nil
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		holder := make([]byte, 256)
		n, _ := f.ReadAt(holder, 0)
		err = fmt.Errorf("%w: %s by %q; stop that one, or give this one a folder of its own",
			ErrLocked, dir, strings.TrimSpace(string(holder[:n])))
	} else {
		err = fmt.Errorf("lock journal folder %s: %w", dir, err)
	}
	return nil, errors.Join(err, f.Close())
}
