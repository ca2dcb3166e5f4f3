package conformance_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/conformance"
)

// TestAFolderMayBeALink holds that a link as an argument is its folder, under
// the name that was given, and that a link below one is not followed.
func TestAFolderMayBeALink(t *testing.T) {
	dir := folder(t, map[string]string{"real/a.json": good, "real/sub/b.json": good, "other/c.json": good})
	require.NoError(t, os.Symlink("real", filepath.Join(dir, "link")))
	require.NoError(t, os.Symlink("../other", filepath.Join(dir, "real", "elsewhere")))
	require.NoError(t, os.Symlink("../other/c.json", filepath.Join(dir, "real", "d.json")))
	g := execute(t, conformance.Options{Paths: []string{filepath.Join(dir, "link")}})
	assert.Equal(t, []string{"a.json#0 log_body_map mcp_envelope_v1", "d.json#0 log_body_map mcp_envelope_v1", "b.json#0 log_body_map mcp_envelope_v1"}, g.lines)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "real", "e.json"), []byte("oops"), 0o600))
	_, err := conformance.Execute(t.Context(), conformance.Options{Paths: []string{filepath.Join(dir, "link")}}, new(gathered))
	assert.ErrorContains(t, err, filepath.Join(dir, "link", "e.json"), "the name that was given")
}

// TestOnlyRegularFilesAreOpened holds that nothing is opened that may wait for
// ever, neither by name nor in a folder.
func TestOnlyRegularFilesAreOpened(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.json")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	short, err := os.MkdirTemp("", "s") // a socket's path has at most 100 bytes
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(short) })
	socket := filepath.Join(short, "s.json")
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	device := filepath.Join(t.TempDir(), "zero.jsonl")
	require.NoError(t, os.Symlink("/dev/zero", device))
	for _, path := range []string{pipe, socket, device} {
		for _, named := range []string{path, filepath.Dir(path)} {
			_, err := conformance.Execute(t.Context(), conformance.Options{Paths: []string{named}}, new(gathered))
			require.ErrorContains(t, err, path+": expected a regular file")
		}
	}
}

// TestAWaitingReadIsInterrupted holds that a run ends with its context while
// standard input, or a pipe with the capabilities, has nothing to say.
func TestAWaitingReadIsInterrupted(t *testing.T) {
	reason := errors.New("asked to stop")
	silent, w := io.Pipe()
	t.Cleanup(func() { _ = w.Close() })
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for name, o := range map[string]conformance.Options{
		"standard input": {Paths: []string{"-"}, In: io.MultiReader(strings.NewReader(good+"\n"), silent)},
		"capabilities":   {Paths: []string{"-"}, In: strings.NewReader(good), Capabilities: pipe},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			ended := make(chan error)
			go func() {
				_, err := conformance.Execute(ctx, o, new(gathered))
				ended <- err
			}()
			cancel(reason)
			assert.ErrorIs(t, <-ended, reason)
		})
	}
	// Let go of the read of the pipe that still waits.
	f, err := os.OpenFile(pipe, os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}
