package soakgatereceiver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

func sumPoints(m metricdata.Metrics) (values []int64) {
	if s, ok := m.Data.(metricdata.Sum[int64]); ok {
		for _, p := range s.DataPoints {
			values = append(values, p.Value)
		}
	}
	return values
}

// TestAnswersWhatItFound is U01 over each protocol.
func TestAnswersWhatItFound(t *testing.T) {
	const names = "; index 1: /error_code: expected this member, and it is missing (rule required)"
	for _, tt := range []struct {
		name     string
		reject   bool
		bodies   []string
		rejected int64
		message  string
	}{
		{"one breaks the contract", false, []string{valid, invalid, valid}, 0, "1 of 3 log records break the contract; all are stored" + names},
		{"and is rejected", true, []string{valid, invalid, valid}, 1, "1 of 3 log records break the contract, 1 are rejected and kept in quarantine" + names},
		{"none does", false, []string{valid, "ToolError: " + valid, "listening"}, 0, ""},
		{"none is rejected", true, []string{valid}, 0, ""},
		{
			"printed dict", false,
			[]string{`ToolError: {'error_kind': 'internal_error', '_envelope_version': 1}`},
			0,
			"all 1 log records are stored; the text is the printed form of a Python dict, not JSON: log the dict itself as the body, or json.dumps of it",
		},
	} {
		for _, s := range senders() {
			t.Run(tt.name+", "+s.name, func(t *testing.T) {
				r := start(t, judging(t), func(c *Config) { c.RejectInvalid = tt.reject })
				partial := s.send(t, r, envelopes(tt.bodies...)).PartialSuccess()
				assert.Equal(t, tt.rejected, partial.RejectedLogRecords())
				assert.Equal(t, tt.message, partial.ErrorMessage())
				want := int64(0)
				if tt.message != "" {
					want = 1
				}
				assert.Equal(t, want, r.counted(t, "soakgate_receiver_findings_total"))
			})
		}
	}
}

// TestNoPartialSuccessWithoutFindings is the other half of U02: not even an empty one.
func TestNoPartialSuccessWithoutFindings(t *testing.T) {
	r := start(t, judging(t), nil)
	body, err := envelopes(valid).MarshalJSON()
	require.NoError(t, err)
	_, text := r.post(t, contentType(mediaJSON), body)
	assert.Equal(t, "{}", text)
	body, err = envelopes(valid).MarshalProto()
	require.NoError(t, err)
	_, text = r.post(t, contentType(mediaProtobuf), body)
	assert.Empty(t, text)
}

// TestIndexesAreDroppedWhenAProcessorChangedTheCount puts a filter in between.
func TestIndexesAreDroppedWhenAProcessorChangedTheCount(t *testing.T) {
	next := judging(t)
	filter, err := consumer.NewLogs(func(ctx context.Context, logs plog.Logs) error {
		first := true
		logs.ResourceLogs().RemoveIf(func(rl plog.ResourceLogs) bool {
			rl.ScopeLogs().RemoveIf(func(plog.ScopeLogs) bool { drop := first; first = false; return drop })
			return false
		})
		return next.ConsumeLogs(ctx, logs)
	})
	require.NoError(t, err)
	r := start(t, filter, nil)
	a := senders()[2].send(t, r, envelopes("line", invalid))
	assert.Equal(t, "1 of 2 log records break the contract; all are stored", a.PartialSuccess().ErrorMessage())
}

// TestWhatIsHeldIsAcknowledged has another exporter refuse what ours has stored,
// before it and after it.
func TestWhatIsHeldIsAcknowledged(t *testing.T) {
	for _, first := range []bool{true, false} {
		t.Run(fmt.Sprintf("the other first: %t", first), func(t *testing.T) {
			next := judging(t)
			both, err := consumer.NewLogs(func(ctx context.Context, logs plog.Logs) error {
				if first {
					return errors.Join(assert.AnError, next.ConsumeLogs(ctx, logs))
				}
				return errors.Join(next.ConsumeLogs(ctx, logs), assert.AnError)
			})
			require.NoError(t, err)
			r := start(t, both, nil)
			a := senders()[2].send(t, r, envelopes(valid, invalid))
			assert.Contains(t, a.PartialSuccess().ErrorMessage(), "1 of 2 log records")
			assert.Equal(t, int64(1), r.counted(t, "soakgate_receiver_not_forwarded_requests_total"))
		})
	}
}

// TestZeroRecordsAreVisible is U03.
func TestZeroRecordsAreVisible(t *testing.T) {
	const nothingStored = `{"partialSuccess":{"errorMessage":"the request holds no log records: nothing was stored; is its body OTLP?"}}`
	for _, tt := range []struct {
		name, media, body string
		code              int
		want              string
		counter           string
	}{
		{"other JSON", mediaJSON, `{"hello":"world"}`, http.StatusOK, nothingStored, "soakgate_receiver_empty_requests_total"},
		{"an empty object", mediaJSON, `{}`, http.StatusOK, nothingStored, "soakgate_receiver_empty_requests_total"},
		{"no resources", mediaJSON, `{"resourceLogs":[]}`, http.StatusOK, nothingStored, "soakgate_receiver_empty_requests_total"},
		{"zero bytes", mediaJSON, ``, http.StatusBadRequest, "the body is not OTLP", "soakgate_receiver_refused_requests_total"},
		{"not JSON", mediaJSON, `hello`, http.StatusBadRequest, "the body is not OTLP", "soakgate_receiver_refused_requests_total"},
		{"zero bytes of protobuf", mediaProtobuf, ``, http.StatusOK, "the request holds no log records", "soakgate_receiver_empty_requests_total"},
		{"not protobuf", mediaProtobuf, "\xff\xff", http.StatusBadRequest, "the body is not OTLP", "soakgate_receiver_refused_requests_total"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := start(t, judging(t), nil)
			answer, text := r.post(t, contentType(tt.media), []byte(tt.body))
			assert.Equal(t, tt.code, answer.StatusCode)
			assert.Contains(t, text, tt.want)
			assert.Equal(t, int64(1), r.counted(t, tt.counter))
		})
	}
	t.Run("gRPC", func(t *testing.T) {
		r := start(t, judging(t), nil)
		a := senders()[2].send(t, r, envelopes())
		assert.Equal(t, "the request holds no log records: nothing was stored; is its body OTLP?", a.PartialSuccess().ErrorMessage())
		assert.Equal(t, int64(1), r.counted(t, "soakgate_receiver_empty_requests_total"))
	})
}

// TestContentTypes is U06.
func TestContentTypes(t *testing.T) {
	r := start(t, judging(t), nil)
	for _, tt := range []struct {
		header string
		code   int
		answer string
	}{
		{"application/json; charset=utf-8", http.StatusOK, mediaJSON},
		{"Application/JSON", http.StatusOK, mediaJSON},
		{"application/x-protobuf", http.StatusOK, mediaProtobuf},
		{"text/plain", http.StatusUnsupportedMediaType, mediaJSON},
		{"", http.StatusUnsupportedMediaType, mediaJSON},
	} {
		t.Run(tt.header, func(t *testing.T) {
			encode := envelopes(valid).MarshalJSON
			if tt.header == mediaProtobuf {
				encode = envelopes(valid).MarshalProto
			}
			body, err := encode()
			require.NoError(t, err)
			answer, text := r.post(t, contentType(tt.header), body)
			assert.Equal(t, tt.code, answer.StatusCode, text)
			assert.Equal(t, tt.answer, answer.Header.Get("Content-Type"))
		})
	}
	t.Run("GET", func(t *testing.T) {
		answer, err := http.Get("http://" + r.httpAddress + "/v1/logs")
		require.NoError(t, err)
		defer answer.Body.Close()
		assert.Equal(t, http.StatusMethodNotAllowed, answer.StatusCode)
		assert.Equal(t, "POST", answer.Header.Get("Allow"))
	})
}
