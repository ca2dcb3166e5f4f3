package ship

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
)

const (
	// attemptTimeout bounds one try over HTTP, and what is left for the last
	// try over gRPC, whose exporter has one timeout for all tries.
	attemptTimeout = 30 * time.Second
	// reconnectMax keeps gRPC from waiting up to two minutes, its default, for a
	// collector that is back after a second.
	reconnectMax = 2 * time.Second
)

// newExporter opens the SDK's own exporter. What the flags do not say (headers,
// certificates, compression) comes from the OTEL_EXPORTER_OTLP_ variables, as
// for every server.
func newExporter(ctx context.Context, o *Options) (sdklog.Exporter, error) {
	host, path, secure, err := splitEndpoint(o.Endpoint, o.Protocol)
	if err != nil {
		return nil, err
	}
	if o.Protocol == ProtocolHTTP {
		opts := []otlploghttp.Option{
			otlploghttp.WithEndpoint(host), otlploghttp.WithURLPath(path), otlploghttp.WithRetry(otlploghttp.RetryConfig(o.Retry.config())),
			otlploghttp.WithTimeout(attemptTimeout),
		}
		if !secure { // with TLS, the exporter's own client has the certificates
			opts = append(opts, otlploghttp.WithInsecure(),
				otlploghttp.WithHTTPClient(&http.Client{Transport: patientTransport{http.DefaultTransport}, Timeout: attemptTimeout}))
		}
		return otlploghttp.New(ctx, opts...)
	}
	connect := grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: attemptTimeout}
	connect.Backoff.BaseDelay, connect.Backoff.MaxDelay = o.Retry.Initial, reconnectMax
	opts := []otlploggrpc.Option{
		otlploggrpc.WithEndpoint(host), otlploggrpc.WithRetry(otlploggrpc.RetryConfig(o.Retry.config())),
		otlploggrpc.WithTimeout(o.Retry.For + attemptTimeout), otlploggrpc.WithDialOption(grpc.WithConnectParams(connect)),
	}
	if !secure {
		opts = append(opts, otlploggrpc.WithInsecure())
	}
	return otlploggrpc.New(ctx, opts...)
}

// retryConfig is the SDK's retry configuration, which both exporters name alike.
type retryConfig struct {
	Enabled         bool
	InitialInterval time.Duration
	MaxInterval     time.Duration
	MaxElapsedTime  time.Duration
}

func (r Retry) config() retryConfig {
	return retryConfig{Enabled: r.For > 0, InitialInterval: r.Initial, MaxInterval: r.Max, MaxElapsedTime: r.For}
}

// splitEndpoint takes host:port, or a URL whose scheme says whether to use TLS.
func splitEndpoint(endpoint, protocol string) (host, path string, secure bool, err error) {
	port := map[string]string{ProtocolGRPC: "4317", ProtocolHTTP: "4318"}[protocol]
	if endpoint == "" {
		endpoint = "127.0.0.1"
	}
	if !strings.Contains(endpoint, "://") {
		endpoint = "http://" + endpoint
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return "", "", false, fmt.Errorf("endpoint %q: want host:port, http://host:port or https://host:port", endpoint)
	}
	host = u.Host
	if u.Port() == "" {
		host = net.JoinHostPort(u.Hostname(), port)
	}
	path = strings.TrimSuffix(u.Path, "/")
	if !strings.HasSuffix(path, "/v1/logs") {
		path += "/v1/logs"
	}
	return host, path, u.Scheme == "https", nil
}

// patientTransport has the exporter try again when no answer came at all. OTLP
// asks for that, but the exporter takes a refused connection for final, and a
// collector that restarts refuses for a second.
type patientTransport struct{ next http.RoundTripper }

func (t patientTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(r)
	if err != nil && r.Context().Err() == nil {
		err = noAnswerError{err}
	}
	return resp, err
}

// noAnswerError is a failure that the exporter counts as temporary.
type noAnswerError struct{ error }

func (noAnswerError) Temporary() bool { return true }
func (e noAnswerError) Unwrap() error { return e.error }
