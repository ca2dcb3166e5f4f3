package httpface_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/store/embedded/embeddedtest"
)

// face is a fresh database behind the interface.
type face struct {
	tb       testing.TB
	base     string // "http://127.0.0.1:PORT"
	database string
}

func newFace(tb testing.TB) *face {
	tb.Helper()
	u, err := url.Parse(embeddedtest.Start(tb))
	require.NoError(tb, err)
	return &face{tb: tb, base: "http://" + u.Host, database: strings.Trim(u.Path, "/")}
}

// call is one request; query is the URL's parameters as "a=b&c=d".
type call struct {
	method  string // POST when empty
	path    string // the database when empty
	query   url.Values
	headers map[string]string
	host    string
	body    string
}

// do sends a request with nothing that Go's client would add or decode.
func (f *face) do(c call) (*http.Response, string) {
	f.tb.Helper()
	if c.method == "" {
		c.method = http.MethodPost
	}
	if c.path == "" {
		c.path = "/" + f.database
	}
	req, err := http.NewRequestWithContext(f.tb.Context(), c.method, f.base+c.path+"?"+c.query.Encode(), strings.NewReader(c.body))
	require.NoError(f.tb, err)
	for k, v := range c.headers {
		req.Header.Set(k, v)
	}
	if c.host != "" {
		req.Host = c.host
	}
	client := &http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}
	resp, err := client.Do(req)
	require.NoError(f.tb, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(f.tb, err)
	return resp, string(body)
}

// ok runs a statement that must succeed and returns its answer.
func (f *face) ok(statement string) string {
	f.tb.Helper()
	resp, body := f.do(call{body: statement})
	require.Equal(f.tb, http.StatusOK, resp.StatusCode, "%s: %s", statement, body)
	return body
}

func params(kv ...string) url.Values {
	v := url.Values{}
	for i := 0; i < len(kv); i += 2 {
		v.Set(kv[i], kv[i+1])
	}
	return v
}

func TestQueriesAndWhereTheirPartsMayStand(t *testing.T) {
	f := newFace(t)
	f.ok("CREATE TABLE here (a UInt8) ENGINE = MergeTree ORDER BY a")
	f.ok("INSERT INTO here VALUES (7)")
	for _, tc := range []struct {
		name string
		call call
		want string
	}{
		{"ping", call{method: "GET", path: "/ping"}, "Ok.\n"},
		{"replicas", call{method: "GET", path: "/replicas_status"}, "Ok.\n"},
		{"root", call{method: "GET", path: "/"}, "Ok.\n"},
		{"body", call{body: "SELECT 1"}, "1\n"},
		{"URL", call{query: params("query", "SELECT 2")}, "2\n"},
		{"GET", call{method: "GET", query: params("query", "SELECT 3")}, "3\n"},
		{"URL and body joined", call{query: params("query", "SELECT"), body: "4"}, "4\n"},
		{"URL ends in a comment, body goes on", call{query: params("query", "SELECT 1 -- not the end"), body: "+ 4"}, "5\n"},
		{"semicolon at the end", call{body: "SELECT 6 ; \n -- done"}, "6\n"},
		{"database of the path", call{body: "SELECT a FROM here"}, "7\n"},
		{"database of the parameter", call{path: "/", query: params("database", f.database), body: "SELECT a FROM here"}, "7\n"},
		{"database of the header", call{path: "/", headers: map[string]string{"X-ClickHouse-Database": f.database}, body: "SELECT a FROM here"}, "7\n"},
		{"default format", call{query: params("default_format", "JSONEachRow"), body: "SELECT 1 AS x"}, "{\"x\":1}\n"},
		{"format header", call{query: params("default_format", "CSV"), headers: map[string]string{"X-ClickHouse-Format": "JSONEachRow"}, body: "SELECT 1 AS x"}, "{\"x\":1}\n"},
		{"format of the statement wins", call{query: params("default_format", "JSON"), body: "SELECT 'a' AS x FORMAT CSV"}, "\"a\"\n"},
		{"format and settings of the statement", call{body: "SELECT getSetting('max_threads') FORMAT CSV SETTINGS max_threads = 3"}, "3\n"},
		{"settings of the URL", call{query: params("max_threads", "3"), body: "SELECT getSetting('max_threads')"}, "3\n"},
		{"settings of the URL with GET", call{method: "GET", query: params("max_threads", "2", "query", "SELECT getSetting('max_threads')")}, "2\n"},
		{"parameter", call{query: params("param_n", "41", "param_s", "a'b\\\\c"), body: "SELECT {n:UInt8} + 1, {s:String}"}, "42\ta\\'b\\\\c\n"},
		{"parameter as identifier", call{query: params("param_t", "here"), body: "SELECT a FROM {t:Identifier}"}, "7\n"},
		{"credentials are ignored", call{query: params("user", "nobody", "password", "wrong"), headers: map[string]string{"X-ClickHouse-User": "u", "X-ClickHouse-Key": "k", "Authorization": "Basic eDp5"}, body: "SELECT 8"}, "8\n"},
		{"parameters of the interface are no settings", call{query: params("wait_end_of_query", "1", "buffer_size", "1000", "send_progress_in_http_headers", "1", "quota_key", "q"), body: "SELECT 9"}, "9\n"},
		{"no rows", call{body: "SELECT 1 WHERE 0"}, ""},
		{"show", call{body: "SHOW TABLES"}, "here\n"},
		{"exists", call{body: "EXISTS TABLE here"}, "1\n"},
		{"with", call{body: "WITH 5 AS x SELECT x"}, "5\n"},
		{"brackets", call{body: "(SELECT 1) UNION ALL (SELECT 1)"}, "1\n1\n"},
		{"totals stay in a piecewise format", call{body: "SELECT number % 2 AS k, count() FROM numbers(4) GROUP BY k WITH TOTALS ORDER BY k FORMAT TSV"}, "0\t2\n1\t2\n\n0\t4\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := &face{tb: t, base: f.base, database: f.database}
			resp, body := f.do(tc.call)
			require.Equal(t, http.StatusOK, resp.StatusCode, body)
			require.Equal(t, tc.want, body)
		})
	}
}

func TestHeadersOfAnAnswer(t *testing.T) {
	f := newFace(t)
	f.ok("CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a")
	resp, _ := f.do(call{query: params("query_id", "my-query"), body: "INSERT INTO t SELECT number FROM numbers(10)"})
	require.Equal(t, "my-query", resp.Header.Get("X-ClickHouse-Query-Id"))
	require.Equal(t, "soakgate", resp.Header.Get("X-ClickHouse-Server-Display-Name"))
	require.Equal(t, f.ok("SELECT timezone()"), resp.Header.Get("X-ClickHouse-Timezone")+"\n")
	var summary map[string]string
	require.NoError(t, json.Unmarshal([]byte(resp.Header.Get("X-ClickHouse-Summary")), &summary))
	require.Equal(t, "10", summary["written_rows"])
	require.Equal(t, "10", summary["read_rows"])

	resp, _ = f.do(call{body: "SELECT a FROM t FORMAT JSON"})
	require.Equal(t, "JSON", resp.Header.Get("X-ClickHouse-Format"))
	require.Equal(t, "application/json; charset=UTF-8", resp.Header.Get("Content-Type"))
	require.NoError(t, json.Unmarshal([]byte(resp.Header.Get("X-ClickHouse-Summary")), &summary))
	require.Equal(t, "10", summary["read_rows"])
	require.Equal(t, "10", summary["result_rows"])
	first := resp.Header.Get("X-ClickHouse-Query-Id")
	resp, _ = f.do(call{body: "SELECT 1"})
	require.NotEmpty(t, first)
	require.NotEqual(t, first, resp.Header.Get("X-ClickHouse-Query-Id"))
	require.Contains(t, f.ok("SELECT 1 FORMAT JSON"), `"rows": 1`)
}

func TestErrorsHaveClickHousesCodesAndStatuses(t *testing.T) {
	f := newFace(t)
	f.ok("CREATE TABLE t (a UInt8) ENGINE = MergeTree ORDER BY a")
	for _, tc := range []struct {
		name   string
		call   call
		status int
		code   string
		text   string
	}{
		{"syntax", call{body: "SELEC 1"}, 400, "62", "Syntax error"},
		{"empty", call{body: " -- nothing"}, 400, "62", "empty"},
		{"open quote", call{body: "SELECT 'a"}, 400, "62", "not closed"},
		{"unknown table", call{body: "SELECT * FROM nowhere"}, 404, "60", "nowhere"},
		{"unknown database", call{path: "/nowhere", body: "SELECT 1"}, 404, "81", "nowhere"},
		{"unknown function", call{body: "SELECT nosuch(1)"}, 404, "46", "nosuch"},
		{"unknown setting of the URL", call{query: params("nonesuch", "1"), body: "SELECT 1"}, 404, "115", "nonesuch"},
		{"unknown setting of DDL", call{query: params("nonesuch", "1"), body: "CREATE TABLE u (a UInt8) ENGINE = Memory"}, 404, "115", "nonesuch"},
		{"unknown setting of an insert", call{query: params("nonesuch", "1"), body: "INSERT INTO t FORMAT CSV\n1\n"}, 404, "115", "nonesuch"},
		{"unknown setting of the statement", call{body: "SELECT 1 SETTINGS nonesuch = 1"}, 404, "115", "nonesuch"},
		{"missing parameter", call{body: "SELECT {x:UInt8}"}, 500, "456", "x"},
		{"bad rows", call{body: "INSERT INTO t FORMAT CSV\nabc\n"}, 400, "117", "Expected end of line"},
		{"runtime", call{body: "SELECT throwIf(1)"}, 500, "395", "throwIf"},
		{"time limit", call{query: params("max_execution_time", "1"), body: "SELECT count() FROM numbers(1000000000000) WHERE NOT ignore(sipHash64(number))"}, 408, "159", "TIMEOUT_EXCEEDED"},
		{"memory limit", call{body: "SELECT groupArray(number) FROM numbers(1000000000)"}, 500, "241", "MEMORY_LIMIT_EXCEEDED"},
		{"session", call{query: params("session_id", "s"), body: "SELECT 1"}, 501, "48", "session"},
		{"external table", call{headers: map[string]string{"Content-Type": "multipart/form-data; boundary=x"}, body: "--x--"}, 501, "48", "multipart"},
		{"write with GET", call{method: "GET", query: params("query", "INSERT INTO t VALUES (1)")}, 500, "164", "readonly"},
		{"DDL with GET", call{method: "GET", query: params("query", "DROP TABLE t")}, 500, "164", "readonly"},
		{"readonly undone with GET", call{method: "GET", query: params("readonly", "0", "query", "DROP TABLE t")}, 500, "164", "readonly"},
		{"readonly undone in the statement", call{method: "GET", query: params("query", "INSERT INTO t SELECT 1 SETTINGS readonly = 0")}, 500, "164", "readonly"},
		{"unknown encoding", call{headers: map[string]string{"Content-Encoding": "rot13"}, body: "SELECT 1"}, 501, "48", "rot13"},
		{"body is not what its encoding says", call{headers: map[string]string{"Content-Encoding": "gzip"}, body: "SELECT 1"}, 500, "271", "gzip"},
		{"more than may be waited for", call{query: params("wait_end_of_query", "1"), body: "SELECT repeat('x', 1000) FROM numbers(200000) FORMAT TSV"}, 500, "396", "wait_end_of_query"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := &face{tb: t, base: f.base, database: f.database}
			resp, body := f.do(tc.call)
			require.Equal(t, tc.status, resp.StatusCode, body)
			require.Equal(t, tc.code, resp.Header.Get("X-ClickHouse-Exception-Code"), body)
			require.Contains(t, body, tc.text)
			require.True(t, strings.HasPrefix(body, "Code: "+tc.code+". DB::Exception: "), body)
		})
	}
	require.Equal(t, "0\n", f.ok("SELECT count() FROM t"))
}

func TestForeignRequestsAreRefused(t *testing.T) {
	f := newFace(t)
	for _, tc := range []struct {
		name   string
		call   call
		status int
	}{
		{"rebound name", call{host: "evil.example:8123", body: "SELECT 1"}, 403},
		{"rebound name on ping", call{method: "GET", path: "/ping", host: "evil.example"}, 403},
		{"address of the network", call{host: "192.168.1.1", body: "SELECT 1"}, 403},
		{"no name", call{host: ".", body: "SELECT 1"}, 403},
		{"another page", call{headers: map[string]string{"Origin": "https://evil.example"}, body: "SELECT 1"}, 403},
		{"a page without an origin", call{headers: map[string]string{"Origin": "null"}, body: "SELECT 1"}, 403},
		{"another site", call{headers: map[string]string{"Sec-Fetch-Site": "cross-site"}, body: "SELECT 1"}, 403},
		{"method", call{method: "DELETE", body: "SELECT 1"}, 405},
		{"path", call{path: "/a/b", body: "SELECT 1"}, 404},
		{"localhost", call{host: "localhost:8123", body: "SELECT 1"}, 200},
		{"upper case", call{host: "LOCALHOST", body: "SELECT 1"}, 200},
		{"IPv6", call{host: "[::1]:8123", body: "SELECT 1"}, 200},
		{"a page of this machine", call{headers: map[string]string{"Origin": "http://localhost:3000"}, body: "SELECT 1"}, 200},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := &face{tb: t, base: f.base, database: f.database}
			resp, body := f.do(tc.call)
			require.Equal(t, tc.status, resp.StatusCode, body)
		})
	}
}

// encoders make a body of each encoding.
func encoders(t *testing.T) map[string]func(string) string {
	t.Helper()
	with := func(newWriter func(io.Writer) io.WriteCloser) func(string) string {
		return func(s string) string {
			var b bytes.Buffer
			w := newWriter(&b)
			_, err := io.WriteString(w, s)
			require.NoError(t, err)
			require.NoError(t, w.Close())
			return b.String()
		}
	}
	return map[string]func(string) string{
		"gzip":    with(func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }),
		"deflate": with(func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }),
		"lz4":     with(func(w io.Writer) io.WriteCloser { return lz4.NewWriter(w) }),
		"br":      with(func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) }),
		"zstd": with(func(w io.Writer) io.WriteCloser {
			z, err := zstd.NewWriter(w)
			require.NoError(t, err)
			return z
		}),
	}
}

func decode(t *testing.T, encoding, s string) string {
	t.Helper()
	var r io.Reader = strings.NewReader(s)
	var err error
	switch encoding {
	case "gzip":
		r, err = gzip.NewReader(r)
	case "deflate":
		r, err = zlib.NewReader(r)
	case "lz4":
		r = lz4.NewReader(r)
	case "br":
		r = brotli.NewReader(r)
	case "zstd":
		r, err = zstd.NewReader(r)
	}
	require.NoError(t, err)
	out, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(out)
}

func TestEncodingsOfBodyAndAnswer(t *testing.T) {
	f := newFace(t)
	f.ok("CREATE TABLE t (e String, a UInt64) ENGINE = MergeTree ORDER BY a")
	for encoding, encode := range encoders(t) {
		t.Run(encoding, func(t *testing.T) {
			f := &face{tb: t, base: f.base, database: f.database}
			resp, body := f.do(call{headers: map[string]string{"Content-Encoding": encoding}, body: encode("INSERT INTO t FORMAT CSV\n\"" + encoding + "\",5\n")})
			require.Equal(t, 200, resp.StatusCode, body)
			require.Equal(t, "5\n", f.ok("SELECT a FROM t WHERE e = '"+encoding+"'"))
			for _, q := range []string{"SELECT 'answer'", "SELECT number FROM numbers(200000)"} {
				resp, body = f.do(call{query: params("enable_http_compression", "1"), headers: map[string]string{"Accept-Encoding": encoding}, body: q})
				require.Equal(t, encoding, resp.Header.Get("Content-Encoding"))
				require.Equal(t, f.ok(q), decode(t, encoding, body))
			}
			resp, body = f.do(call{query: params("enable_http_compression", "0"), headers: map[string]string{"Accept-Encoding": encoding}, body: "SELECT 1"})
			require.Empty(t, resp.Header.Get("Content-Encoding"))
			require.Equal(t, "1\n", body)
			resp, body = f.do(call{query: params("enable_http_compression", "1"), headers: map[string]string{"Accept-Encoding": encoding + ";q=0"}, body: "SELECT 1"})
			require.Empty(t, resp.Header.Get("Content-Encoding"), body)
		})
	}
}

// frames packs each part into one frame of ClickHouse's own compression.
func frames(t *testing.T, method compress.Method, parts ...string) string {
	t.Helper()
	var out strings.Builder
	w := compress.NewWriter(compress.LevelZero, method)
	for _, p := range parts {
		require.NoError(t, w.Compress([]byte(p)))
		out.Write(w.Data)
	}
	return out.String()
}

func TestClickHousesOwnFrames(t *testing.T) {
	f := newFace(t)
	f.ok("CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a")
	for _, method := range []compress.Method{compress.LZ4, compress.ZSTD, compress.None} {
		t.Run(method.String(), func(t *testing.T) {
			f := &face{tb: t, base: f.base, database: f.database}
			whole := frames(t, method, "1\n2", "2\n333\n")
			resp, body := f.do(call{query: params("query", "INSERT INTO t FORMAT TSV", "decompress", "1"), body: whole})
			require.Equal(t, 200, resp.StatusCode, body)
			require.Equal(t, "1\n22\n333\n", f.ok("SELECT a FROM t ORDER BY a"))
			f.ok("TRUNCATE TABLE t")

			last := len(frames(t, method, "2\n333\n"))
			for _, cut := range []int{1, last - 25, last - 24, last - 1, last + 1} {
				resp, body = f.do(call{query: params("query", "INSERT INTO t FORMAT TSV", "decompress", "1"), body: whole[:len(whole)-cut]})
				require.NotEqual(t, 200, resp.StatusCode, "cut by %d: %s", cut, body)
				require.Equal(t, "0\n", f.ok("SELECT count() FROM t"), "cut by %d", cut)
			}
			flipped := []byte(whole)
			flipped[len(flipped)-2] ^= 1
			resp, body = f.do(call{query: params("query", "INSERT INTO t FORMAT TSV", "decompress", "1"), body: string(flipped)})
			require.Equal(t, "271", resp.Header.Get("X-ClickHouse-Exception-Code"), body)
			require.Equal(t, "0\n", f.ok("SELECT count() FROM t"))

			query := params("compress", "1", "network_compression_method", strings.ToUpper(method.String()))
			if method == compress.None {
				query = params("compress", "1")
			}
			_, body = f.do(call{query: query, body: "SELECT number FROM numbers(200000)"})
			in := compress.NewReader(strings.NewReader(body))
			got := new(strings.Builder)
			_, err := io.Copy(got, in)
			require.ErrorIs(t, err, io.EOF)
			require.Equal(t, f.ok("SELECT number FROM numbers(200000)"), got.String())
		})
	}
}
