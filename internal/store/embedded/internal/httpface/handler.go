// Package httpface serves ClickHouse's HTTP interface on top of the embedded
// engine: as much of it as clickhouse-go, Grafana's data source and curl use.
// It owns the wire: parameters, encodings, formats of the answer, error codes
// and statuses.
//
// Each request is a session of its own. It refuses named sessions, external
// tables sent with a query, requests that a web page of another origin could
// cause, and, through package statement, what reaches outside the store. GET
// only reads. Credentials are accepted and ignored: who reaches the port, which
// is bound to loopback, has the store.
package httpface

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"go.uber.org/zap"

	"github.com/soakgate/soakgate/internal/store/embedded/internal/engine"
)

// Handler answers requests. It is safe for concurrent use.
type Handler struct {
	engine *engine.Engine
	logger *zap.Logger
}

// New returns the handler of an open engine.
func New(e *engine.Engine, logger *zap.Logger) *Handler {
	return &Handler{engine: e, logger: logger}
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if reason := foreign(r); reason != "" {
		http.Error(w, reason, http.StatusForbidden)
		return
	}
	switch {
	case r.Method == http.MethodOptions:
		w.Header().Set("Allow", "GET, HEAD, POST, OPTIONS")
		w.WriteHeader(http.StatusNoContent)
	case r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost:
		w.Header().Set("Allow", "GET, HEAD, POST, OPTIONS")
		http.Error(w, "the method "+r.Method+" is not supported; use POST, or GET to read", http.StatusMethodNotAllowed)
	case r.URL.Path == "/ping", r.URL.Path == "/replicas_status", r.URL.Path == "/" && r.URL.RawQuery == "" && r.Method != http.MethodPost:
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		_, _ = io.WriteString(w, "Ok.\n") // a client that has gone needs no answer
	case strings.Contains(strings.Trim(r.URL.Path, "/"), "/"):
		http.Error(w, "there is nothing at "+r.URL.Path+"; send queries to / or to /DATABASE", http.StatusNotFound)
	default:
		h.serveQuery(w, r)
	}
}

// serveQuery runs a query and reports its failure in whichever way is still open.
func (h *Handler) serveQuery(w http.ResponseWriter, r *http.Request) {
	req, err := parseRequest(r)
	if err != nil {
		req = &request{}
	}
	out := newAnswer(w, r, req, h.engine.Info())
	if err == nil {
		err = h.run(r, req, out)
	}
	if err == nil {
		return
	}
	if ctxErr := r.Context().Err(); ctxErr != nil {
		err = &exception{code: codeCancelled, text: "the request was cancelled: " + ctxErr.Error()}
	}
	code, text := describe(err)
	h.logger.Debug("query failed", zap.Int("code", code), zap.String("query_id", req.queryID))
	out.fail(code, text)
}

// run reads the statement and hands it to the way that suits it.
func (h *Handler) run(r *http.Request, req *request, out *answer) error {
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		return &exception{code: codeNotImplemented, text: "external tables sent as multipart form data are not supported by the embedded ClickHouse; use a table or an array parameter"}
	}
	body, free, err := decodeBody(r, req.unframe)
	if err != nil {
		return err
	}
	defer free()
	st, data, err := readStatement(req, body)
	if err != nil {
		return err
	}
	if data != nil {
		return h.insert(r.Context(), req, st, data, out)
	}
	return h.query(r.Context(), req, st, out)
}

// foreign says why a request may not come from a program of this machine that
// means it: a name other than the loopback's in Host is DNS rebinding, and an
// Origin of elsewhere is a web page.
func foreign(r *http.Request) string {
	if !loopbackHost(r.Host) {
		return "the Host header " + r.Host + " is not of this machine's loopback; use localhost, 127.0.0.1 or [::1]"
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		if u, err := url.Parse(origin); err != nil || !loopbackHost(u.Host) {
			return "requests of the web page " + origin + " are refused"
		}
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" {
		return "requests of a web page of another site are refused"
	}
	return ""
}

// loopbackHost reports whether "host" or "host:port" names the loopback.
func loopbackHost(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// session opens the request's session.
func (h *Handler) session(ctx context.Context, req *request, extra ...engine.Setting) (*engine.Session, error) {
	s, err := h.engine.Session(ctx, engine.SessionOptions{
		Database: req.database,
		Settings: append(req.settings, extra...),
		ReadOnly: req.readOnly,
		QueryID:  req.queryID,
	})
	if err != nil && errors.Is(err, ctx.Err()) {
		return nil, &exception{code: codeCancelled, text: err.Error()}
	}
	return s, err
}
