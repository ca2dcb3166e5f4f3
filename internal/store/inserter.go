package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// durableSettings go with every statement: a row that is acknowledged must be
// stored, and on a cluster by a quorum of its shard's replicas, whatever the
// server's profile or the DSN says.
var durableSettings = map[string]any{
	"async_insert":                  0,
	"wait_for_async_insert":         1,
	"insert_quorum":                 "auto",
	"distributed_foreground_insert": 1,
	"fsync_metadata":                1,
}

// insertSettings go with every insert of blocks. One insert must be one block,
// so that it is in the table whole or not at all; and it must never be taken for
// a repeat, which the tables themselves settle. Looking for repeats within the
// block as it comes would cost as much CPU as all the rest of the insert.
var insertSettings = map[string]any{
	"insert_deduplicate":           0,
	"optimize_on_insert":           0,
	"max_insert_block_size":        10000000,
	"min_insert_block_size_rows":   10000000,
	"min_insert_block_size_bytes":  4000000000,
	"input_format_null_as_default": 0,
}

// inserter sends packed blocks to ClickHouse; over HTTP as they are, since the
// journal holds them encoded, and decoding them only to encode them again would
// cost more than all the rest of the writer.
type inserter struct {
	client   *http.Client
	base     url.URL
	hosts    []string
	host     atomic.Uint32 // of hosts, which one is used; the next after a failure
	user     string
	password string
	native   driver.Conn // for DSNs of the native protocol, else nil
}

func newInserter(o *clickhouse.Options, conn driver.Conn) *inserter {
	i := &inserter{}
	if o.Protocol == clickhouse.Native {
		i.native = conn
		return i
	}
	transport := &http.Transport{
		DialContext:         (&net.Dialer{Timeout: dialTimeout, KeepAliveConfig: keepAlive}).DialContext,
		TLSClientConfig:     o.TLS,
		MaxIdleConnsPerHost: 4,
	}
	liveConnections(transport)
	i.client = &http.Client{Transport: transport}
	i.base = url.URL{Scheme: "http", Host: o.Addr[0], Path: o.HttpUrlPath}
	i.hosts = o.Addr
	i.user, i.password = o.Auth.Username, o.Auth.Password
	if o.TLS != nil {
		i.base.Scheme = "https"
	}
	return i
}

// keepAlive finds out within seconds that a peer is gone without a word.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3}

// idleTime is how long a connection waits for its next request. One that a
// firewall has dropped in silence takes a request into nowhere, and short is
// cheap: connections are few.
const idleTime = 3 * time.Second

func liveConnections(t *http.Transport) { t.IdleConnTimeout = idleTime }

func (i *inserter) close() {
	if i.client != nil {
		i.client.CloseIdleConnections()
	}
}

// InsertError is ClickHouse's refusal of an insert.
type InsertError struct {
	Table string
	Code  int // ClickHouse's error code, 0 when it gave none
	Text  string
}

// Error says what was refused and why.
func (e *InsertError) Error() string {
	return fmt.Sprintf("insert into %s: ClickHouse refused it with code %d: %s", e.Table, e.Code, e.Text)
}

// maxErrorText bounds how much of a server's error text is kept, in bytes.
const maxErrorText = 2048

// insert sends packed blocks as one insert into the columns of a table. A nil
// error means that ClickHouse has stored them all. The columns are named, since
// ClickHouse passes over those of a block that the table lacks.
func (i *inserter) insert(ctx context.Context, table, columns string, blocks []byte) error {
	if i.native != nil {
		return i.insertNative(ctx, table, columns, blocks)
	}
	target := i.base
	at := i.host.Load()
	if len(i.hosts) > 1 {
		target.Host = i.hosts[int(at)%len(i.hosts)]
	}
	query := url.Values{"query": {"INSERT INTO " + table + " (" + columns + ") FORMAT Native"}, "decompress": {"1"}}
	for _, settings := range []map[string]any{durableSettings, insertSettings} {
		for name, value := range settings {
			query.Set(name, fmt.Sprint(value))
		}
	}
	target.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), bytes.NewReader(blocks))
	if err != nil {
		return fmt.Errorf("insert into %s: %w", table, err)
	}
	if i.user != "" {
		request.Header.Set("X-ClickHouse-User", i.user)
	}
	if i.password != "" {
		request.Header.Set("X-ClickHouse-Key", i.password)
	}
	response, err := i.client.Do(request)
	if err != nil {
		i.host.CompareAndSwap(at, at+1)
		return fmt.Errorf("insert into %s: %w", table, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxErrorText))
	if err != nil {
		return fmt.Errorf("insert into %s: read the answer: %w", table, err)
	}
	code, _ := strconv.Atoi(response.Header.Get("X-ClickHouse-Exception-Code"))
	if response.StatusCode != http.StatusOK || code != 0 || strings.Contains(string(text), "DB::Exception") {
		return &InsertError{Table: table, Code: code, Text: strings.TrimSpace(string(text))}
	}
	return nil
}

// insertNative sends blocks over the native protocol, joined into one: it gives
// the client column by column what the protocol wants in its own encoding.
func (i *inserter) insertNative(ctx context.Context, table, columns string, blocks []byte) (err error) {
	parts, err := unpackBlocks(blocks)
	if err != nil {
		return fmt.Errorf("insert into %s: %w", table, err)
	}
	settings := clickhouse.Settings{}
	for _, more := range []map[string]any{durableSettings, insertSettings} {
		maps.Copy(settings, more)
	}
	batch, err := i.native.PrepareBatch(clickhouse.Context(ctx, clickhouse.WithSettings(settings)), "INSERT INTO "+table+" ("+columns+")")
	if err != nil {
		return refusal(table, err)
	}
	defer func() {
		// A batch that was sent is closed; one that was not must give its connection
		// back, and sends nothing.
		if closeErr := batch.Close(); err == nil && closeErr != nil {
			err = refusal(table, closeErr)
		}
	}()
	for _, b := range parts {
		row := make([]any, len(b.Columns))
		for at := range b.Rows() {
			for c := range b.Columns {
				row[c] = b.Columns[c].Row(at, false)
			}
			if err := batch.Append(row...); err != nil {
				return &InsertError{Table: table, Code: codeTypeMismatch, Text: err.Error()}
			}
		}
	}
	return refusal(table, batch.Send())
}

// codeTypeMismatch is TYPE_MISMATCH: a value that does not fit its column, which
// over the native protocol the client finds out.
const codeTypeMismatch = 53

// refusal makes what the client says of ClickHouse's refusals an InsertError.
func refusal(table string, err error) error {
	var exception *clickhouse.Exception
	switch {
	case err == nil:
		return nil
	case errors.As(err, &exception):
		return &InsertError{Table: table, Code: int(exception.Code), Text: exception.Message}
	}
	return fmt.Errorf("insert into %s: %w", table, err)
}
