package soakgateexporter

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

// benchRequest is a request of 512 records as servers send them: 70 % telemetry
// of successes and calls, 30 % envelopes, 1 % of them broken.
func benchRequest() plog.Logs {
	logs := plog.NewLogs()
	rl := logs.ResourceLogs().AppendEmpty()
	for k, v := range map[string]string{
		"service.name": "amazon_sp_mcp", "service.version": "1.12.3", "service.instance.id": "i-1",
		"deployment.environment.name": "production", "mcp.deployment.id": "sp-us-east",
	} {
		rl.Resource().Attributes().PutStr(k, v)
	}
	rl.Resource().Attributes().PutBool("mcp.normalization.meta", true)
	records := rl.ScopeLogs().AppendEmpty().LogRecords()
	for i := range 512 {
		r := records.AppendEmpty()
		r.SetTimestamp(pcommon.NewTimestampFromTime(time.Unix(1_800_000_000, int64(i))))
		r.SetTraceID(pcommon.TraceID{1, byte(i), byte(i >> 8)})
		r.SetSpanID(pcommon.SpanID{1, byte(i), byte(i >> 8)})
		r.Attributes().PutStr("gen_ai.tool.name", fmt.Sprintf("tool_%d", i%20))
		r.Attributes().PutStr("mcp.session.id", fmt.Sprintf("session-%d", i))
		r.Attributes().PutInt("jsonrpc.request.id", int64(i))
		switch {
		case i%10 < 3:
			r.SetEventName("mcp.error_envelope")
			hints := `["Check the marketplace of the order.","Try again with a shorter range of dates."]`
			if i%100 == 0 {
				hints = `"none"`
			}
			r.Body().SetStr(fmt.Sprintf(`{"error_kind":"sp_api_http","tool":"tool_%d","summary":"Upstream SP-API returned HTTP 503 for getOrders.","details":[{"path":"filters/0/marketplaceId","issue":"Service unavailable, please retry the request","received_type":"dict","upstream_code":"ServiceUnavailable","request_id":"f5a4%012d"}],"hints":%s,"examples":[],"error_code":"SP_API_HTTP_503","retryable":true,"_envelope_version":1,"_meta":{"rate_limit":{"limit_per_second":0.5,"remaining":3},"retry_after_seconds":2.5}}`, i%20, i, hints))
		case i%10 < 6:
			r.SetEventName("mcp.response_meta")
			r.Body().SetStr(`{"_meta":{"normalized":[{"kind":"renamed","from":"marketplace_ids","to":"marketplaceIds","reason":"schema_canonical_key"},{"kind":"coerced","field":"marketplaceIds","from_type":"str","to_type":"list"}]}}`)
			r.Attributes().PutInt("mcp.response.size", 4096)
		default:
			r.SetEventName("mcp.tool_call")
		}
	}
	return logs
}

// BenchmarkConsume measures a request of 512 records from pdata to the fsync.
func BenchmarkConsume(b *testing.B) {
	c := createDefaultConfig().(*Config)
	c.DSN, c.Journal.Directory, c.Journal.MaxSizeMiB = configopaque.String(nowhere), b.TempDir(), 1<<20
	e, err := NewFactory().CreateLogs(b.Context(), exportertest.NewNopSettings(Type), c)
	require.NoError(b, err)
	require.NoError(b, e.Start(b.Context(), componenttest.NewNopHost()))
	b.Cleanup(func() { require.NoError(b, e.Shutdown(context.Background())) })
	request := benchRequest()
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, e.ConsumeLogs(b.Context(), request))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/512, "ns/record")
}
