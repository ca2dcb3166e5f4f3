package httpface

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/soakgate/soakgate/internal/store/embedded/internal/chdb"
	"github.com/soakgate/soakgate/internal/store/embedded/internal/engine"
	"github.com/soakgate/soakgate/internal/store/embedded/internal/statement"
)

// request is what a client asks for besides the statement itself.
type request struct {
	query     string // from the URL; the rest is in the body
	queryID   string
	database  string
	format    string // the output format when the statement names none
	settings  []engine.Setting
	params    []chdb.Param
	readOnly  bool
	revision  uint64 // of Native blocks in the answer; 0 is the plain form
	framed    bool   // compress=1: the answer in ClickHouse's own frames
	frameZSTD bool   // those frames hold ZSTD rather than LZ4
	unframe   bool   // decompress=1: the body is in such frames
	encode    bool   // enable_http_compression=1: honour Accept-Encoding
	wait      bool   // wait_end_of_query=1: no answer before the end is known
}

// ignored are URL parameters without an effect here. Credentials are among
// them: whoever reaches the loopback port has the store.
var ignored = []string{
	"user", "password", "quota_key", "role", "stacktrace", "buffer_size", "session_timeout", "session_check",
	"close_session", "http_write_exception_in_output_format", "send_progress_in_http_headers", "http_headers_progress_interval_ms",
	"cancel_http_readonly_queries_on_client_close", "add_http_cors_header",
}

// sessionless is the answer to a request that wants a session.
const sessionless = "session_id is not supported by the embedded ClickHouse: each request is a session of its own; give settings with the request"

// parseRequest reads the URL and the headers.
func parseRequest(r *http.Request) (*request, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, &exception{code: codeBadArguments, text: "the URL's parameters cannot be read: " + err.Error()}
	}
	req := &request{
		query:    values.Get("query"),
		database: strings.Trim(r.URL.Path, "/"),
		format:   "TabSeparated",
		readOnly: r.Method == http.MethodGet || r.Method == http.MethodHead,
	}
	first := func(candidates ...string) string {
		for _, c := range candidates {
			if c != "" {
				return c
			}
		}
		return ""
	}
	req.database = first(values.Get("database"), r.Header.Get("X-ClickHouse-Database"), req.database)
	req.format = first(r.Header.Get("X-ClickHouse-Format"), values.Get("default_format"), req.format)
	req.queryID = first(values.Get("query_id"), r.Header.Get("X-ClickHouse-Query-Id"), uuid.NewString())
	if values.Get("session_id") != "" {
		return nil, &exception{code: codeNotImplemented, text: sessionless}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if err := req.parameter(name, values.Get(name)); err != nil {
			return nil, err
		}
	}
	return req, nil
}

// parameter takes one URL parameter; what is none of the interface's own is one
// of ClickHouse's settings.
func (req *request) parameter(name, value string) error {
	switch name {
	case "query", "database", "default_format", "query_id", "session_id":
	case "client_protocol_version":
		if _, err := fmt.Sscanf(value, "%d", &req.revision); err != nil {
			return &exception{code: codeBadArguments, text: fmt.Sprintf("client_protocol_version is %q, which is no number", value)}
		}
	case "compress":
		req.framed = truthy(value)
	case "decompress":
		req.unframe = truthy(value)
	case "enable_http_compression":
		req.encode = truthy(value)
	case "wait_end_of_query":
		req.wait = truthy(value)
	default:
		if param, ok := strings.CutPrefix(name, "param_"); ok {
			req.params = append(req.params, chdb.Param{Name: param, Value: value})
			return nil
		}
		if slices.Contains(ignored, name) {
			return nil
		}
		if statement.RefusedSetting(name) {
			return &exception{code: codeAccessDenied, text: "the embedded ClickHouse refuses the setting " + name + ": it names a file or a host, or switches on what is refused"}
		}
		if name == "network_compression_method" {
			req.frameZSTD = strings.EqualFold(value, "ZSTD")
		}
		req.settings = append(req.settings, engine.Setting{Name: name, Value: value})
	}
	return nil
}

func truthy(s string) bool { return s != "" && s != "0" && !strings.EqualFold(s, "false") }
