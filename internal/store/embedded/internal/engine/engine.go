// Package engine runs the one ClickHouse engine that a process can hold. It
// owns the data folder (its lock, the engine's configuration files in it), the
// limits that the engine is opened with, and sessions: each is a fresh
// connection that nobody had before and nobody gets after, so that no setting,
// database or temporary table passes from one to the next.
//
// It refuses a second engine while one is open, and a folder that another
// process has. It knows nothing of HTTP, and does not look into statements.
package engine

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/soakgate/soakgate/internal/store/embedded/internal/chdb"
)

// Options say what to open and within which limits.
type Options struct {
	// Library is the path of libchdb.
	Library string
	// Path is the data folder; it is made when absent.
	Path string
	// Sessions is how many statements run at a time; the others wait.
	Sessions int
	// Limits bound the engine's memory.
	Limits Limits
}

// ErrOpen means that this process has an engine already.
var ErrOpen = errors.New("this process already runs an embedded ClickHouse; a process holds one")

// current is the process's engine: the library keeps one global server, so a
// second would share or break the first.
var current struct {
	sync.Mutex
	open bool
}

// Engine is the open engine.
type Engine struct {
	lib    *chdb.Library
	args   []string
	lock   *folderLock
	keeper *chdb.Conn // keeps the engine running while there is no session
	slots  chan struct{}
	info   Info
}

// Info is what the engine says of itself.
type Info struct {
	Version  string
	Timezone string
}

// Open starts the engine on a folder.
func Open(opts Options) (*Engine, error) {
	current.Lock()
	defer current.Unlock()
	if current.open {
		return nil, ErrOpen
	}
	path, err := filepath.Abs(opts.Path)
	if err != nil {
		return nil, fmt.Errorf("resolve the data folder %q: %w", opts.Path, err)
	}
	lib, err := chdb.Load(opts.Library)
	if err != nil {
		return nil, err
	}
	if err := prepareFolder(path); err != nil {
		return nil, err
	}
	lock, err := lockFolder(path)
	if err != nil {
		return nil, err
	}
	e := &Engine{lib: lib, lock: lock, slots: make(chan struct{}, opts.Sessions)}
	if err := e.start(path, opts.Limits); err != nil {
		return nil, errors.Join(err, lock.release())
	}
	current.open = true
	return e, nil
}

// start writes the configuration and opens the first connection.
func (e *Engine) start(path string, limits Limits) error {
	config, err := writeConfig(path, limits)
	if err != nil {
		return err
	}
	e.args = []string{"--path=" + path, "--config-file=" + config}
	if e.keeper, err = e.lib.Connect(e.args...); err != nil {
		return fmt.Errorf("open the embedded ClickHouse on %s: %w; its own message is on standard error", path, err)
	}
	out, _, err := e.keeper.Exec("SELECT version(), timezone()", "TabSeparated")
	if err != nil {
		e.keeper.Close()
		return fmt.Errorf("ask the embedded ClickHouse on %s for its version: %w", path, err)
	}
	version, timezone, _ := strings.Cut(strings.TrimSpace(string(out)), "\t")
	e.info = Info{Version: version, Timezone: timezone}
	return nil
}

// Info returns what the engine says of itself.
func (e *Engine) Info() Info { return e.info }

// Close stops the engine. Sessions must have ended. With tables open the engine
// has been known to take its time over this, so ctx bounds the wait; when it
// runs out, the engine is left to the end of the process, and this process can
// open no other.
func (e *Engine) Close(ctx context.Context) error {
	done := make(chan error, 1)
	go func() {
		for range cap(e.slots) { // no session may be open when the last connection closes
			e.slots <- struct{}{}
		}
		e.keeper.Close()
		err := e.lock.release()
		current.Lock()
		current.open = false
		current.Unlock()
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("stop the embedded ClickHouse: %w; it ends with the process", ctx.Err())
	}
}

// Setting is one of ClickHouse's settings for one session.
type Setting struct{ Name, Value string }

// SessionOptions say what a session starts with.
type SessionOptions struct {
	// Database is the current database; empty is "default".
	Database string
	// Settings hold for this session alone.
	Settings []Setting
	// ReadOnly makes the engine refuse whatever writes.
	ReadOnly bool
	// QueryID is the client's name for the statement, found in the log_comment of
	// system.processes: the C interface lets nobody choose the query_id itself.
	QueryID string
}

// Session is a connection for one request.
type Session struct {
	*chdb.Conn
	engine *Engine
	token  string
}

// Session waits for a free place and opens a session. An error of the settings
// or the database is the engine's own, a *chdb.Error.
func (e *Engine) Session(ctx context.Context, opts SessionOptions) (*Session, error) {
	select {
	case e.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for a free session: %w", ctx.Err())
	}
	conn, err := e.lib.Connect(e.args...)
	if err != nil {
		<-e.slots
		return nil, err
	}
	s := &Session{Conn: conn, engine: e, token: newToken()}
	for _, statement := range s.preamble(opts) {
		if _, _, err := conn.Exec(statement, "Null"); err != nil {
			s.Close()
			return nil, err
		}
	}
	return s, nil
}

// preamble are the statements that give a session its state. Read-only comes
// first, so that the request's own settings cannot undo it.
func (s *Session) preamble(opts SessionOptions) []string {
	var out []string
	if opts.Database != "" {
		out = append(out, "USE "+quoteIdentifier(opts.Database))
	}
	if opts.ReadOnly {
		out = append(out, "SET readonly = 2")
	}
	comment := ""
	var list []string
	for _, set := range opts.Settings {
		if set.Name == "log_comment" {
			comment = set.Value + " "
			continue
		}
		list = append(list, quoteIdentifier(set.Name)+" = "+quoteString(set.Value))
	}
	if opts.QueryID != "" {
		comment += "query_id:" + opts.QueryID + " "
	}
	list = append([]string{"log_comment = " + quoteString(comment+s.token)}, list...)
	return append(out, "SET "+strings.Join(list, ", "))
}

// Close ends the session and gives its place to the next.
func (s *Session) Close() {
	s.Conn.Close()
	<-s.engine.slots
}

// killAgain is how long a cancelled statement gets before it is told again: it
// may not have been registered when it was told first.
const killAgain = 500 * time.Millisecond

// CancelWith makes the session's statement end when ctx does. The returned
// function stops watching, and must be called before Close.
func (s *Session) CancelWith(ctx context.Context) (stop func()) {
	if ctx.Done() == nil {
		return func() {}
	}
	ended := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		select {
		case <-ended:
			return
		case <-ctx.Done():
		}
		for {
			s.kill()
			select {
			case <-ended:
				return
			case <-time.After(killAgain):
			}
		}
	})
	return func() {
		close(ended)
		wg.Wait()
	}
}

// kill asks the engine from another connection to end this session's statement.
// It does not wait for the end: the engine's SYNC form has been seen to hang.
// An error has no one to go to; the next attempt follows.
func (s *Session) kill() {
	conn, err := s.engine.lib.Connect(s.engine.args...)
	if err != nil {
		return
	}
	defer conn.Close()
	_, _, _ = conn.Exec("KILL QUERY WHERE endsWith(Settings['log_comment'], "+quoteString(s.token)+") ASYNC", "Null")
}

// newToken names one session among the running ones.
func newToken() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // crypto/rand does not fail: it ends the process instead
	return "request:" + hex.EncodeToString(b[:])
}

func quoteString(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

func quoteIdentifier(s string) string {
	return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(s) + "`"
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
