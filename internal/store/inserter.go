package store

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// insertSettings go with every insert. One insert must be one block, so that it
// is in the table whole or not at all, and must be answered only when the rows
// are stored: a server's profile may say otherwise, so each is said here.
var insertSettings = map[string]string{
	"async_insert":                 "0",
	"wait_for_async_insert":        "1",
	"insert_deduplicate":           "0",
	"max_insert_block_size":        "10000000",
	"min_insert_block_size_rows":   "10000000",
	"min_insert_block_size_bytes":  "4000000000",
	"input_format_null_as_default": "0",
	"fsync_metadata":               "1",
}

// inserter sends Native blocks to ClickHouse as they are: the journal holds
// them encoded, and decoding them only to encode them again would cost more
// than all the rest of the writer.
type inserter struct {
	client   *http.Client
	base     url.URL
	user     string
	password string
}

func newInserter(o *clickhouse.Options) *inserter {
	scheme := "http"
	transport := &http.Transport{
		DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSClientConfig:     o.TLS,
		MaxIdleConnsPerHost: 4,
		IdleConnTimeout:     10 * time.Second,
	}
	if o.TLS != nil {
		scheme = "https"
	}
	return &inserter{
		client:   &http.Client{Transport: transport},
		base:     url.URL{Scheme: scheme, Host: o.Addr[0], Path: o.HttpUrlPath},
		user:     o.Auth.Username,
		password: o.Auth.Password,
	}
}

func (i *inserter) close() { i.client.CloseIdleConnections() }

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

// insert sends blocks, one after the other, as one insert into the columns of a
// table. A nil error means that ClickHouse has stored them all. The columns are
// named, since ClickHouse passes over those of a block that the table lacks.
func (i *inserter) insert(ctx context.Context, table, columns string, blocks []byte) error {
	target := i.base
	query := url.Values{"query": {"INSERT INTO " + table + " (" + columns + ") FORMAT Native"}}
	for name, value := range insertSettings {
		query.Set(name, value)
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
