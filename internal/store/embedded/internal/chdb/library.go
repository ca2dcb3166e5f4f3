// Package chdb binds the C interface of libchdb, the ClickHouse engine as a
// shared library, without cgo. It owns the library's handles: connections,
// results and insert streams, and that each is used and freed as the C header
// asks. It knows nothing of HTTP, and it refuses to decide anything about a
// statement: what it is given, it runs.
//
// Nothing is opened before Load is called.
package chdb

import (
	"debug/elf"
	"debug/macho"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// handle is an opaque C pointer.
type handle = unsafe.Pointer

// Library is one loaded libchdb. The process keeps it for its lifetime: the
// engine starts threads of its own and cannot be unloaded.
type Library struct {
	path string

	connect        func(argc int32, argv **byte) handle
	closeConn      func(conn handle)
	query          func(conn handle, q *byte, qn uintptr, f *byte, fn uintptr) handle
	queryParams    func(conn handle, q *byte, qn uintptr, f *byte, fn uintptr, names **byte, nameLens *uintptr, values **byte, valueLens *uintptr, n uintptr) handle
	streamQuery    func(conn handle, q *byte, qn uintptr, f *byte, fn uintptr, names **byte, nameLens *uintptr, values **byte, valueLens *uintptr, n uintptr) handle
	streamFetch    func(conn, res handle) handle
	streamCancel   func(conn, res handle)
	insert         func(conn handle, q *byte, qn uintptr, f *byte, fn uintptr, names **byte, nameLens *uintptr, values **byte, valueLens *uintptr, n uintptr) handle
	insertAppend   func(stream handle, data *byte, n uintptr) int32
	insertDone     func(stream handle) handle
	insertCancel   func(stream handle)
	insertError    func(stream handle) string
	insertDestroy  func(stream handle)
	resultBuffer   func(res handle) handle
	resultLength   func(res handle) uintptr
	resultError    func(res handle) string
	resultElapsed  func(res handle) float64
	rowsRead       func(res handle) uint64
	bytesRead      func(res handle) uint64
	storageRows    func(res handle) uint64
	storageBytes   func(res handle) uint64
	rowsWritten    func(res handle) uint64
	bytesWritten   func(res handle) uint64
	resultDestroy  func(res handle)
	classify       func(conn handle, q *byte, qn uintptr, db *byte, dbn uintptr, out *analysis) int32
	libraryVersion func() string
}

// LoadError says why a file could not be used as the engine's library.
type LoadError struct {
	// Path is the file that was tried.
	Path string
	// Reason says what is wrong with it.
	Reason string
	// Err is the cause, nil when there is none beyond Reason.
	Err error
}

// Error names the file, what is wrong with it and what mends it.
func (e *LoadError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("load the ClickHouse engine from %s: %s; run `make engine` to install it", e.Path, e.Reason)
	}
	return fmt.Sprintf("load the ClickHouse engine from %s: %s: %v; run `make engine` to install it", e.Path, e.Reason, e.Err)
}

// Unwrap returns the cause.
func (e *LoadError) Unwrap() error { return e.Err }

// loaded is the process's one library. Two copies of the engine in one process
// would fight over signals and thread pools, so a second path is refused.
var loaded struct {
	sync.Mutex
	lib *Library
}

// Load opens the library at path, or returns the one that is already open.
func Load(path string) (*Library, error) {
	if err := checkFile(path); err != nil {
		return nil, err
	}
	loaded.Lock()
	defer loaded.Unlock()
	if loaded.lib != nil {
		if loaded.lib.path != path {
			return nil, &LoadError{Path: path, Reason: "this process has already loaded " + loaded.lib.path + ", and a process holds one engine"}
		}
		return loaded.lib, nil
	}
	dl, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, &LoadError{Path: path, Reason: "the system's loader refuses it", Err: err}
	}
	lib := &Library{path: path}
	for name, fn := range lib.symbols() {
		sym, err := purego.Dlsym(dl, name)
		if err != nil {
			return nil, &LoadError{Path: path, Reason: "it has no function " + name + ", so it is another release than the one this program was built for"}
		}
		purego.RegisterFunc(fn, sym)
	}
	loaded.lib = lib
	return lib, nil
}

// symbols maps the C names to the fields that call them.
func (l *Library) symbols() map[string]any {
	return map[string]any{
		"chdb_connect":                     &l.connect,
		"chdb_close_conn":                  &l.closeConn,
		"chdb_query_n":                     &l.query,
		"chdb_query_with_params_n":         &l.queryParams,
		"chdb_stream_query_with_params_n":  &l.streamQuery,
		"chdb_stream_fetch_result":         &l.streamFetch,
		"chdb_stream_cancel_query":         &l.streamCancel,
		"chdb_stream_insert_with_params_n": &l.insert,
		"chdb_stream_append":               &l.insertAppend,
		"chdb_stream_done":                 &l.insertDone,
		"chdb_stream_cancel_insert":        &l.insertCancel,
		"chdb_stream_insert_error":         &l.insertError,
		"chdb_destroy_insert_stream":       &l.insertDestroy,
		"chdb_result_buffer":               &l.resultBuffer,
		"chdb_result_length":               &l.resultLength,
		"chdb_result_error":                &l.resultError,
		"chdb_result_elapsed":              &l.resultElapsed,
		"chdb_result_rows_read":            &l.rowsRead,
		"chdb_result_bytes_read":           &l.bytesRead,
		"chdb_result_storage_rows_read":    &l.storageRows,
		"chdb_result_storage_bytes_read":   &l.storageBytes,
		"chdb_result_rows_written":         &l.rowsWritten,
		"chdb_result_bytes_written":        &l.bytesWritten,
		"chdb_destroy_query_result":        &l.resultDestroy,
		"chdb_classify_query_n":            &l.classify,
		"chdb_version":                     &l.libraryVersion,
	}
}

// Version is the release of the loaded library, such as "26.7.3-stable.1".
func (l *Library) Version() string { return l.libraryVersion() }

// checkFile looks at the header before the loader does: the loader's own
// message for a truncated or foreign file does not say what to do.
func checkFile(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return &LoadError{Path: path, Reason: "there is no such file"}
	case err != nil:
		return &LoadError{Path: path, Reason: "it cannot be read", Err: err}
	case info.IsDir():
		return &LoadError{Path: path, Reason: "it is a folder, not a library"}
	}
	if runtime.GOOS == "darwin" {
		f, err := macho.Open(path)
		if err != nil {
			return &LoadError{Path: path, Reason: "it is not a macOS library", Err: err}
		}
		return f.Close()
	}
	f, err := elf.Open(path)
	if err != nil {
		return &LoadError{Path: path, Reason: "it is not a shared library of this system", Err: err}
	}
	defer f.Close()
	want := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[runtime.GOARCH]
	if f.Type != elf.ET_DYN || f.Machine != want {
		return &LoadError{Path: path, Reason: fmt.Sprintf("it is %s for %s, and this program needs a shared library for %s", f.Type, f.Machine, want)}
	}
	return nil
}
