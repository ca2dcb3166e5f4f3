package embedded

import (
	"crypto/sha512"
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// scriptProject is a project folder with a copy of scripts/engine.sh, and a PATH
// of its own in which npm is a script of the test: nothing is fetched.
type scriptProject struct {
	t    *testing.T
	root string
	bin  string
}

// fakeTarball is what the test's npm delivers.
const fakeTarball = "tarball.tgz"

func newScriptProject(t *testing.T, npm string) *scriptProject {
	t.Helper()
	p := &scriptProject{t: t, root: t.TempDir(), bin: t.TempDir()}
	for _, tool := range []string{"bash", "uname", "df", "awk", "mktemp", "du", "find", "rm", "mkdir", "grep", "cat", "tail", "tar", "gzip", "mv", "sleep", "cp", "node"} {
		path, err := exec.LookPath(tool)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(path, filepath.Join(p.bin, tool)))
	}
	if npm != "" {
		p.tool("npm", npm)
	}
	require.NoError(t, os.MkdirAll(filepath.Join(p.root, "scripts"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(p.root, "package"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(p.root, "package", "libchdb.so"), []byte("the engine"), 0o755))
	out, err := exec.Command("tar", "-czf", filepath.Join(p.root, fakeTarball), "-C", p.root, "package/libchdb.so").CombinedOutput()
	require.NoError(t, err, string(out))
	script, err := os.ReadFile("../../../scripts/engine.sh")
	require.NoError(t, err)
	p.script(string(script))
	return p
}

func (p *scriptProject) script(text string) {
	require.NoError(p.t, os.WriteFile(filepath.Join(p.root, "scripts", "engine.sh"), []byte(text), 0o755))
}

// pinned makes the script expect the test's tarball.
func (p *scriptProject) pinned() {
	tarball, err := os.ReadFile(filepath.Join(p.root, fakeTarball))
	require.NoError(p.t, err)
	sum := sha512.Sum512(tarball)
	path := filepath.Join(p.root, "scripts", "engine.sh")
	script, err := os.ReadFile(path)
	require.NoError(p.t, err)
	const pin = "sha512_linux_x64='"
	before, after, found := strings.Cut(string(script), pin)
	require.True(p.t, found, "the script pins no checksum")
	_, after, found = strings.Cut(after, "'")
	require.True(p.t, found)
	p.script(before + pin + base64.StdEncoding.EncodeToString(sum[:]) + "'" + after)
}

func (p *scriptProject) tool(name, body string) {
	path := filepath.Join(p.bin, name)
	_ = os.Remove(path) // a link to the real one
	require.NoError(p.t, os.WriteFile(path, []byte("#!/usr/bin/env bash\n"+body), 0o755))
}

func (p *scriptProject) run() (string, error) {
	cmd := exec.Command(filepath.Join(p.root, "scripts", "engine.sh"))
	cmd.Env = []string{"PATH=" + p.bin, "HOME=" + p.root, "TARBALL=" + filepath.Join(p.root, fakeTarball)}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (p *scriptProject) installed() string {
	return filepath.Join(p.root, ".cache", "chdb", LibraryVersion, "libchdb.so")
}

// deliver is an npm that works: it copies the tarball into its --pack-destination.
const deliver = `while (($#)); do [[ $1 == --pack-destination ]] && cp "$TARBALL" "$2/x.tgz"; shift; done`

func TestEngineScriptInstallsOnce(t *testing.T) {
	p := newScriptProject(t, deliver)
	p.pinned()
	out, err := p.run()
	require.NoError(t, err, out)
	content, err := os.ReadFile(p.installed())
	require.NoError(t, err)
	require.Equal(t, "the engine", string(content))
	p.tool("npm", "echo called; exit 1")
	out, err = p.run()
	require.NoError(t, err, out)
	require.Empty(t, out, "a second run does nothing")
	entries, err := os.ReadDir(filepath.Join(p.root, ".cache", "chdb"))
	require.NoError(t, err)
	require.Len(t, entries, 1, "working folders are left behind")
}

func TestEngineScriptRunsAtOnce(t *testing.T) {
	p := newScriptProject(t, "sleep 0.2\n"+deliver)
	p.pinned()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if out, err := p.run(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wg.Wait()
	content, err := os.ReadFile(p.installed())
	require.NoError(t, err)
	require.Equal(t, "the engine", string(content))
}

func TestEngineScriptFailsInOneSentence(t *testing.T) {
	for _, tc := range []struct {
		name, npm string
		change    func(*scriptProject)
		want      string
	}{
		{"no npm", "", func(*scriptProject) {}, "npm is not installed"},
		{"no network", "echo 'npm error code ECONNREFUSED' >&2; exit 1", func(*scriptProject) {}, "(ECONNREFUSED)"},
		{"unknown package", "echo 'npm error code E404' >&2; exit 1", func(*scriptProject) {}, "the npm registry has no"},
		{"disk fills up", "echo 'npm error code ENOSPC' >&2; exit 1", func(*scriptProject) {}, "filled up"},
		{"no room", deliver, func(p *scriptProject) {
			p.tool("df", "echo head; echo 'fs 1000 900 102400 90% /'")
		}, "has 100 MiB free"},
		{"nothing delivered", "exit 0", func(*scriptProject) {}, "left no tarball"},
		{"stuck", "sleep 60", func(p *scriptProject) {
			script, err := os.ReadFile(filepath.Join(p.root, "scripts", "engine.sh"))
			require.NoError(p.t, err)
			p.script(strings.Replace(string(script), "stall_seconds=60", "stall_seconds=1", 1))
		}, "nothing came from the npm registry for 1 s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newScriptProject(t, tc.npm)
			tc.change(p)
			out, err := p.run()
			require.Error(t, err, out)
			require.Contains(t, out, tc.want)
			require.NoFileExists(t, p.installed())
			require.Equal(t, 1, strings.Count(out, "engine: ")-strings.Count(out, "engine: fetching"), "more than one sentence: %s", out)
		})
	}
	if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" { // the one checksum that is pinned
		t.Run("wrong tarball", func(t *testing.T) {
			p := newScriptProject(t, deliver)
			out, err := p.run()
			require.Error(t, err, out)
			require.Contains(t, out, "nothing was installed")
			require.NoFileExists(t, p.installed())
		})
	}
}
