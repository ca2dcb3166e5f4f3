package journal

import (
	"fmt"
	"syscall"
)

// readMark reads inode and time of birth of the file at path.
func readMark(path string) (mark, error) {
	var st syscall.Stat_t
	if err := syscall.Stat(path, &st); err != nil {
		return mark{}, fmt.Errorf("read inode of %s: %w", path, err)
	}
	return mark{inode: st.Ino, birth: st.Birthtimespec.Nano()}, nil
}
