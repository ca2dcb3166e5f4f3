package soakgatereceiver

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/plog"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	_ "google.golang.org/grpc/encoding/gzip" // the senders' compressor
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
)

const tooLargeText = "the request is larger than 5 MiB after decompression: send fewer records in one request, or raise the soakgate receiver's max_request_size_mib"

// TestOneSizeLimit is U10: 4.5 MiB pass and 6 MiB are refused on both protocols.
func TestOneSizeLimit(t *testing.T) {
	fits, exceeds := filler(9<<19), filler(6<<20)
	limit := func(c *Config) { c.MaxRequestSizeMiB = 5 }
	t.Run("gRPC", func(t *testing.T) {
		r := start(t, judging(t), limit)
		client := r.dial(t)
		_, err := client.Export(t.Context(), fits)
		require.NoError(t, err)
		_, err = client.Export(t.Context(), exceeds)
		assert.Equal(t, codes.ResourceExhausted, status.Code(err))
		assert.Contains(t, status.Convert(err).Message(), "5242880", "the limit, in the library's words")
		assert.Zero(t, retryDelay(status.Convert(err)), "the same request would be refused again")
		// The client may read its answer before the server has counted it.
		assert.Eventually(t, func() bool { return r.counted(t, "soakgate_receiver_refused_requests_total") == 1 }, time.Minute, 5*time.Millisecond)
		_, err = client.Export(t.Context(), envelopes(valid))
		assert.NoError(t, err, "the connection goes on")
	})
	t.Run("HTTP", func(t *testing.T) {
		r := start(t, judging(t), limit)
		for _, tt := range []struct {
			size int
			code int
			text string
		}{{9 << 19, http.StatusOK, ""}, {6 << 20, http.StatusRequestEntityTooLarge, tooLargeText}} {
			body, err := filler(tt.size).MarshalProto()
			require.NoError(t, err)
			answer, text := r.post(t, contentType(mediaProtobuf), body)
			assert.Equal(t, tt.code, answer.StatusCode)
			assert.Contains(t, text, tt.text)
		}
		require.Eventually(t, func() bool { return r.counted(t, "soakgate_receiver_refused_requests_total") == 1 }, time.Minute, time.Millisecond, "counted, a moment after the library's answer")
	})
}

// zeros is so many bytes of an OTLP string field that holds zeros, compressed.
func zeros(t *testing.T, compress func(io.Writer) io.WriteCloser, size int64) []byte {
	t.Helper()
	var b bytes.Buffer
	w := compress(&b)
	_, err := io.CopyN(w, zeroReader{}, size)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func gzipped(w io.Writer) io.WriteCloser {
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is constant
	}
	return z
}

func zstandard(w io.Writer) io.WriteCloser {
	e, err := zstd.NewWriter(w, zstd.WithWindowSize(1<<20))
	if err != nil {
		panic(err) // the options are constant
	}
	return e
}

// TestDecompressionBombs is U08: the limit holds for the decompressed size, and
// memory stays within twice the limit while a bomb of many times the limit is
// refused.
func TestDecompressionBombs(t *testing.T) {
	const limit, size = 5 << 20, 64 << 20
	bomb := zeros(t, gzipped, size)
	for _, tt := range []struct {
		name, encoding string
		body           []byte
		code           int
	}{
		{"gzip", "gzip", bomb, http.StatusRequestEntityTooLarge},
		{"zstd", "zstd", zeros(t, zstandard, size), http.StatusRequestEntityTooLarge},
		{"gzip of gzip", "gzip", zeros2(t, bomb), http.StatusBadRequest},
		{"cut short", "gzip", bomb[:len(bomb)/100], http.StatusBadRequest},
		{"named twice", "gzip, gzip", zeros2(t, bomb), http.StatusBadRequest},
		{"unknown", "br", []byte("x"), http.StatusBadRequest},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := start(t, judging(t), func(c *Config) { c.MaxRequestSizeMiB = limit >> 20 })
			require.Less(t, len(tt.body), limit, "compressed, it would pass")
			header := contentType(mediaProtobuf)
			header.Set("Content-Encoding", tt.encoding)
			var answer *http.Response
			grown := peakOf(func() { answer, _ = r.post(t, header, tt.body) })
			assert.Equal(t, tt.code, answer.StatusCode)
			assert.Less(t, grown, uint64(2*limit), "bytes of memory")
			assert.Equal(t, int64(1), r.counted(t, "soakgate_receiver_refused_requests_total"))
		})
	}
	t.Run("gRPC", func(t *testing.T) {
		r := start(t, judging(t), func(c *Config) { c.MaxRequestSizeMiB = limit >> 20 })
		_, err := r.dial(t, grpc.WithDefaultCallOptions(grpc.UseCompressor("gzip"))).Export(t.Context(), filler(2*limit))
		assert.Contains(t, status.Convert(err).Message(), "after decompression larger than max 5242880")
		require.Eventually(t, func() bool { return r.counted(t, "soakgate_receiver_refused_requests_total") == 1 }, time.Minute, time.Millisecond, "counted, a moment after the library's answer")
	})
}

// TestCompressedRequests is what senders do by default or on request.
func TestCompressedRequests(t *testing.T) {
	body, err := envelopes(valid, invalid).MarshalProto()
	require.NoError(t, err)
	for encoding, compress := range map[string]func(io.Writer) io.WriteCloser{"gzip": gzipped, "zstd": zstandard} {
		t.Run(encoding, func(t *testing.T) {
			r := start(t, judging(t), nil)
			var b bytes.Buffer
			w := compress(&b)
			_, err := w.Write(body)
			require.NoError(t, err)
			require.NoError(t, w.Close())
			header := contentType(mediaProtobuf)
			header.Set("Content-Encoding", encoding)
			answer, text := r.post(t, header, b.Bytes())
			assert.Equal(t, http.StatusOK, answer.StatusCode)
			assert.Contains(t, text, "1 of 2 log records")
			a, err := r.dial(t, grpc.WithDefaultCallOptions(grpc.UseCompressor(encoding))).Export(t.Context(), envelopes(valid, invalid))
			require.NoError(t, err)
			assert.Contains(t, a.PartialSuccess().ErrorMessage(), "1 of 2 log records")
		})
	}
}

// zeros2 is a gzip of a body that is compressed already.
func zeros2(t *testing.T, body []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(body)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

// peakOf is how far the heap grew above its start while do ran.
func peakOf(do func()) uint64 {
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	runtime.GC()
	before, peak := heap(), uint64(0)
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	for {
		select {
		case <-done:
			return peak
		case <-time.After(time.Millisecond):
			runtime.GC() // what counts is what is held
			if now := heap(); now > before {
				peak = max(peak, now-before)
			}
		}
	}
}

// TestRefusalsSayWhenToComeBack is U09 on the receiver's side.
func TestRefusalsSayWhenToComeBack(t *testing.T) {
	throttled, err := status.New(codes.ResourceExhausted, "the journal is full").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(7500 * time.Millisecond)})
	require.NoError(t, err)
	for _, tt := range []struct {
		name       string
		refusal    error
		grpc       codes.Code
		http       int
		retryAfter string
	}{
		{"with a time", throttled.Err(), codes.ResourceExhausted, http.StatusTooManyRequests, "8"},
		{"without a status, as memory_limiter", errors.New("data refused due to high memory usage"), codes.Unavailable, http.StatusServiceUnavailable, "2"},
		{"permanent", consumererror.NewPermanent(errors.New("no")), codes.Internal, http.StatusInternalServerError, ""},
		{"permanent with a status", consumererror.NewPermanent(status.Error(codes.InvalidArgument, "too large for the journal")), codes.InvalidArgument, http.StatusBadRequest, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			next := judging(t)
			refusing, err := consumer.NewLogs(func(ctx context.Context, logs plog.Logs) error {
				if logs.LogRecordCount() == 0 {
					return next.ConsumeLogs(ctx, logs)
				}
				return tt.refusal
			})
			require.NoError(t, err)
			r := start(t, refusing, nil)
			_, err = r.dial(t).Export(t.Context(), envelopes(valid))
			assert.Equal(t, tt.grpc, status.Code(err))
			assert.Equal(t, tt.retryAfter != "", retryDelay(status.Convert(err)) > 0)
			body, err := envelopes(valid).MarshalJSON()
			require.NoError(t, err)
			answer, _ := r.post(t, contentType(mediaJSON), body)
			assert.Equal(t, tt.http, answer.StatusCode)
			assert.Equal(t, tt.retryAfter, answer.Header.Get("Retry-After"))
		})
	}
}

// TestConnectionsAge is U11: a keep-alive connection ends with an answer once it
// is old, and not before.
func TestConnectionsAge(t *testing.T) {
	r := start(t, judging(t), func(c *Config) { c.Protocols.HTTP.Get().MaxConnectionAge = time.Second })
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	body, err := envelopes(valid).MarshalProto()
	require.NoError(t, err)
	ask := func() bool {
		answer, _ := post(t, client, "http://"+r.httpAddress+"/v1/logs", contentType(mediaProtobuf), body)
		require.Equal(t, http.StatusOK, answer.StatusCode)
		return answer.Close
	}
	began := time.Now()
	require.False(t, ask(), "a young connection stays")
	require.Eventually(t, ask, time.Minute, 20*time.Millisecond)
	assert.GreaterOrEqual(t, time.Since(began), 900*time.Millisecond)
	assert.False(t, ask(), "the next one is young again")
}
