// Package embeddedtest gives tests a real ClickHouse: one embedded engine a test
// process, and a database of its own for each caller. It refuses to skip: where
// the engine's library is missing the test fails and says what installs it.
package embeddedtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"go.uber.org/zap"

	"github.com/soakgate/soakgate/internal/store/embedded"
)

// engine is the process's one engine. It is never shut down: the process's end
// does that, and a test that ends must not take it from the others.
var engine struct {
	once sync.Once
	addr string
	err  error
}

// databases numbers the callers.
var databases atomic.Int64

// Start returns a DSN for clickhouse-go, "http://127.0.0.1:PORT/DATABASE", with
// a fresh and empty database, which is dropped when the test ends.
func Start(tb testing.TB) (dsn string) {
	tb.Helper()
	engine.once.Do(start)
	if engine.err != nil {
		tb.Fatalf("start the embedded ClickHouse for tests (`make engine` installs its library): %v", engine.err)
	}
	base := "http://" + engine.addr
	database := fmt.Sprintf("test_%d", databases.Add(1))
	exec(tb, base, "CREATE DATABASE "+database)
	tb.Cleanup(func() { exec(tb, base, "DROP DATABASE "+database+" SYNC") })
	return base + "/" + database
}

// prefix begins the name of every folder that this package makes.
const prefix = "soakgate-clickhouse-test-"

// start opens the engine in a temporary folder. The folder outlives the process,
// which ends with the engine open; the next test process clears it away.
func start() {
	sweep()
	dir, err := os.MkdirTemp("", prefix+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		engine.err = fmt.Errorf("make a folder: %w", err)
		return
	}
	cfg := embedded.NewDefaultConfig()
	cfg.Path, cfg.Listen = dir, "127.0.0.1:0"
	s, err := embedded.Start(context.Background(), cfg, zap.NewNop())
	if err != nil {
		engine.err = errors.Join(err, os.RemoveAll(dir))
		return
	}
	engine.addr = s.Addr()
}

// sweep removes the folders of processes that have ended.
func sweep() {
	dirs, err := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	if err != nil {
		return // only a bad pattern, and this one is fixed
	}
	for _, dir := range dirs {
		id, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), prefix), "-")
		pid, err := strconv.Atoi(id)
		if err != nil || syscall.Kill(pid, 0) == nil || errors.Is(syscall.Kill(pid, 0), syscall.EPERM) {
			continue
		}
		_ = os.RemoveAll(dir) // what cannot be removed now is tried again by the next process
	}
}

// exec runs a statement over HTTP.
func exec(tb testing.TB, base, statement string) {
	tb.Helper()
	resp, err := http.Post(base+"/", "text/plain", strings.NewReader(statement))
	if err != nil {
		tb.Fatalf("%s: %v", statement, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 4096))
		tb.Fatalf("%s: %s: %s", statement, resp.Status, text)
	}
}
