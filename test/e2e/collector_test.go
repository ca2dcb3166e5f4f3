// Package e2e tests the built collector from outside, as its users meet it:
// the binary, the embedded ClickHouse, OTLP over the network, SQL over HTTP.
package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// binary is what `make build` leaves.
func binary(t testing.TB) string {
	t.Helper()
	path, err := filepath.Abs("../../bin/collector")
	require.NoError(t, err)
	_, err = os.Stat(path)
	require.NoError(t, err, "`make build` makes the binary")
	return path
}

// collector is one running collector.
type collector struct {
	t                               testing.TB
	config                          string // its configuration file
	grpc, http, clickhouse, metrics string // addresses
	proxy                           string // where the collector finds ClickHouse, when not there
	data                            string
	command                         *exec.Cmd
	output                          *lockedBuffer
	ended                           chan error
}

// lockedBuffer is what a process printed, readable while it runs.
type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

// freeAddress is a loopback address that nothing listened on a moment ago. Its
// port is below those that the system gives to outgoing connections, one of which
// could take it before the collector does.
func freeAddress(t testing.TB) string {
	t.Helper()
	for range 100 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000)))
		if err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("none of 100 ports is free")
	return ""
}

func newCollector(t testing.TB) *collector {
	t.Helper()
	return &collector{
		t: t, config: "../../config/local.yaml", data: t.TempDir(),
		grpc: freeAddress(t), http: freeAddress(t), clickhouse: freeAddress(t), metrics: freeAddress(t),
	}
}

func (c *collector) env() []string {
	_, port, _ := net.SplitHostPort(c.metrics)
	return append(os.Environ(),
		"SOAKGATE_OTLP_GRPC="+c.grpc, "SOAKGATE_OTLP_HTTP="+c.http, "SOAKGATE_CLICKHOUSE_LISTEN="+c.clickhouse,
		"SOAKGATE_DATA="+c.data, "SOAKGATE_METRICS_PORT="+port, "SOAKGATE_DSN="+c.dsn(),
		"SOAKGATE_CLICKHOUSE_PROXY="+c.proxy)
}

func (c *collector) dsn() string { return "http://" + c.clickhouse + "/soakgate" }

// start starts the collector and waits until it serves.
func (c *collector) start() {
	c.t.Helper()
	c.output = &lockedBuffer{}
	c.command = exec.Command(binary(c.t), "--config", c.config)
	c.command.Env, c.command.Stdout, c.command.Stderr = c.env(), c.output, c.output
	require.NoError(c.t, c.command.Start())
	c.ended = make(chan error, 1)
	go func() { c.ended <- c.command.Wait() }()
	c.t.Cleanup(c.kill)
	c.eventually("listen", func() error { return listening(c.grpc, c.http, c.clickhouse) })
}

// listening tells whether all addresses take connections.
func listening(addresses ...string) error {
	for _, address := range addresses {
		conn, err := net.DialTimeout("tcp", address, time.Second)
		if err != nil {
			return err
		}
		conn.Close()
	}
	return nil
}

// patience bounds every wait for something that happens soon on a quiet machine.
const patience = 2 * time.Minute

// eventually waits until check succeeds.
func (c *collector) eventually(what string, check func() error) {
	c.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("%s: %v; the collector said:\n%s", what, err, c.output)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// terminate asks the collector to leave, and waits for it.
func (c *collector) terminate() error {
	c.t.Helper()
	require.NoError(c.t, c.command.Process.Signal(syscall.SIGTERM))
	select {
	case err := <-c.ended:
		c.ended <- err
		return err
	case <-time.After(patience):
		c.t.Fatalf("the collector does not leave; it said:\n%s", c.output)
		return nil
	}
}

// kill ends the collector at once.
func (c *collector) kill() {
	if c.command == nil || c.command.Process == nil {
		return
	}
	_ = c.command.Process.Kill()
	err := <-c.ended
	c.ended <- err
}

// run runs a subcommand and returns its standard output, error output and exit status.
func (c *collector) run(args ...string) (stdout, stderr string, status int) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	command := exec.CommandContext(ctx, binary(c.t), args...)
	var out, errors bytes.Buffer
	command.Env, command.Stdout, command.Stderr = c.env(), &out, &errors
	_ = command.Run()
	return out.String(), errors.String(), command.ProcessState.ExitCode()
}

// query asks ClickHouse and decodes one JSON object a row.
func (c *collector) query(text string) ([]map[string]any, error) {
	answer, err := http.Post("http://"+c.clickhouse+"/?default_format=JSONEachRow", "text/plain", strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", text, body)
	}
	rows := []map[string]any{}
	for line := range strings.Lines(string(body)) {
		row := map[string]any{}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (c *collector) mustQuery(text string) []map[string]any {
	c.t.Helper()
	rows, err := c.query(text)
	require.NoError(c.t, err)
	return rows
}

// number is the one figure that a query answers with.
func (c *collector) number(text string) int64 {
	c.t.Helper()
	rows := c.mustQuery("SELECT (" + text + ") AS n")
	require.Len(c.t, rows, 1)
	n, ok := rows[0]["n"].(float64)
	require.True(c.t, ok, "%s: %v", text, rows[0])
	return int64(n)
}

// waitSchema waits until the collector has made its tables.
func (c *collector) waitSchema() {
	c.t.Helper()
	c.eventually("make the tables", func() error {
		if out, stderr, status := c.run("migrate", "status"); status != 0 {
			return fmt.Errorf("status %d: %s%s", status, out, stderr)
		}
		return nil
	})
}

// waitSealed waits until so many distinct records are stored, the seals have
// counted them all, and every slice is sealed since it was last written. (Rows
// are there before their slice is marked, so open slices alone say too little.)
func (c *collector) waitSealed(records int64) {
	c.t.Helper()
	c.eventually("store and seal", func() error {
		rows, err := c.query(`SELECT (SELECT uniqExact(record_id) FROM soakgate.records) AS arrived,
    (SELECT sum(records) FROM soakgate.slice_seals FINAL) AS sealed,
    (SELECT countIf(w.wrote >= s.sealed)
     FROM (SELECT slice, max(wrote_at) AS wrote FROM soakgate.slice_writes GROUP BY slice) AS w
     LEFT JOIN (SELECT slice, max(version) AS sealed FROM soakgate.slice_seals GROUP BY slice) AS s ON w.slice = s.slice) AS open`)
		if err != nil {
			return err
		}
		if rows[0]["arrived"] != float64(records) || rows[0]["sealed"] != float64(records) || rows[0]["open"] != 0.0 {
			return fmt.Errorf("want %d records, all sealed, and no open slice; got %v", records, rows[0])
		}
		return nil
	})
}
