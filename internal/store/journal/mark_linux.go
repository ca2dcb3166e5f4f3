package journal

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// readMark reads inode and time of birth of the file at path.
func readMark(path string) (mark, error) {
	var st unix.Statx_t
	for {
		err := unix.Statx(unix.AT_FDCWD, path, unix.AT_STATX_SYNC_AS_STAT, unix.STATX_INO|unix.STATX_BTIME, &st)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EINTR) {
			return mark{}, fmt.Errorf("read inode of %s: %w", path, err)
		}
	}
	m := mark{inode: st.Ino}
	if st.Mask&unix.STATX_BTIME != 0 {
		m.birth = st.Btime.Sec*1e9 + int64(st.Btime.Nsec)
	}
	return m, nil
}
