package soakgatereceiver

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/bearertokenauthextension"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configauth"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// TestPipelineThatCannotAnswerIsRefused holds the start back, with a sentence.
func TestPipelineThatCannotAnswerIsRefused(t *testing.T) {
	next := judging(t)
	batching, err := consumer.NewLogs(func(_ context.Context, logs plog.Logs) error {
		return next.ConsumeLogs(context.Background(), logs) // as a queue does
	})
	require.NoError(t, err)
	for _, tt := range []struct {
		name   string
		next   consumer.Logs
		reject bool
		want   string
	}{
		{"no soakgate exporter", consumertest.NewNop(), false, "the pipeline for log records of receiver soakgate"},
		{"no soakgate exporter, reject_invalid", consumertest.NewNop(), true, "nothing would reject what breaks the contract, as reject_invalid asks"},
		{"a queue between", batching, false, "a batch processor or queue stands before it: findings cannot be answered: use the otlp receiver there"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := tryStart(t, tt.next, func(c *Config) { c.RejectInvalid = tt.reject }, componenttest.NewNopHost())
			require.ErrorContains(t, err, tt.want)
			assert.Empty(t, r.grpcAddress, "nothing listens")
		})
	}
	t.Run("a refusal decides nothing", func(t *testing.T) {
		start(t, consumertest.NewErr(assert.AnError), nil)
	})
}

func TestAuthenticationHoldsOnBothProtocols(t *testing.T) {
	f := bearertokenauthextension.NewFactory()
	c := f.CreateDefaultConfig().(*bearertokenauthextension.Config)
	c.BearerToken = configopaque.String("s3cret")
	ext, err := f.Create(t.Context(), extensiontest.NewNopSettings(f.Type()), c)
	require.NoError(t, err)
	require.NoError(t, ext.Start(t.Context(), componenttest.NewNopHost()))
	t.Cleanup(func() { assert.NoError(t, ext.Shutdown(context.Background())) })
	id := component.NewID(f.Type())
	host := hostWith{componenttest.NewNopHost(), map[component.ID]component.Component{id: ext}}
	r, err := tryStart(t, judging(t), func(c *Config) {
		auth := configauth.Config{AuthenticatorID: id}
		c.Protocols.GRPC.Get().Auth = configoptional.Some(auth)
		c.Protocols.HTTP.Get().Server.Auth = configoptional.Some(confighttp.AuthConfig{Config: auth})
	}, host)
	require.NoError(t, err)
	client := r.dial(t)
	_, err = client.Export(t.Context(), envelopes(valid))
	assert.Equal(t, codes.Unauthenticated, status.Code(err))
	_, err = client.Export(metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer s3cret"), envelopes(valid))
	require.NoError(t, err)
	body, err := envelopes(valid).MarshalJSON()
	require.NoError(t, err)
	answer, text := r.post(t, contentType(mediaJSON), body)
	assert.Equal(t, http.StatusUnauthorized, answer.StatusCode)
	assert.Contains(t, text, `"code":16`)
	answer, _ = r.post(t, http.Header{"Content-Type": {mediaJSON}, "Authorization": {"Bearer s3cret"}}, body)
	assert.Equal(t, http.StatusOK, answer.StatusCode)
}

// TestCORS is U12: a further header leaves the usual ones allowed, and both the
// preflight and the request are answered with the origin.
func TestCORS(t *testing.T) {
	ask := func(r *running, method string, header http.Header) http.Header {
		request, err := http.NewRequestWithContext(t.Context(), method, "http://"+r.httpAddress+"/v1/logs", nil)
		require.NoError(t, err)
		request.Header = header
		answer, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		defer answer.Body.Close()
		return answer.Header
	}
	preflight := http.Header{"Origin": {"https://app.example"}, "Access-Control-Request-Method": {"POST"}, "Access-Control-Request-Headers": {"content-type,x-team"}}
	with := http.Header{"Origin": {"https://app.example"}, "Content-Type": {mediaProtobuf}, "X-Team": {"a"}}
	r := start(t, judging(t), func(c *Config) {
		c.Protocols.HTTP.Get().Server.CORS = configoptional.Some(confighttp.CORSConfig{AllowedOrigins: []string{"https://app.example"}, AllowedHeaders: []string{"X-Team"}})
	})
	for _, h := range []http.Header{ask(r, http.MethodOptions, preflight), ask(r, http.MethodPost, with)} {
		assert.Equal(t, "https://app.example", h.Get("Access-Control-Allow-Origin"))
	}
	other := preflight.Clone()
	other.Set("Origin", "https://other.example")
	assert.Empty(t, ask(r, http.MethodOptions, other).Get("Access-Control-Allow-Origin"))
	unset := start(t, judging(t), nil)
	assert.Empty(t, ask(unset, http.MethodPost, with).Get("Access-Control-Allow-Origin"))
}

func TestLifecycle(t *testing.T) {
	t.Run("shutdown without start, and twice", func(t *testing.T) {
		r, err := NewFactory().CreateLogs(t.Context(), receivertest.NewNopSettings(Type), createDefaultConfig(), consumertest.NewNop())
		require.NoError(t, err)
		require.NoError(t, r.Shutdown(t.Context()))
		require.NoError(t, r.Shutdown(t.Context()))
	})
	t.Run("a start that fails half way leaves nothing", func(t *testing.T) {
		first := start(t, judging(t), nil)
		second, err := tryStart(t, judging(t), func(c *Config) {
			c.Protocols.HTTP.Get().Server.NetAddr.Endpoint = first.httpAddress
		}, componenttest.NewNopHost())
		require.ErrorContains(t, err, "listen for OTLP over HTTP at "+first.httpAddress)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err = second.dial(t).Export(ctx, envelopes(valid))
		assert.Error(t, err, "gRPC is closed again")
	})
	t.Run("logs and traces share their listeners", func(t *testing.T) {
		f, c := NewFactory(), createDefaultConfig()
		c.(*Config).Protocols.HTTP.GetOrInsertDefault().Server.NetAddr.Endpoint = "127.0.0.1:0"
		logs, err := f.CreateLogs(t.Context(), receivertest.NewNopSettings(Type), c, judging(t))
		require.NoError(t, err)
		sink, err := consumer.NewTraces(func(context.Context, ptrace.Traces) error { return assert.AnError })
		require.NoError(t, err)
		traces, err := f.CreateTraces(t.Context(), receivertest.NewNopSettings(Type), c, sink)
		require.NoError(t, err)
		require.Same(t, logs, traces)
		require.NoError(t, logs.Start(t.Context(), componenttest.NewNopHost()))
		answer, _ := post(t, http.DefaultClient, "http://"+logs.(*server).httpAddress+"/v1/traces", contentType(mediaJSON),
			[]byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"x"}]}]}]}`))
		assert.Equal(t, http.StatusServiceUnavailable, answer.StatusCode)
		require.NoError(t, logs.Shutdown(t.Context()))
		again, err := f.CreateLogs(t.Context(), receivertest.NewNopSettings(Type), c, consumertest.NewNop())
		require.NoError(t, err)
		assert.NotSame(t, logs, again)
	})
}

func TestConfigNamesTheField(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Config)
		want   string
	}{
		{"nothing listens", func(c *Config) { c.Protocols = Protocols{} }, "protocols is empty"},
		{"no limit", func(c *Config) { c.MaxRequestSizeMiB = 0 }, "max_request_size_mib is 0: it must be between 1 and 48"},
		{"beyond the journal's frame", func(c *Config) { c.MaxRequestSizeMiB = 64 }, "max_request_size_mib is 64"},
		{"gRPC's own limit", func(c *Config) { c.Protocols.GRPC.Get().MaxRecvMsgSizeMiB = 8 }, "max_recv_msg_size_mib is set: use max_request_size_mib"},
		{"HTTP's own limit", func(c *Config) { c.Protocols.HTTP.Get().Server.MaxRequestBodySize = 8 }, "max_request_body_size is set: use max_request_size_mib"},
		{"age", func(c *Config) { c.Protocols.HTTP.Get().MaxConnectionAge = time.Millisecond }, "max_connection_age is 1ms"},
		{"path", func(c *Config) { c.Protocols.HTTP.Get().LogsURLPath = "logs" }, `logs_url_path is "logs"`},
		{"one path", func(c *Config) { c.Protocols.HTTP.Get().TracesURLPath = "/v1/logs" }, `are both "/v1/logs"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := createDefaultConfig().(*Config)
			c.Protocols.GRPC.GetOrInsertDefault()
			c.Protocols.HTTP.GetOrInsertDefault()
			require.NoError(t, c.Validate())
			tt.change(c)
			require.ErrorContains(t, c.Validate(), tt.want)
		})
	}
}
