//go:build !linux && !darwin

package journal

import (
	"errors"
	"fmt"
	"os"
)

// lockFolder refuses: without a lock two processes could write one journal.
func lockFolder(dir string) (*os.File, error) {
	return nil, fmt.Errorf("lock journal folder %s: %w on this platform", dir, errors.ErrUnsupported)
}
