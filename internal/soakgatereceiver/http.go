package soakgatereceiver

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/receiver/receiverhelper"
	"go.uber.org/zap"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// The media types of OTLP over HTTP. An answer has its request's.
const (
	mediaProtobuf = "application/x-protobuf"
	mediaJSON     = "application/json"
)

func (s *server) serveHTTP(ctx context.Context, config HTTPConfig, host component.Host) error {
	obs, err := s.observer(transportHTTP)
	if err != nil {
		return err
	}
	config.Server.MaxRequestBodySize = s.config.maxBytes()
	allowStandardHeaders(&config.Server)
	mux := http.NewServeMux()
	for i := range s.signals {
		sig := &s.signals[i]
		mux.HandleFunc(sig.path(&config), func(w http.ResponseWriter, r *http.Request) { s.post(w, r, sig, obs) })
	}
	server, err := config.Server.ToServer(ctx, host.GetExtensions(), s.set.TelemetrySettings, mux, confighttp.WithErrorHandler(s.refuseHTTP))
	if err != nil {
		return err
	}
	limitAge(server, config.MaxConnectionAge)
	listener, err := config.Server.ToListener(ctx)
	if err != nil {
		return err
	}
	s.http, s.httpAddress = server, listener.Addr().String()
	s.set.Logger.Info("Receiving OTLP over HTTP", zap.String("endpoint", s.httpAddress))
	s.serving.Go(func() {
		if err := server.Serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			componentstatus.ReportStatus(host, componentstatus.NewFatalErrorEvent(err))
		}
	})
	return nil
}

// allowStandardHeaders keeps the headers that every browser's exporter sends
// allowed when an operator allows further ones (U12).
func allowStandardHeaders(c *confighttp.ServerConfig) {
	if cors := c.CORS.Get(); cors != nil && len(cors.AllowedHeaders) > 0 {
		cors.AllowedHeaders = append([]string{"Accept", "Content-Type", "X-Requested-With"}, cors.AllowedHeaders...)
	}
}

// post serves one request.
func (s *server) post(w http.ResponseWriter, r *http.Request, sig *signal, obs *receiverhelper.ObsReport) {
	ctx := r.Context()
	media := mediaType(r)
	switch {
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		s.refuse(w, r, reasonMethod, http.StatusMethodNotAllowed, fmt.Sprintf("method %s is not allowed: POST", r.Method))
		return
	case media == "":
		s.refuse(w, r, reasonMediaType, http.StatusUnsupportedMediaType, "the Content-Type is neither "+mediaProtobuf+" nor "+mediaJSON)
		return
	}
	body, err := readBody(r.Body, r.ContentLength)
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		s.refuse(w, r, reasonTooLarge, http.StatusRequestEntityTooLarge, s.tooLarge().Message())
		return
	}
	if err != nil {
		s.refuse(w, r, reasonUndecodable, http.StatusBadRequest, "read the request: "+err.Error())
		return
	}
	export := sig.request()
	decode, format := export.UnmarshalProto, formatProtobuf
	if media == mediaJSON {
		decode, format = export.UnmarshalJSON, formatJSON
	}
	if err := decode(body); err != nil {
		s.refuse(w, r, reasonUndecodable, http.StatusBadRequest, "the body is not OTLP: "+err.Error())
		return
	}
	a, err := s.export(ctx, sig, export, obs, transportHTTP, format)
	if err != nil {
		st := statusOf(err)
		writeStatus(w, media, httpCode(st.Code()), st)
		return
	}
	encode := a.MarshalProto
	if media == mediaJSON {
		encode = a.MarshalJSON
	}
	text, err := encode()
	if err != nil {
		writeStatus(w, media, http.StatusInternalServerError, status.New(codes.Internal, "encode the answer: "+err.Error()))
		return
	}
	write(w, media, http.StatusOK, text)
}

// mediaType is the request's media type, "" when it is none of OTLP's.
func mediaType(r *http.Request) string {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || (media != mediaProtobuf && media != mediaJSON) {
		return ""
	}
	return media
}

// refuseHTTP answers for confighttp's own refusals.
func (s *server) refuseHTTP(w http.ResponseWriter, r *http.Request, message string, code int) {
	s.refuse(w, r, reasonOther, code, message)
}

func (s *server) refuse(w http.ResponseWriter, r *http.Request, why reason, code int, message string) {
	s.metrics.refused(r.Context(), transportHTTP, why)
	media := mediaType(r)
	if media == "" {
		media = mediaJSON
	}
	writeStatus(w, media, code, status.New(grpcCode(code), message))
}

// writeStatus answers with a google.rpc.Status, as OTLP asks for.
func writeStatus(w http.ResponseWriter, media string, code int, st *status.Status) {
	if delay := retryDelay(st); delay > 0 {
		// Whole seconds, upwards: a sender that comes too early is refused again.
		w.Header().Set("Retry-After", strconv.FormatInt(int64((delay+time.Second-1)/time.Second), 10))
	}
	encode := proto.Marshal
	if media == mediaJSON {
		encode = protojson.Marshal
	}
	// A decoder's message may quote what it could not read.
	answer := st.Proto()
	answer.Message = strings.ToValidUTF8(answer.Message, "\uFFFD")
	text, err := encode(answer)
	if err != nil {
		http.Error(w, "the refusal could not be encoded: "+err.Error(), http.StatusInternalServerError)
		return
	}
	write(w, media, code, text)
}

func write(w http.ResponseWriter, media string, code int, text []byte) {
	w.Header().Set("Content-Type", media)
	w.WriteHeader(code)
	// The sender is gone when this fails; it sends again.
	_, _ = w.Write(text)
}
