package embeddedtest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/store/embedded"
)

// fatal records what a test would have died of.
type fatal struct {
	testing.TB
	message string
	skipped bool
}

func (f *fatal) Helper()                   {}
func (f *fatal) Skip(...any)               { f.skipped = true }
func (f *fatal) Fatalf(s string, a ...any) { f.message = fmt.Sprintf(s, a...); runtime.Goexit() }

// TestMissingLibraryFailsTheTest is the only test of this package: the engine is
// tried once a process, and here it must not start.
func TestMissingLibraryFailsTheTest(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "libchdb.so")
	t.Setenv(embedded.LibraryEnv, missing)
	stale := filepath.Join(os.TempDir(), prefix+"999999999-x")
	require.NoError(t, os.MkdirAll(stale, 0o700))
	for range 2 {
		f := &fatal{TB: t}
		done := make(chan struct{})
		go func() {
			defer close(done)
			Start(f)
		}()
		<-done
		require.Contains(t, f.message, "make engine")
		require.Contains(t, f.message, missing)
		require.False(t, f.skipped)
	}
	require.NoDirExists(t, stale, "the folder of an ended process was left")
	left, err := filepath.Glob(filepath.Join(os.TempDir(), fmt.Sprintf("%s%d-*", prefix, os.Getpid())))
	require.NoError(t, err)
	require.Empty(t, left)
}
