package store

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	chproto "github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2/lib/proto"
	"github.com/stretchr/testify/require"
)

// nativeBridge speaks ClickHouse's native protocol to clients and HTTP to the
// embedded engine, which has no native port: what a client sends is parsed by
// ch-go's protocol package and executed for real.
type nativeBridge struct {
	listener       net.Listener
	engine         string // host:port of the engine's HTTP interface
	user, password string

	mu       sync.Mutex
	settings []map[string]string // of each insert
	open     int                 // connections
	blocks   int                 // blocks of rows that inserts sent
}

func newNativeBridge(t *testing.T, listener net.Listener, engine string) *nativeBridge {
	t.Helper()
	b := &nativeBridge{listener: listener, engine: engine, user: "writer", password: "p@ss:w/rd?#%"}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				b.count(1)
				defer b.count(-1)
				defer conn.Close()
				_ = (&bridged{nativeBridge: b, conn: conn, reader: chproto.NewReader(conn)}).serve() // the client went away
			}()
		}
	})
	t.Cleanup(func() {
		listener.Close()
		serving.Wait()
	})
	return b
}

func (b *nativeBridge) count(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open += n
}

func (b *nativeBridge) dsn(user, password, database string) string {
	u := url.URL{Scheme: "clickhouse", User: url.UserPassword(user, password), Host: b.listener.Addr().String(), Path: database}
	return u.String()
}

// bridged is one connection.
type bridged struct {
	*nativeBridge
	conn   net.Conn
	reader *chproto.Reader
	out    chproto.Buffer
}

// bridgeRevision is the protocol's revision that the bridge speaks: before
// chunked packets and other things that the tests do not need.
const bridgeRevision = 54460

func (c *bridged) serve() error {
	if err := c.hello(); err != nil {
		return err
	}
	for {
		code, err := c.reader.UVarInt()
		if err != nil {
			return err
		}
		switch chproto.ClientCode(code) {
		case chproto.ClientCodePing:
			chproto.ServerCodePong.Encode(&c.out)
		case chproto.ClientCodeQuery:
			if err := c.query(); err != nil {
				return err
			}
		default:
			return fmt.Errorf("packet %d", code)
		}
		if err := c.flush(); err != nil {
			return err
		}
	}
}

func (c *bridged) flush() error {
	_, err := c.conn.Write(c.out.Buf)
	c.out.Reset()
	return err
}

func (c *bridged) hello() error {
	if code, err := c.reader.UVarInt(); err != nil || code != uint64(chproto.ClientCodeHello) {
		return fmt.Errorf("no hello: %w", err)
	}
	var hello chproto.ClientHello
	if err := hello.Decode(c.reader); err != nil {
		return err
	}
	if hello.User != c.user || hello.Password != c.password {
		c.exception(516, "writer: Authentication failed: password is incorrect, or there is no user with such name.")
		_ = c.flush()
		return io.EOF
	}
	server := chproto.ServerHello{Name: "bridge", Major: 24, Minor: 1, Revision: bridgeRevision, Timezone: "UTC", DisplayName: "bridge"}
	server.EncodeAware(&c.out, min(bridgeRevision, hello.ProtocolVersion))
	if err := c.flush(); err != nil {
		return err
	}
	_, err := c.reader.Str() // the addendum: quota key
	return err
}

func (c *bridged) exception(code int, message string) {
	chproto.ServerCodeException.Encode(&c.out)
	c.out.PutInt32(int32(code))
	c.out.PutString("DB::Exception")
	c.out.PutString(message)
	c.out.PutString("")
	c.out.PutBool(false)
}

// data reads one data packet: nil at the end of data.
func (c *bridged) data() (*proto.Block, error) {
	code, err := c.reader.UVarInt()
	if err != nil {
		return nil, err
	}
	if chproto.ClientCode(code) != chproto.ClientCodeData {
		return nil, fmt.Errorf("packet %d within data", code)
	}
	if _, err := c.reader.Str(); err != nil { // name of an external table
		return nil, err
	}
	b := proto.NewBlock()
	return b, b.Decode(c.reader, bridgeRevision)
}

func (c *bridged) query() error {
	var q chproto.Query
	if err := q.DecodeAware(c.reader, bridgeRevision); err != nil {
		return err
	}
	if _, err := c.data(); err != nil { // no external tables
		return err
	}
	settings := make(map[string]string)
	for _, s := range q.Settings {
		settings[s.Key] = s.Value
	}
	if insert, columns, ok := strings.Cut(q.Body, " ("); ok && strings.HasPrefix(insert, "INSERT INTO ") && !strings.Contains(columns, "VALUES") && !strings.Contains(columns, "SELECT") {
		return c.insert(strings.TrimPrefix(insert, "INSERT INTO "), q.Body, settings)
	}
	text, code, err := c.post(q.Body, nil, settings)
	switch {
	case err != nil:
		return err
	case code != 0:
		c.exception(code, string(text))
		return nil
	}
	blocks, err := decodeBlocks(text)
	if err != nil {
		return err
	}
	for _, b := range blocks {
		if err := c.send(b); err != nil {
			return err
		}
	}
	chproto.ServerCodeEndOfStream.Encode(&c.out)
	return nil
}

func (c *bridged) send(b *proto.Block) error {
	chproto.ServerCodeData.Encode(&c.out)
	c.out.PutString("")
	if b.Rows() > 0 {
		return b.Encode(&c.out, bridgeRevision)
	}
	// A block without rows has names and types, and no column's state.
	if err := b.EncodeHeader(&c.out, bridgeRevision); err != nil {
		return err
	}
	for i, name := range b.ColumnsNames() {
		c.out.PutString(name)
		c.out.PutString(string(b.Columns[i].Type()))
		c.out.PutBool(false)
	}
	return nil
}

// insert takes the blocks of an insert and hands them on as one request.
func (c *bridged) insert(table, statement string, settings map[string]string) error {
	text, code, err := c.post("SELECT name, type FROM system.columns WHERE database || '.' || table = '"+strings.ReplaceAll(table, "`", "")+"' ORDER BY position FORMAT TSVRaw", nil, nil)
	if err != nil || code != 0 {
		return fmt.Errorf("describe %s: %w", table, err)
	}
	named := strings.ReplaceAll(statement[strings.Index(statement, "("):], "`", "")
	header := proto.NewBlock()
	for line := range strings.Lines(string(text)) {
		name, kind, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !strings.Contains(named, name) {
			continue
		}
		if err := header.AddColumn(name, columnType(kind)); err != nil {
			return err
		}
	}
	if err := c.send(header); err != nil {
		return err
	}
	if err := c.flush(); err != nil {
		return err
	}
	var body chproto.Buffer
	for {
		b, err := c.data()
		if err != nil {
			return err
		}
		if b.Rows() == 0 {
			break
		}
		c.mu.Lock()
		c.blocks++
		c.mu.Unlock()
		if err := b.Encode(&body, 0); err != nil {
			return err
		}
	}
	c.mu.Lock()
	c.settings = append(c.settings, settings)
	c.mu.Unlock()
	if len(body.Buf) > 0 {
		answer, code, err := c.post(statement[:strings.Index(statement, ")")+1]+" FORMAT Native", body.Buf, settings)
		if err != nil {
			return err
		}
		if code != 0 {
			c.exception(code, string(answer))
			return nil
		}
	}
	chproto.ServerCodeEndOfStream.Encode(&c.out)
	return nil
}

// post runs a statement on the engine.
func (c *bridged) post(statement string, body []byte, settings map[string]string) (text []byte, code int, err error) {
	values := url.Values{"query": {statement}, "default_format": {"Native"}}
	for name, value := range settings {
		values.Set(name, value)
	}
	answer, err := http.Post("http://"+c.engine+"/?"+values.Encode(), "", bytes.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	defer answer.Body.Close()
	if text, err = io.ReadAll(answer.Body); err != nil {
		return nil, 0, err
	}
	_, _ = fmt.Sscan(answer.Header.Get("X-ClickHouse-Exception-Code"), &code)
	return text, code, nil
}

// bridgedStore is a store that reaches the test's database over the bridge.
func bridgedStore(t *testing.T) (*Store, *nativeBridge) {
	t.Helper()
	direct := testStore(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	b := newNativeBridge(t, listener, direct.inserter.base.Host)
	s, err := Open(b.dsn(b.user, b.password, direct.database))
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s, b
}
