package soakgatereceiver

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/soakgate/soakgate/internal/soakgateexporter"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("internal/poll.runtime_pollWait"))
}

// valid and invalid are the smallest envelope, and one without its error_code.
const (
	valid   = `{"error_kind":"internal_error","tool":"t","summary":"s","details":[],"hints":[],"examples":[],"error_code":"INTERNAL_ERROR","retryable":false,"_envelope_version":1}`
	invalid = `{"error_kind":"internal_error","tool":"t","summary":"s","details":[],"hints":[],"examples":[],"retryable":false,"_envelope_version":1}`
)

// envelopes is a request of one log record a body.
func envelopes(bodies ...string) plogotlp.ExportRequest {
	logs := plog.NewLogs()
	rl := logs.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr("service.name", "probe")
	for _, body := range bodies {
		r := rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
		r.SetTimestamp(pcommon.NewTimestampFromTime(time.Now()))
		r.Body().SetStr(body)
	}
	return plogotlp.NewExportRequestFromLogs(logs)
}

// hostWith is a host that has extensions.
type hostWith struct {
	component.Host
	extensions map[component.ID]component.Component
}

func (h hostWith) GetExtensions() map[component.ID]component.Component { return h.extensions }

// running is a receiver with a pipeline behind it, and its own telemetry.
type running struct {
	*server
	telemetry *componenttest.Telemetry
}

// judging is the exporter as it runs: what it acknowledges is in its journal.
// ClickHouse is away.
func judging(t *testing.T) exporter.Logs {
	t.Helper()
	f := soakgateexporter.NewFactory()
	c := f.CreateDefaultConfig().(*soakgateexporter.Config)
	c.DSN, c.Journal.Directory = configopaque.String("http://127.0.0.1:1/soakgate"), t.TempDir()
	e, err := f.CreateLogs(t.Context(), exportertest.NewNopSettings(soakgateexporter.Type), c)
	require.NoError(t, err)
	require.NoError(t, e.Start(t.Context(), componenttest.NewNopHost()))
	t.Cleanup(func() { assert.NoError(t, e.Shutdown(context.Background())) })
	return e
}

// start starts a receiver of logs on free ports.
func start(t *testing.T, next consumer.Logs, change func(*Config)) *running {
	t.Helper()
	r, err := tryStart(t, next, change, componenttest.NewNopHost())
	require.NoError(t, err)
	return r
}

func tryStart(t *testing.T, next consumer.Logs, change func(*Config), host component.Host) (*running, error) {
	t.Helper()
	c := createDefaultConfig().(*Config)
	c.Protocols.GRPC.GetOrInsertDefault().NetAddr.Endpoint = "127.0.0.1:0"
	c.Protocols.HTTP.GetOrInsertDefault().Server.NetAddr.Endpoint = "127.0.0.1:0"
	if change != nil {
		change(c)
	}
	require.NoError(t, c.Validate())
	telemetry := componenttest.NewTelemetry()
	t.Cleanup(func() { assert.NoError(t, telemetry.Shutdown(context.Background())) })
	set := receivertest.NewNopSettings(Type)
	set.TelemetrySettings = telemetry.NewTelemetrySettings()
	r, err := NewFactory().CreateLogs(t.Context(), set, c, next)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, r.Shutdown(context.Background())) })
	return &running{r.(*server), telemetry}, r.Start(t.Context(), host)
}

// counted is the sum of a counter over its labels.
func (r *running) counted(t *testing.T, name string) (n int64) {
	t.Helper()
	m, err := r.telemetry.GetMetric(name)
	if err != nil {
		return 0 // nothing was counted yet
	}
	for _, p := range sumPoints(m) {
		n += p
	}
	return n
}

// post posts a body and returns the answer with its text.
func (r *running) post(t *testing.T, header http.Header, body []byte) (*http.Response, string) {
	t.Helper()
	return post(t, http.DefaultClient, "http://"+r.httpAddress+"/v1/logs", header, body)
}

func post(t *testing.T, client *http.Client, url string, header http.Header, body []byte) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(body))
	require.NoError(t, err)
	request.Header = header
	answer, err := client.Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer, string(text)
}

func contentType(media string) http.Header { return http.Header{"Content-Type": {media}} }

// dial is a stock client of the gRPC listener.
func (r *running) dial(t *testing.T, options ...grpc.DialOption) plogotlp.GRPCClient {
	t.Helper()
	conn, err := grpc.NewClient(r.grpcAddress, append(options, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return plogotlp.NewGRPCClient(conn)
}

// sender sends a request and returns the answer, over one protocol.
type sender struct {
	name string
	send func(t *testing.T, r *running, request plogotlp.ExportRequest) plogotlp.ExportResponse
}

func senders() []sender {
	overHTTP := func(media string) func(*testing.T, *running, plogotlp.ExportRequest) plogotlp.ExportResponse {
		return func(t *testing.T, r *running, request plogotlp.ExportRequest) plogotlp.ExportResponse {
			encode, a := request.MarshalProto, plogotlp.NewExportResponse()
			decode := a.UnmarshalProto
			if media == mediaJSON {
				encode, decode = request.MarshalJSON, a.UnmarshalJSON
			}
			body, err := encode()
			require.NoError(t, err)
			answer, text := r.post(t, contentType(media), body)
			require.Equal(t, http.StatusOK, answer.StatusCode, text)
			require.Equal(t, media, answer.Header.Get("Content-Type"))
			require.NoError(t, decode([]byte(text)))
			return a
		}
	}
	return []sender{
		{"HTTP with JSON", overHTTP(mediaJSON)},
		{"HTTP with protobuf", overHTTP(mediaProtobuf)},
		{"gRPC", func(t *testing.T, r *running, request plogotlp.ExportRequest) plogotlp.ExportResponse {
			a, err := r.dial(t).Export(t.Context(), request)
			require.NoError(t, err)
			return a
		}},
	}
}

// filler is a request of about so many bytes that is not ours.
func filler(size int) plogotlp.ExportRequest {
	return envelopes(strings.Repeat("0", size))
}
