package conformance

import (
	"fmt"
	"io"
	"os"
)

// progressStep is how many payloads pass between two prints: about thirty a
// second.
const progressStep = 500

// meter shows on a terminal how many payloads were judged, on one line that it
// takes away at the end. Without a terminal it does nothing.
type meter struct {
	to    io.Writer
	shown bool
}

func (m *meter) step(n int) {
	if m.to == nil || n%progressStep != 0 {
		return
	}
	m.shown = true
	// Progress that cannot be shown is no reason to end a run.
	_, _ = fmt.Fprintf(m.to, "\r%d payloads judged", n)
}

func (m *meter) end() {
	if m.shown {
		_, _ = fmt.Fprint(m.to, "\r\x1b[K")
	}
}

// Terminal gives f when it is a terminal, else nil.
func Terminal(f *os.File) io.Writer {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return f
}
