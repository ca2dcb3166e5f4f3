package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestConformanceChild is the collector in a child process, which reads standard
// input; the tests below start it.
func TestConformanceChild(*testing.T) {
	if os.Getenv("SOAKGATE_TEST_CONFORMANCE") == "" {
		return
	}
	os.Exit(run(context.Background(), []string{"conformance", "--format", "json", "-"}))
}

// conformanceChild starts the child and hands it lines until it has its signals
// set up, which it has when it reads: they are more than a pipe holds.
func conformanceChild(t *testing.T, out, errs io.Writer, lines string) (*exec.Cmd, *os.File) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	child := exec.CommandContext(ctx, self, "-test.run", "^TestConformanceChild$")
	child.Env = append(os.Environ(), "SOAKGATE_TEST_CONFORMANCE=1")
	in, w, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.Close() })
	child.Stdin, child.Stdout, child.Stderr = in, out, errs
	require.NoError(t, child.Start())
	require.NoError(t, in.Close())
	require.Greater(t, len(lines), 64<<10)
	_, err = io.WriteString(w, lines)
	require.NoError(t, err)
	return child, w
}

// TestConformanceSignals holds that a signal ends a run that waits for input.
func TestConformanceSignals(t *testing.T) {
	for signal, says := range map[os.Signal]string{os.Interrupt: "interrupt", syscall.SIGTERM: "terminated"} {
		t.Run(says, func(t *testing.T) {
			var errs bytes.Buffer
			child, _ := conformanceChild(t, nil, &errs, strings.Repeat("\n", 100_000))
			require.NoError(t, child.Process.Signal(signal))
			require.Error(t, child.Wait())
			assert.Equal(t, conformanceUsage, child.ProcessState.ExitCode(), errs.String())
			assert.Contains(t, errs.String(), says)
		})
	}
}

// TestASecondConformanceSignalEndsTheProcess holds that even a run that cannot
// look at its context ends: one that waits for a reader of its report.
func TestASecondConformanceSignalEndsTheProcess(t *testing.T) {
	unread, out, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = unread.Close() })
	line := `{"_envelope_version":1}` + "\n"
	child, w := conformanceChild(t, out, nil, strings.Repeat(line, 70_000/len(line)))
	require.NoError(t, out.Close())
	require.NoError(t, w.SetWriteDeadline(time.Now().Add(2*time.Second)))
	_, err = io.WriteString(w, strings.Repeat(line, 1<<20/len(line)))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded, "the child reads no more, since it cannot write")
	ended := make(chan error)
	go func() { ended <- child.Wait() }()
	signals := 0
	for {
		if err := child.Process.Signal(syscall.SIGTERM); !errors.Is(err, os.ErrProcessDone) {
			require.NoError(t, err)
			signals++
		}
		select {
		case <-ended: //nolint:errcheck // how it ended is read from its state
			assert.Greater(t, signals, 1)
			status, ok := child.ProcessState.Sys().(syscall.WaitStatus)
			require.True(t, ok)
			assert.Equal(t, syscall.SIGTERM, status.Signal())
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}
