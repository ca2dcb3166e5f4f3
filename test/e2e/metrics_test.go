package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
)

// series counts what a scrape holds, which must parse.
func (c *collector) series() (n int) {
	c.t.Helper()
	answer, err := http.Get("http://" + c.metrics + "/metrics")
	require.NoError(c.t, err)
	defer answer.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(answer.Body)
	require.NoError(c.t, err)
	for _, f := range families {
		n += len(f.Metric)
	}
	return n
}

// strangers is a request of servers, versions, tools, kinds and codes that nobody
// listed, each of its own, with names that a text format must escape.
func strangers(from, to int) []byte {
	logs := plog.NewLogs()
	for i := from; i < to; i++ {
		name := fmt.Sprintf("a\n\"b\\ü{}%d", i)
		rl := logs.ResourceLogs().AppendEmpty()
		for _, key := range []string{"service.name", "service.version", "service.instance.id", "deployment.environment.name", "mcp.deployment.id"} {
			rl.Resource().Attributes().PutStr(key, name)
		}
		r := rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
		r.SetTimestamp(pcommon.NewTimestampFromTime(time.Now()))
		r.Body().SetStr(fmt.Sprintf(`{"error_kind":%q,"tool":%[1]q,"summary":"s","details":[],"hints":[],"examples":[],"error_code":%[1]q,"retryable":false,"_envelope_version":1}`, name))
	}
	body, err := plogotlp.NewExportRequestFromLogs(logs).MarshalProto()
	if err != nil {
		panic(err)
	}
	return body
}

// TestSendersMakeNoSeries holds that no label takes its value from a request:
// neither from what telemetry says nor from a header (U58).
func TestSendersMakeNoSeries(t *testing.T) {
	const records, each = 10_000, 50
	c := newCollector(t)
	c.start()
	c.waitSchema()
	before := c.series()
	for i := 0; i < records; i += each {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+c.http+"/v1/logs", bytes.NewReader(strangers(i, i+each)))
		require.NoError(t, err)
		request.Host = fmt.Sprintf("host-%d.example.com", i)
		request.Header.Set("User-Agent", fmt.Sprintf("agent/%d", i))
		request.Header.Set("Content-Type", "application/x-protobuf")
		answer, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		answer.Body.Close()
		require.Equal(t, http.StatusOK, answer.StatusCode)
		// A method and a path of the sender's own.
		probe, err := http.NewRequestWithContext(t.Context(), fmt.Sprintf("METHOD%d", i), fmt.Sprintf("http://%s/path/%d", c.http, i), nil)
		require.NoError(t, err)
		answer, err = http.DefaultClient.Do(probe)
		require.NoError(t, err)
		answer.Body.Close()
	}
	c.waitSealed(records)
	assert.Less(t, c.series()-before, 100)
	require.NoError(t, c.terminate(), c.output)
}
