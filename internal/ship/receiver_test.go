package ship

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// receiver is an OTLP endpoint in this process that keeps what it took.
type receiver struct {
	plogotlp.UnimplementedGRPCServer
	endpoint string

	mu sync.Mutex // guards all below
	// answers are given to requests before they are taken: a status code and
	// nothing else is kept of such a request. Then all is taken.
	answers []codes.Code
	// rejects, when positive, is told of each request as partial success.
	rejects int64
	// warns tells of each request that it was taken whole, with a message.
	warns    bool
	taken    []plog.Logs
	refused  int
	requests int
}

// Export takes one request over gRPC.
func (r *receiver) Export(_ context.Context, req plogotlp.ExportRequest) (plogotlp.ExportResponse, error) {
	code, resp := r.take(req)
	if code != codes.OK {
		return resp, status.Error(code, "refused by the test")
	}
	return resp, nil
}

func (r *receiver) take(req plogotlp.ExportRequest) (codes.Code, plogotlp.ExportResponse) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests++
	resp := plogotlp.NewExportResponse()
	if len(r.answers) > 0 {
		code := r.answers[0]
		r.answers = r.answers[1:]
		if code != codes.OK {
			r.refused++
			return code, resp
		}
	}
	if r.rejects > 0 {
		resp.PartialSuccess().SetRejectedLogRecords(r.rejects)
		resp.PartialSuccess().SetErrorMessage("too strange")
	}
	if r.warns {
		resp.PartialSuccess().SetErrorMessage("strange, and kept")
	}
	kept := plog.NewLogs()
	req.Logs().CopyTo(kept)
	r.taken = append(r.taken, kept)
	return codes.OK, resp
}

// ServeHTTP takes one request over HTTP, protobuf only.
func (r *receiver) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	body, err := io.ReadAll(hr.Body)
	req := plogotlp.NewExportRequest()
	if err != nil || hr.URL.Path != "/v1/logs" || hr.Header.Get("Content-Type") != "application/x-protobuf" || req.UnmarshalProto(body) != nil {
		http.Error(w, "want protobuf logs at /v1/logs", http.StatusBadRequest)
		return
	}
	code, resp := r.take(req)
	switch code {
	case codes.OK:
	case codes.Unavailable:
		http.Error(w, "not now", http.StatusServiceUnavailable)
		return
	default:
		http.Error(w, "refused by the test", http.StatusBadRequest)
		return
	}
	out, err := resp.MarshalProto()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
	_, _ = w.Write(out) // the client's fault if it is gone
}

// startReceiver listens on loopback with the protocol until the test ends.
func startReceiver(t *testing.T, protocol string) *receiver {
	t.Helper()
	r := &receiver{}
	if protocol == ProtocolHTTP {
		srv := httptest.NewServer(r)
		t.Cleanup(srv.Close)
		r.endpoint = srv.URL
		return r
	}
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	srv := grpc.NewServer(grpc.MaxRecvMsgSize(64 << 20))
	plogotlp.RegisterGRPCServer(srv, r)
	var serving sync.WaitGroup
	serving.Go(func() { _ = srv.Serve(lis) }) // ends with Stop
	t.Cleanup(func() { srv.Stop(); serving.Wait() })
	r.endpoint = lis.Addr().String()
	return r
}
