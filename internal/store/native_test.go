package store

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/column"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/classify"
)

func columnType(s string) column.Type { return column.Type(s) }

// TestNativeProtocol writes, seals and reads over the native protocol, and holds
// what is stored against what HTTP stores.
func TestNativeProtocol(t *testing.T) {
	s, b := bridgedStore(t)
	require.NoError(t, s.Ping(t.Context()))
	require.NoError(t, s.CheckSchema(t.Context()))
	f, q := newFeed(t, s), newQueue()
	want := []classify.Observation{
		event(classify.EventErrorEnvelope, envelope("rate_limited", "SP_API_HTTP_429", `,"_meta":{"normalized":[{"kind":"renamed","from":"a","to":"b"},{"kind":"odd"}],"rate_limit":{"limit_per_second":"burst","remaining":0,"reset_at":"2026-01-02T03:04:05Z"},"retry_after_seconds":1.5}`), at(10, 0, 0).Add(123456789), 1),
		event(classify.EventResponseMeta, normalized, at(10, 0, 0), 2),
		event(classify.EventToolCall, "", at(10, 0, 0), 0),
	}
	want[2].Attributes = []classify.Attribute{{Key: "k", Value: "v"}}
	want[2].Duration = classify.Some(3 * time.Millisecond)
	block := f.block(at(10, 0, 1), want...)
	q.push(frameOf(f, at(10, 0, 1), block, 3))
	q.push(frame(f, at(10, 0, 2), "a", "b"))
	runWriter(t, newWriter(t, s, q, WriterOptions{Failed: func(err error, _ time.Duration) { t.Log(err) }}), q)
	n, err := mustSealer(t, s).SealDirty(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 1, n)

	direct := testStore(t)
	require.NoError(t, direct.inserter.insert(t.Context(), direct.database+".records", recordColumns, block))
	overHTTP := ask(t, direct, "SELECT * FROM DB.records ORDER BY seq")
	s.inserter.base = direct.inserter.base // for ask, which speaks HTTP
	assert.Equal(t, overHTTP, ask(t, s, "SELECT * FROM DB.records ORDER BY seq LIMIT 3"))
	assert.Equal(t, 5, count(t, s, "sum(calls) FROM DB.calls_by_minute_unique"))
	assert.Equal(t, 1, b.blocks, "one insert is one block")
	for _, settings := range b.settings {
		assert.Equal(t, []string{"0", "1", "auto"}, []string{settings["async_insert"], settings["wait_for_async_insert"], settings["insert_quorum"]})
	}
}

func mustSealer(t *testing.T, s *Store) *Sealer {
	t.Helper()
	sealer, err := NewSealer(s, uuid.New())
	require.NoError(t, err)
	return sealer
}

// TestRefusalsOverNative: errors of the native protocol are sorted as those of HTTP.
func TestRefusalsOverNative(t *testing.T) {
	s, b := bridgedStore(t)
	f, q := newFeed(t, s), newQueue()
	require.NoError(t, s.conn.Exec(t.Context(), "ALTER TABLE "+s.database+".records ADD CONSTRAINT good CHECK tool NOT LIKE 'bad%'"))
	var inserted, rejected int
	w := newWriter(t, s, q, WriterOptions{
		Limits:   Limits{Rows: 1, Bytes: 1 << 20, Age: time.Millisecond},
		Inserted: func(rows, refused int, _ time.Duration) { inserted += rows; rejected += refused },
	})
	for i := range 40 { // U24: batches that fail must give their connection back
		q.push(frame(f, at(10, 0, i), "a", "bad"))
	}
	runWriter(t, w, q)
	assert.Equal(t, []int{40, 40}, []int{inserted, rejected})
	assert.Equal(t, 40, count(t, s, "count() FROM DB.records_unique"))
	assert.Equal(t, 40, count(t, s, "count() FROM DB.rejected_records FINAL"))
	b.mu.Lock()
	defer b.mu.Unlock()
	assert.LessOrEqual(t, b.open, 10, "connections")
}

// TestCredentials tries right and wrong ones over every scheme, and looks for
// the password in what is said about it (U27).
func TestCredentials(t *testing.T) {
	const user, password = "writer", "p@ss:w/rd?#%"
	s, b := bridgedStore(t)
	plain := s.database
	certificate := httptest.NewUnstartedServer(nil)
	certificate.StartTLS()
	defer certificate.Close()
	secure, err := tls.Listen("tcp", "127.0.0.1:0", certificate.TLS)
	require.NoError(t, err)
	newNativeBridge(t, secure, b.engine)

	checked := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u, p, basic := r.BasicAuth()
		if !basic {
			u, p = r.Header.Get("X-ClickHouse-User"), r.Header.Get("X-ClickHouse-Key")
		}
		if u != user || p != password {
			w.Header().Set("X-ClickHouse-Exception-Code", "516")
			http.Error(w, "Code: 516. DB::Exception: writer: Authentication failed", http.StatusForbidden)
			return
		}
		httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: b.engine}).ServeHTTP(w, r)
	})
	overHTTP, overHTTPS := httptest.NewServer(checked), httptest.NewTLSServer(checked)
	defer overHTTP.Close()
	defer overHTTPS.Close()
	overHTTPS.Config.ErrorLog = log.New(io.Discard, "", 0) // refused certificates are meant

	dsn := func(scheme, host, password, query string) string {
		u := url.URL{Scheme: scheme, User: url.UserPassword(user, password), Host: host, Path: plain, RawQuery: query}
		return u.String()
	}
	for _, tt := range []struct{ name, dsn, want string }{
		{"native", dsn("clickhouse", b.listener.Addr().String(), password, ""), ""},
		{"native, wrong password", dsn("clickhouse", b.listener.Addr().String(), password+"!", ""), "Authentication failed"},
		{"native, wrong host", dsn("clickhouse", "127.0.0.1:1", password, ""), "connection refused"},
		{"native with TLS", dsn("clickhouse", secure.Addr().String(), password, "secure=true&skip_verify=true"), ""},
		{"native with TLS, wrong password", dsn("clickhouse", secure.Addr().String(), "x"+password, "secure=true&skip_verify=true"), "Authentication failed"},
		{"native with TLS, unknown authority", dsn("clickhouse", secure.Addr().String(), password, "secure=true"), "certificate"},
		{"native without TLS to a TLS port", dsn("clickhouse", secure.Addr().String(), password, ""), "handshake"},
		{"HTTP", dsn("http", overHTTP.Listener.Addr().String(), password, ""), ""},
		{"HTTP, wrong password", dsn("http", overHTTP.Listener.Addr().String(), password+"!", ""), "Authentication failed"},
		{"HTTP, wrong host", dsn("http", "127.0.0.1:1", password, ""), "connection refused"},
		{"HTTPS", dsn("https", overHTTPS.Listener.Addr().String(), password, "skip_verify=true"), ""},
		{"HTTPS, wrong password", dsn("https", overHTTPS.Listener.Addr().String(), password+"!", "skip_verify=true"), "Authentication failed"},
		{"HTTPS, unknown authority", dsn("https", overHTTPS.Listener.Addr().String(), password, ""), "certificate"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Open(tt.dsn)
			require.NoError(t, err)
			defer s.Close()
			f := newFeed(t, s)
			insert := s.inserter.insert(t.Context(), s.database+".records", recordColumns, f.block(at(10, 0, 0), failureOf(1)))
			read := s.CheckSchema(t.Context())
			said := s.Address()
			for _, err := range []error{insert, read} {
				if tt.want == "" {
					require.NoError(t, err)
					continue
				}
				require.Error(t, err)
				said += err.Error() + fmt.Sprintf("%+v", err)
				assert.Equal(t, failurePassing, sortFailure(err), "credentials and hosts are mended while records wait")
			}
			if tt.want != "" {
				assert.Contains(t, said, tt.want)
			}
			for _, secret := range []string{password, url.QueryEscape(password), url.PathEscape(password), url.UserPassword("", password).String()[1:]} {
				assert.NotContains(t, said, secret)
			}
		})
	}
}

func TestPasswordFromEnvironmentOrFile(t *testing.T) {
	_, b := bridgedStore(t)
	dsn := "clickhouse://" + b.user + "@" + b.listener.Addr().String() + "/soakgate"
	ping := func() error {
		s, err := Open(dsn)
		if err != nil {
			return err
		}
		defer s.Close()
		return s.Ping(t.Context())
	}
	require.ErrorContains(t, ping(), "Authentication failed")
	t.Setenv(EnvPassword, b.password)
	require.NoError(t, ping())
	file := filepath.Join(t.TempDir(), "password")
	t.Setenv(EnvPasswordFile, file)
	require.ErrorContains(t, ping(), file)
	require.NoError(t, os.WriteFile(file, []byte(b.password+"\n"), 0o600))
	require.NoError(t, ping())
}

// TestWeakSettingsAreOverridden: neither a DSN nor a server's profile, which the
// settings of a request outrank, can make an acknowledgement mean less (U23).
func TestWeakSettingsAreOverridden(t *testing.T) {
	direct := testStore(t)
	s, err := Open("http://" + direct.inserter.base.Host + "/" + direct.database + "?async_insert=1&wait_for_async_insert=0&insert_quorum=0&fsync_metadata=0&insert_deduplicate=1")
	require.NoError(t, err)
	defer s.Close()
	var mu sync.Mutex
	var inserts []url.Values
	through(t, s, func(w http.ResponseWriter, r *http.Request, onward http.Handler) {
		mu.Lock()
		inserts = append(inserts, r.URL.Query())
		mu.Unlock()
		onward.ServeHTTP(w, r)
	})
	newFeed(t, s).send(at(10, 0, 0), failureOf(1))
	require.Len(t, inserts, 1)
	for name, want := range map[string]string{"async_insert": "0", "wait_for_async_insert": "1", "insert_quorum": "auto", "fsync_metadata": "1", "insert_deduplicate": "0", "distributed_foreground_insert": "1"} {
		assert.Equal(t, []string{want}, inserts[0][name], name)
	}
	// What goes through the driver, such as the marks of slices, has them too.
	for name, want := range map[string]string{"async_insert": "0", "wait_for_async_insert": "1", "insert_quorum": "auto"} {
		var got string
		require.NoError(t, s.conn.QueryRow(t.Context(), "SELECT value FROM system.settings WHERE name = ?", name).Scan(&got))
		assert.Equal(t, want, got, name)
	}
}

// TestDeadIdleConnections leaves connections idle while what is behind them goes
// away without a word, and wants the next insert and the next query soon (U25).
func TestDeadIdleConnections(t *testing.T) {
	direct := testStore(t)
	proxy := newSilentProxy(t, direct.inserter.base.Host)
	s, err := Open("http://" + proxy.listener.Addr().String() + "/" + direct.database)
	require.NoError(t, err)
	defer s.Close()
	f := newFeed(t, s)
	f.send(at(10, 0, 0), failureOf(1))
	require.Positive(t, proxy.forget(), "connections are idle")
	time.Sleep(idleTime + 500*time.Millisecond)
	started := time.Now()
	f.send(at(10, 0, 1), failureOf(2))
	assert.Equal(t, 2, count(t, s, "count() FROM DB.records"))
	assert.Less(t, time.Since(started), 5*time.Second)
}

// silentProxy forwards connections, until it is told to forget those it has:
// their bytes then go nowhere, and nobody closes them.
type silentProxy struct {
	listener net.Listener
	mu       sync.Mutex
	conns    []*forgetful
}

// forgetful is a connection whose reads and writes end nowhere once forgotten.
type forgetful struct {
	net.Conn
	gone chan struct{}
}

func (c *forgetful) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	select {
	case <-c.gone:
		if err == nil {
			return c.Read(p)
		}
	default:
	}
	return n, err
}

func newSilentProxy(t *testing.T, target string) *silentProxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &silentProxy{listener: listener}
	t.Cleanup(func() {
		listener.Close()
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, c := range p.conns {
			c.Close()
		}
	})
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			onward, err := net.Dial("tcp", target)
			if err != nil {
				conn.Close()
				return
			}
			c := &forgetful{Conn: conn, gone: make(chan struct{})}
			p.mu.Lock()
			p.conns = append(p.conns, c)
			p.mu.Unlock()
			go func() { _, _ = io.Copy(onward, c) }()
			go func() { _, _ = io.Copy(conn, onward) }()
		}
	}()
	return p
}

// forget drops what comes over the connections of now, and tells how many they are.
func (p *silentProxy) forget() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		close(c.gone)
	}
	n := len(p.conns)
	return n
}
