package chdb

import (
	"runtime"
	"sync"
	"syscall"
	"unsafe"

	"github.com/ebitengine/purego"
)

// engineSignals are those that the engine installs handlers for when it starts.
// No other is touched here: a handler that the program sets meanwhile must not
// be undone.
var engineSignals = [...]syscall.Signal{
	syscall.SIGABRT, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL, syscall.SIGSEGV, syscall.SIGSYS, syscall.SIGTRAP, syscall.SIGTSTP,
}

// sigactionSize is more than struct sigaction takes on any supported system
// (152 bytes with glibc, 16 on macOS).
const sigactionSize = 256

// signals guards the process's signal handlers while a connection is made.
var signals struct {
	sync.Mutex
	sigaction func(sig int32, act, old unsafe.Pointer) int32
}

// keepSignals runs f and puts the handlers of the engine's signals back. Go's
// runtime turns a nil dereference into a panic by SIGSEGV; with the engine's
// handler in its place a bug that a request would have survived ends the process.
func keepSignals(f func()) {
	signals.Lock()
	defer signals.Unlock()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if signals.sigaction == nil {
		sym, err := purego.Dlsym(purego.RTLD_DEFAULT, "sigaction")
		if err != nil {
			f() // no such function: nothing can be saved, and nothing else fails
			return
		}
		purego.RegisterFunc(&signals.sigaction, sym)
	}
	var saved [len(engineSignals)][sigactionSize]byte
	var known [len(engineSignals)]bool
	for i, s := range engineSignals {
		known[i] = signals.sigaction(int32(s), nil, unsafe.Pointer(&saved[i])) == 0
	}
	f()
	for i, s := range engineSignals {
		if known[i] {
			signals.sigaction(int32(s), unsafe.Pointer(&saved[i]), nil)
		}
	}
}
