package embedded

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap"
)

// holdEnv makes the test binary hold a store open instead of running tests.
const holdEnv = "SOAKGATE_TEST_HOLD"

func TestMain(m *testing.M) {
	if path := os.Getenv(holdEnv); path != "" {
		os.Exit(hold(path))
	}
	goleak.VerifyTestMain(m)
}

// hold opens a store, says so, and keeps it until standard input ends.
func hold(path string) int {
	cfg := testConfig(path)
	s, err := Start(context.Background(), cfg, zap.NewNop())
	if err != nil {
		_, _ = os.Stdout.WriteString(err.Error() + "\n")
		return 1
	}
	_, _ = os.Stdout.WriteString(s.Addr() + "\n")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0 // without Shutdown, as if killed
}

func testConfig(path string) Config {
	cfg := NewDefaultConfig()
	cfg.Path, cfg.Listen = path, "127.0.0.1:0"
	return cfg
}

func start(t *testing.T, cfg Config) *Server {
	t.Helper()
	s, err := Start(t.Context(), cfg, zap.NewNop())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Shutdown(context.Background())) })
	return s
}

// post runs a statement; the error is the transport's.
func post(addr, statement string) (int, string, error) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Post("http://"+addr+"/", "text/plain", strings.NewReader(statement))
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body), err
}

func mustPost(t *testing.T, addr, statement string) string {
	t.Helper()
	status, body, err := post(addr, statement)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status, body)
	return body
}

func TestStartFailsInOneClearSentence(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, []byte("no library"), 0o644))
	self, err := os.Executable()
	require.NoError(t, err)
	for _, tc := range []struct {
		name   string
		change func(*Config)
		want   []string
	}{
		{"port taken", func(c *Config) { c.Listen = taken.Addr().String() }, []string{taken.Addr().String() + " is taken", "listen"}},
		{"folder is a file", func(c *Config) { c.Path = file }, []string{"data folder", file}},
		{"folder cannot be made", func(c *Config) { c.Path = "/proc/none/here" }, []string{"data folder", "/proc/none"}},
		{"folder is not writable", func(c *Config) { c.Path = "/proc/self" }, []string{"/proc/self", "not writable"}},
		{"library missing", func(c *Config) { c.Library = filepath.Join(dir, "none.so") }, []string{"none.so", "no such file", "make engine"}},
		{"library is a folder", func(c *Config) { c.Library = dir }, []string{dir, "folder", "make engine"}},
		{"library is text", func(c *Config) { c.Library = file }, []string{file, "not a shared library", "make engine"}},
		{"library is a program", func(c *Config) { c.Library = self }, []string{self, "make engine"}},
		{"listen beyond loopback", func(c *Config) { c.Listen = "0.0.0.0:0" }, []string{`listen is "0.0.0.0:0"`, "loopback only"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg := testConfig(filepath.Join(dir, "data"))
			tc.change(&cfg)
			s, err := Start(t.Context(), cfg, zap.NewNop())
			if err == nil {
				require.NoError(t, s.Shutdown(t.Context()))
			}
			for _, want := range tc.want {
				require.ErrorContains(t, err, want)
			}
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestLibraryIsLookedForAboveTheWorkingDirectory(t *testing.T) {
	t.Setenv(LibraryEnv, "")
	root := t.TempDir()
	deep := filepath.Join(root, "a", "b")
	require.NoError(t, os.MkdirAll(deep, 0o755))
	t.Chdir(deep)
	_, err := FindLibrary("")
	require.ErrorIs(t, err, ErrNoLibrary)
	require.ErrorContains(t, err, "make engine")

	installed := filepath.Join(root, libraryFile)
	require.NoError(t, os.MkdirAll(filepath.Dir(installed), 0o755))
	require.NoError(t, os.WriteFile(installed, nil, 0o644))
	found, err := FindLibrary("")
	require.NoError(t, err)
	require.Equal(t, installed, found)

	t.Setenv(LibraryEnv, "/of/the/environment.so")
	found, err = FindLibrary("")
	require.NoError(t, err)
	require.Equal(t, "/of/the/environment.so", found)
	found, err = FindLibrary("/configured.so")
	require.NoError(t, err)
	require.Equal(t, "/configured.so", found)
}

func TestFolderBelongsToOneProcess(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holdEnv+"="+dir)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line := make([]byte, 256)
	n, err := out.Read(line)
	require.NoError(t, err)
	addr := strings.TrimSpace(string(line[:n]))
	for _, s := range []string{"CREATE DATABASE d", "CREATE TABLE d.t (a UInt8) ENGINE = MergeTree ORDER BY a", "INSERT INTO d.t VALUES (5)"} {
		mustPost(t, addr, s)
	}

	_, err = Start(t.Context(), testConfig(dir), zap.NewNop())
	require.ErrorContains(t, err, "is in use by process")
	require.ErrorContains(t, err, dir)

	require.NoError(t, cmd.Process.Kill())
	_ = in.Close()
	_ = cmd.Wait() // it was killed
	s := start(t, testConfig(dir))
	require.Equal(t, "5\n", mustPost(t, s.Addr(), "SELECT a FROM d.t"), "an acknowledged row is lost with its process")
}

func TestOneEngineAProcessAndReopening(t *testing.T) {
	dir := t.TempDir()
	for i := range 3 {
		s, err := Start(t.Context(), testConfig(dir), zap.NewNop())
		require.NoError(t, err, "opening number %d", i+1)
		_, err = Start(t.Context(), testConfig(t.TempDir()), zap.NewNop())
		require.ErrorIs(t, err, ErrOpen)
		mustPost(t, s.Addr(), "CREATE DATABASE IF NOT EXISTS d")
		mustPost(t, s.Addr(), "CREATE TABLE IF NOT EXISTS d.t (a UInt64) ENGINE = MergeTree ORDER BY a")
		mustPost(t, s.Addr(), "INSERT INTO d.t SELECT number FROM numbers(1000)")
		require.NoError(t, s.Shutdown(t.Context()))
		require.NoError(t, s.Shutdown(t.Context()), "a second Shutdown")
	}
	s := start(t, testConfig(dir))
	require.Equal(t, "3000\n", mustPost(t, s.Addr(), "SELECT count() FROM d.t"))
}

// TestGoKeepsItsSignalHandlers: a nil dereference must stay a panic that can be
// recovered, although the engine installs handlers of its own.
func TestGoKeepsItsSignalHandlers(t *testing.T) {
	dereference := func() (recovered any) {
		defer func() { recovered = recover() }()
		var p *Config
		return p.Path
	}
	s := start(t, testConfig(t.TempDir()))
	mustPost(t, s.Addr(), "SELECT 1")
	require.Contains(t, errorText(dereference()), "nil pointer")
	require.NoError(t, s.Shutdown(t.Context()))
	require.Contains(t, errorText(dereference()), "nil pointer")
}

func errorText(v any) string {
	if err, ok := v.(error); ok {
		return err.Error()
	}
	return ""
}

func TestShutdownLetsQueriesEndAndCancelsTheRest(t *testing.T) {
	type outcome struct {
		status int
		body   string
		err    error
	}
	// during starts a query, waits until it runs, and shuts down within patience.
	during := func(t *testing.T, statement string, patience time.Duration) (outcome, time.Duration) {
		s := start(t, testConfig(t.TempDir()))
		result := make(chan outcome, 1)
		go func() {
			status, body, err := post(s.Addr(), statement)
			result <- outcome{status, body, err}
		}()
		require.Eventually(t, func() bool {
			return mustPost(t, s.Addr(), "SELECT count() FROM system.processes") == "2\n"
		}, 10*time.Second, 20*time.Millisecond)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		began := time.Now()
		require.NoError(t, s.Shutdown(ctx))
		took := time.Since(began)
		_, _, err := post(s.Addr(), "SELECT 1")
		require.Error(t, err, "a new request was taken")
		return <-result, took
	}
	t.Run("a short query ends by itself", func(t *testing.T) {
		got, _ := during(t, "SELECT sum(sleepEachRow(0.1)) FROM numbers(15)", 20*time.Second)
		require.NoError(t, got.err)
		require.Equal(t, outcome{http.StatusOK, "0\n", nil}, got)
	})
	t.Run("a long query is cancelled", func(t *testing.T) {
		got, took := during(t, "SELECT count() FROM numbers(1000000000000) WHERE NOT ignore(sipHash64(number))", 300*time.Millisecond)
		require.NotEqual(t, http.StatusOK, got.status)
		require.Less(t, took, 8*time.Second)
	})
}
