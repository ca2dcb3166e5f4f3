package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
)

// withStore is a collector with a configuration of its own and ClickHouse as
// another process, so that one can be away while the other works.
type withStore struct {
	*collector
	configs []string // --config arguments
	extra   []string // environment
	storeOf *exec.Cmd
}

// newWithStore prepares both; neither runs. The journal takes 8 MiB.
func newWithStore(t *testing.T, file string, extra ...string) *withStore {
	t.Helper()
	c := newCollector(t)
	s := &withStore{collector: c, configs: []string{"--config", "../../config/" + file}}
	s.extra = append([]string{
		"SOAKGATE_JOURNAL=" + filepath.Join(c.data, "journal"), "SOAKGATE_JOURNAL_MIB=8", "SOAKGATE_METRICS_HOST=127.0.0.1",
		"SOAKGATE_OFFSETS=" + filepath.Join(c.data, "offsets"), "SOAKGATE_PARTNER_QUEUE=" + filepath.Join(c.data, "partner"),
	}, extra...)
	t.Cleanup(s.stopStore)
	return s
}

// launch starts the collector and waits until its metrics are served.
func (s *withStore) launch() {
	s.t.Helper()
	s.output = &lockedBuffer{}
	s.command = exec.Command(binary(s.t), s.configs...)
	s.command.Env, s.command.Stdout, s.command.Stderr = append(s.env(), s.extra...), s.output, s.output
	require.NoError(s.t, s.command.Start())
	s.ended = make(chan error, 1)
	go func() { s.ended <- s.command.Wait() }()
	s.t.Cleanup(s.kill)
	s.eventually("serve metrics", func() error { return dial(s.metrics) })
}

func dial(address string) error {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return err
	}
	return conn.Close()
}

// startStore starts ClickHouse and waits until it answers.
func (s *withStore) startStore() {
	s.t.Helper()
	s.storeOf = exec.Command(binary(s.t), "clickhouse", "--path", filepath.Join(s.data, "clickhouse"), "--listen", s.clickhouse)
	require.NoError(s.t, s.storeOf.Start())
	s.eventually("ClickHouse answers", func() error { _, err := s.query("SELECT 1"); return err })
}

func (s *withStore) stopStore() {
	if s.storeOf == nil {
		return
	}
	_ = s.storeOf.Process.Kill()
	_ = s.storeOf.Wait()
	s.storeOf = nil
}

// metric is the sum of a counter of the collector over its labels.
func (s *withStore) metric(name string) (sum float64) {
	s.t.Helper()
	answer, err := http.Get("http://" + s.metrics + "/metrics")
	require.NoError(s.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(s.t, err)
	for _, m := range regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(name)+`(?:\{[^}]*\})? (\S+)$`).FindAllSubmatch(text, -1) {
		v, err := strconv.ParseFloat(string(m[1]), 64)
		require.NoError(s.t, err)
		sum += v
	}
	return sum
}

// waitRefused waits until the journal is full and has refused so many requests.
func (s *withStore) waitRefused(requests float64) {
	s.t.Helper()
	s.eventually("the journal refuses", func() error {
		if n := s.metric("soakgate_refused_requests_total"); n < requests {
			return fmt.Errorf("%v requests were refused", n)
		}
		return nil
	})
}

// exactly waits until n tools have failed, and holds that each did once.
func (s *withStore) exactly(n int) {
	s.t.Helper()
	var rows []map[string]any
	s.eventually("all is stored", func() (err error) {
		rows, err = s.query("SELECT uniqExact(tool) AS tools, count() AS records, countIf(valid) AS valid FROM soakgate.records_unique")
		if err == nil && rows[0]["tools"] != float64(n) {
			err = fmt.Errorf("want %d tools, got %v", n, rows[0])
		}
		return err
	})
	require.Equal(s.t, map[string]any{"tools": float64(n), "records": float64(n), "valid": float64(n)}, rows[0], "each failed once")
}

// padding makes an envelope large enough for a few thousand to fill the journal,
// which packs what repeats: words of a tool's own, 4,000 bytes of them.
func padding(tool int) string {
	letters := rand.New(rand.NewPCG(uint64(tool), 0))
	text := make([]byte, 4000)
	for i := range text {
		text[i] = ' '
		if i%10 != 9 {
			text[i] = byte('a' + letters.IntN(26))
		}
	}
	return string(text)
}

// failure is the envelope of a tool's failure, on one line.
func failure(tool int) string {
	return fmt.Sprintf(`{"error_kind":"internal_error","tool":"tool_%d","summary":%q,"details":[],"hints":[],"examples":[],"error_code":"INTERNAL_ERROR","retryable":false,"_envelope_version":1}`, tool, padding(tool))
}

// failures is a request of the failures of tools [from, to).
func failures(from, to int) plogotlp.ExportRequest {
	logs := plog.NewLogs()
	rl := logs.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr("service.name", "probe")
	records := rl.ScopeLogs().AppendEmpty().LogRecords()
	for i := from; i < to; i++ {
		r := records.AppendEmpty()
		r.SetTimestamp(pcommon.NewTimestampFromTime(time.Now()))
		r.Body().SetStr(failure(i))
	}
	return plogotlp.NewExportRequestFromLogs(logs)
}

// send posts a request until it is acknowledged, as a sender does, and returns
// how often that took.
func (s *withStore) send(request plogotlp.ExportRequest, patience int) (tries int, err error) {
	body, err := request.MarshalProto()
	if err != nil {
		return 0, err
	}
	for tries = 1; ; tries++ {
		answer, err := http.Post("http://"+s.http+"/v1/logs", "application/x-protobuf", bytes.NewReader(body))
		if err != nil {
			return tries, err
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		switch {
		case answer.StatusCode == http.StatusOK:
			return tries, nil
		case answer.Header.Get("Retry-After") == "":
			return tries, fmt.Errorf("status %d without Retry-After: %s", answer.StatusCode, text)
		case tries == patience:
			return tries, errRefused
		}
		time.Sleep(200 * time.Millisecond)
	}
}

var errRefused = errors.New("refused with a time to come back")

// TestKubernetesLogs fills the journal from a pod's log file while ClickHouse is
// away, restarts the collector in the middle, and finds each line once.
func TestKubernetesLogs(t *testing.T) {
	const lines = 4000
	s := newWithStore(t, "kubernetes-logs.yaml", "SOAKGATE_CLUSTER=c1", "SOAKGATE_ENVIRONMENT=production")
	pods := filepath.Join(s.data, "pods")
	s.extra = append(s.extra, "SOAKGATE_POD_LOGS="+filepath.Join(pods, "*/*/*.log"))
	container := filepath.Join(pods, "shop_server-7d9f_49cc7c1f-d370-2c40-b686-6ea7486238b6", "amazon-sp-mcp")
	require.NoError(t, os.MkdirAll(container, 0o750))
	file, err := os.Create(filepath.Join(container, "0.log"))
	require.NoError(t, err)
	defer file.Close()
	write := func(_ int, line string) {
		_, err := fmt.Fprintf(file, "%s stdout F %s\n", time.Now().UTC().Format(time.RFC3339Nano), line)
		require.NoError(t, err)
	}
	write(0, `{"level":"INFO","message":"listening"}`)
	for i := range lines - 2 {
		write(i, failure(i))
	}
	// The two other forms: an attribute of an event, and what a logger was given.
	write(0, `{"event.name":"mcp.error_envelope","mcp.session.id":"s1","mcp.error.envelope":`+failure(lines-2)+`}`)
	write(0, fmt.Sprintf(`{"level":"ERROR","message":%q}`, "ToolError: "+failure(lines-1)))

	s.launch()
	s.waitRefused(1)
	require.NoError(t, s.terminate(), s.output)
	s.launch()
	s.waitRefused(1)
	s.startStore()
	s.exactly(lines)
	require.Equal(t, []map[string]any{{"server": "amazon_sp_mcp", "deployment": "c1/shop", "environment": "production", "instance": "49cc7c1f-d370-2c40-b686-6ea7486238b6"}},
		s.mustQuery("SELECT DISTINCT server, deployment, environment, instance FROM soakgate.records_unique"))
	require.NoError(t, s.terminate(), s.output)
}

// TestForward holds that a partner that is down makes no sender repeat, that it
// gets what its queue held once it is up, and that a full journal loses nothing.
func TestForward(t *testing.T) {
	partner := freeAddress(t)
	s := newWithStore(t, "forward.yaml", "SOAKGATE_PARTNER=http://"+partner, "SOAKGATE_PARTNER_REQUESTS=10")
	s.launch()
	s.eventually("listen", func() error { return dial(s.http) })
	const before = 40
	for i := range before {
		tries, err := s.send(failures(i, i+1), 1)
		require.NoError(t, err)
		require.Equal(t, 1, tries)
	}
	require.Positive(t, s.metric("soakgate_receiver_not_forwarded_requests_total"), "the partner's queue is full")

	// Now the journal, too.
	sent := before
	for {
		_, err := s.send(failures(sent, sent+100), 1)
		if errors.Is(err, errRefused) {
			break
		}
		require.NoError(t, err)
		sent += 100
	}
	s.startStore()
	tries, err := s.send(failures(sent, sent+100), 100)
	require.NoError(t, err)
	t.Logf("taken after %d tries", tries)
	s.exactly(sent + 100)

	var got lockedBuffer
	l, err := net.Listen("tcp", partner)
	require.NoError(t, err)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(&got, r.URL.Path, r.Header.Get("Content-Encoding"))
		w.Header().Set("Content-Type", "application/x-protobuf")
	})}
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	s.eventually("the partner gets its queue", func() error {
		if n := strings.Count(got.String(), "/v1/logs zstd"); n < 10 {
			return fmt.Errorf("%d requests", n)
		}
		return nil
	})
	require.NoError(t, s.terminate(), s.output)
}
