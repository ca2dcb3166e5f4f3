package e2e

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// frontConfig is a stock Collector that hands on what it gets.
const frontConfig = `
receivers:
  otlp:
    protocols:
      http: {endpoint: %s}
exporters:
  %s
service:
  pipelines:
    logs: {receivers: [otlp], exporters: [%s]}
  telemetry:
    metrics:
      readers: [{pull: {exporter: {prometheus: {host: 127.0.0.1, port: %s}}}}]
`

// TestStockCollectorInFront is U02: it takes an answer with findings for the
// success that it is, sends nothing again and counts nothing as failed.
func TestStockCollectorInFront(t *testing.T) {
	for _, tt := range []struct{ name, exporter string }{{"gRPC", "otlp_grpc"}, {"HTTP", "otlp_http"}} {
		t.Run(tt.name, func(t *testing.T) {
			back := newCollector(t)
			back.start()
			front := newWithStore(t, "")
			_, port, err := net.SplitHostPort(front.metrics)
			require.NoError(t, err)
			endpoint := back.grpc
			if tt.exporter == "otlp_http" {
				endpoint = "http://" + back.http
			}
			file := filepath.Join(t.TempDir(), "front.yaml")
			require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, frontConfig, front.http,
				tt.exporter+": {endpoint: '"+endpoint+"', tls: {insecure: true}}", tt.exporter, port), 0o600))
			front.configs = []string{"--config", file}
			front.launch()
			front.eventually("listen", func() error { return dial(front.http) })

			logs := failures(0, 11)
			broken := logs.Logs().ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(4).Body()
			broken.SetStr(strings.Replace(broken.Str(), `"error_code":"INTERNAL_ERROR",`, "", 1))
			_, err = front.send(logs, 1)
			require.NoError(t, err)
			front.eventually("sent", func() error {
				if n := front.metric("otelcol_exporter_sent_log_records"); n != 11 {
					return fmt.Errorf("%v log records are sent", n)
				}
				return nil
			})
			assert.Zero(t, front.metric("otelcol_exporter_send_failed_log_records"))
			back.waitSealed(11)
			assert.Equal(t, int64(11), back.number("SELECT count() FROM soakgate.records"), "nothing came twice")
			assert.Equal(t, int64(1), back.number("SELECT countIf(NOT valid) FROM soakgate.records_unique"))
			behind := withStore{collector: back}
			assert.Equal(t, 1.0, behind.metric("soakgate_receiver_findings_total"), "it was told once")
			require.NoError(t, front.terminate(), front.output)
			require.NoError(t, back.terminate(), back.output)
		})
	}
}
