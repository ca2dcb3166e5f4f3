package chdb

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLibraryWithoutTheFunctionsIsRefused loads a library that every Linux has.
func TestLibraryWithoutTheFunctionsIsRefused(t *testing.T) {
	var found []string
	for _, pattern := range []string{"/lib/*/libm.so.6", "/lib64/libm.so.6", "/usr/lib/*/libm.so.6", "/usr/lib/libm.so.6", "/lib/ld-musl-*.so.1"} {
		names, err := filepath.Glob(pattern)
		require.NoError(t, err)
		found = append(found, names...)
	}
	require.NotEmpty(t, found, "no shared library to try")
	_, err := Load(found[0])
	var loadErr *LoadError
	require.ErrorAs(t, err, &loadErr)
	require.Equal(t, found[0], loadErr.Path)
	require.ErrorContains(t, err, "it has no function chdb_")
	require.ErrorContains(t, err, "make engine")
}

func TestCutLibraryIsRefused(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	head := make([]byte, 256)
	f, err := os.Open(self)
	require.NoError(t, err)
	defer f.Close()
	_, err = f.Read(head)
	require.NoError(t, err)
	cut := filepath.Join(t.TempDir(), "libchdb.so")
	require.NoError(t, os.WriteFile(cut, head, 0o644))
	_, err = Load(cut)
	require.ErrorContains(t, err, cut)
	require.ErrorContains(t, err, "make engine")
}
