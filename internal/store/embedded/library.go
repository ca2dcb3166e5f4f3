package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// LibraryVersion is the release of libchdb that this program is built for.
const LibraryVersion = "26.7.3-stable.1"

// LibraryEnv names the environment variable that points to the library.
const LibraryEnv = "SOAKGATE_CHDB_LIBRARY"

// libraryFile is where `make engine` puts the library, below a project's folder.
var libraryFile = filepath.Join(".cache", "chdb", LibraryVersion, "libchdb.so")

// ErrNoLibrary means that the library is in none of the places it is looked for.
var ErrNoLibrary = errors.New("the ClickHouse engine (libchdb) is not installed; run `make engine`")

// FindLibrary returns the library's path: the one given, else the environment
// variable SOAKGATE_CHDB_LIBRARY, else .cache/chdb/<release>/libchdb.so in the
// working directory or a folder above it, or beside the folder of the program.
// A path that was named is returned as it is, so that an error can name it.
func FindLibrary(configured string) (string, error) {
	if configured != "" {
		return configured, nil
	}
	if env := os.Getenv(LibraryEnv); env != "" {
		return env, nil
	}
	var tried []string
	if dir, err := os.Getwd(); err == nil {
		tried = append(tried, filepath.Join(dir, libraryFile))
		for parent := filepath.Dir(dir); parent != dir; parent = filepath.Dir(dir) {
			dir = parent
			tried = append(tried, filepath.Join(dir, libraryFile))
		}
	}
	if exe, err := os.Executable(); err == nil {
		if exe, err = filepath.EvalSymlinks(exe); err == nil {
			tried = append(tried, filepath.Join(filepath.Dir(filepath.Dir(exe)), libraryFile))
		}
	}
	for _, path := range tried {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	return "", fmt.Errorf("%w; %s is neither in the working directory nor above it, and neither library nor %s names another", ErrNoLibrary, libraryFile, LibraryEnv)
}
