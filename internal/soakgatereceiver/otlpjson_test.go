package soakgatereceiver

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
)

// keeping is a pipeline that remembers the last request that reached it.
func keeping(t *testing.T, last *plog.Logs) consumer.Logs {
	t.Helper()
	next := judging(t)
	c, err := consumer.NewLogs(func(ctx context.Context, logs plog.Logs) error {
		*last = plog.NewLogs()
		logs.CopyTo(*last)
		return next.ConsumeLogs(ctx, logs)
	})
	require.NoError(t, err)
	return c
}

// TestIDsInJSON is U04.
func TestIDsInJSON(t *testing.T) {
	const lower = "0af7651916cd43dd8448eb211c80319c"
	for _, tt := range []struct {
		name, id string
		code     int
		stored   string
	}{
		{"lower case", lower, http.StatusOK, lower},
		{"upper case", strings.ToUpper(lower), http.StatusOK, lower},
		{"base64", "CvdlGRbNQ92ESOshHIAxnA==", http.StatusBadRequest, ""},
		{"30 digits", lower[:30], http.StatusBadRequest, ""},
		{"empty", "", http.StatusOK, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var last plog.Logs
			r := start(t, keeping(t, &last), nil)
			answer, text := r.post(t, contentType(mediaJSON), []byte(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"traceId":"`+tt.id+`","body":{"stringValue":"x"}}]}]}]}`))
			require.Equal(t, tt.code, answer.StatusCode, text)
			if tt.code != http.StatusOK {
				assert.Contains(t, text, "traceId", "the field is named")
				return
			}
			assert.Equal(t, tt.stored, last.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).TraceID().String())
		})
	}
}

// TestIntegersInJSON is U05.
// TestUndecodableJSON has bodies of which the decoder quotes what it could not read.
func TestUndecodableJSON(t *testing.T) {
	var last plog.Logs
	r := start(t, keeping(t, &last), nil)
	for name, body := range map[string]string{
		"not UTF-8":     "{\"resourceLogs\":[{\"scopeLogs\":[{\"logRecords\":[{\"traceId\":\"\xff\xfe\"}]}]}]}",
		"bad member":    "{\"resourceLogs\":\xff}",
		"negative time": `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":-5}]}]}]}`,
		"text":          "hello",
	} {
		t.Run(name, func(t *testing.T) {
			answer, text := r.post(t, contentType(mediaJSON), []byte(body))
			assert.Equal(t, http.StatusBadRequest, answer.StatusCode, text)
			assert.True(t, json.Valid([]byte(text)), text)
		})
	}
}

func TestIntegersInJSON(t *testing.T) {
	var last plog.Logs
	r := start(t, keeping(t, &last), nil)
	for _, n := range []string{`1767225600000000000`, `"1767225600000000000"`, `9007199254740993`, `"9007199254740993"`} {
		answer, text := r.post(t, contentType(mediaJSON), []byte(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":`+n+`,"body":{"intValue":`+n+`}}]}]}]}`))
		require.Equal(t, http.StatusOK, answer.StatusCode, text)
		record := last.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
		assert.Equal(t, strings.Trim(n, `"`), record.Body().AsString())
		assert.EqualValues(t, record.Body().Int(), record.Timestamp())
	}
}
