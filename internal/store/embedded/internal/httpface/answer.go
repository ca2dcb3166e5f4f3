package httpface

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/soakgate/soakgate/internal/store/embedded/internal/chdb"
	"github.com/soakgate/soakgate/internal/store/embedded/internal/engine"
)

const (
	// holdBack is how much of an answer is held before its headers go out, so
	// that a query that fails early fails with its own status.
	holdBack = 1 << 20
	// maxWait is how much wait_end_of_query=1 may hold.
	maxWait = 64 << 20
	// flushEvery is how much goes out between two flushes.
	flushEvery = 1 << 20
)

// answer writes one response.
type answer struct {
	w       http.ResponseWriter
	req     *request
	encoded string // the Content-Encoding, empty for none
	held    []byte
	sink    io.Writer // where the answer goes once its headers are out
	closers []io.Closer
	unsent  int
	tag     string
}

func newAnswer(w http.ResponseWriter, r *http.Request, req *request, info engine.Info) *answer {
	a := &answer{w: w, req: req, tag: newTag()}
	if req.encode && !req.framed {
		a.encoded = chooseEncoding(r.Header.Get("Accept-Encoding"))
	}
	head := w.Header()
	head.Set("X-ClickHouse-Server-Display-Name", engine.DisplayName)
	head.Set("X-ClickHouse-Timezone", info.Timezone)
	if req.queryID != "" {
		head.Set("X-ClickHouse-Query-Id", req.queryID)
	}
	return a
}

// newTag makes the mark by which a client tells an exception in the middle of an
// answer from data that looks like one.
func newTag() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // crypto/rand does not fail: it ends the process instead
	return hex.EncodeToString(b[:])
}

// contentTypes are ClickHouse's; other text is plain.
var contentTypes = map[string]string{
	"tabseparated": "text/tab-separated-values; charset=UTF-8", "tsv": "text/tab-separated-values; charset=UTF-8",
	"tabseparatedwithnames": "text/tab-separated-values; charset=UTF-8", "tabseparatedwithnamesandtypes": "text/tab-separated-values; charset=UTF-8",
	"csv": "text/csv; charset=UTF-8; header=absent", "csvwithnames": "text/csv; charset=UTF-8; header=present",
	"json": "application/json; charset=UTF-8", "jsoncompact": "application/json; charset=UTF-8", "jsonstrings": "application/json; charset=UTF-8",
	"jsoneachrow": "application/x-ndjson; charset=UTF-8", "ndjson": "application/x-ndjson; charset=UTF-8",
	"xml": "application/xml; charset=UTF-8", "native": "application/octet-stream", "rowbinary": "application/octet-stream",
	"rowbinarywithnames": "application/octet-stream", "rowbinarywithnamesandtypes": "application/octet-stream",
	"parquet": "application/octet-stream", "arrow": "application/octet-stream", "arrowstream": "application/octet-stream",
}

// begin names the answer's format.
func (a *answer) begin(format string) {
	a.w.Header().Set("X-ClickHouse-Format", format)
	kind := contentTypes[strings.ToLower(format)]
	if kind == "" {
		kind = "text/plain; charset=UTF-8"
	}
	a.w.Header().Set("Content-Type", kind)
}

// write adds to the answer; it does not keep p.
func (a *answer) write(p []byte) error {
	if a.sink == nil {
		if a.req.wait && len(a.held)+len(p) > maxWait {
			return &exception{code: codeTooManyBytes, text: "the answer is larger than wait_end_of_query=1 may hold here (64 MiB); ask without it"}
		}
		if a.req.wait || len(a.held)+len(p) <= holdBack {
			a.held = append(a.held, p...)
			return nil
		}
		if err := a.start(); err != nil {
			return err
		}
	}
	for piece := range slices.Chunk(p, flushEvery) {
		if _, err := a.sink.Write(piece); err != nil {
			return err
		}
		if a.unsent += len(piece); a.unsent >= flushEvery {
			a.unsent = 0
			_ = http.NewResponseController(a.w).Flush() // the next write meets a client that has gone
		}
	}
	return nil
}

// start sends the headers and what was held.
func (a *answer) start() error {
	a.w.Header().Set("X-ClickHouse-Exception-Tag", a.tag)
	a.sink = a.w
	if a.encoded != "" {
		a.w.Header().Set("Content-Encoding", a.encoded)
		enc, err := newEncoder(a.encoded, a.w)
		if err != nil {
			return err
		}
		a.sink, a.closers = enc, append(a.closers, enc)
	}
	if a.req.framed {
		a.sink = newFrameWriter(a.sink, a.req.frameZSTD)
	}
	held := a.held
	a.held = nil
	if len(held) == 0 {
		return nil
	}
	_, err := a.sink.Write(held)
	return err
}

// end completes an answer. The summary is exact when the headers are still here,
// and zero in a longer answer, as in ClickHouse.
func (a *answer) end(stats chdb.Stats) error {
	if a.sink == nil {
		a.w.Header().Set("X-ClickHouse-Summary", summary(stats))
		if a.encoded == "" && !a.req.framed {
			a.w.Header().Set("Content-Length", strconv.Itoa(len(a.held)))
		}
		if len(a.held) == 0 {
			a.encoded = "" // an empty answer has no encoded form that clients expect
		}
		if err := a.start(); err != nil {
			return err
		}
	}
	for _, c := range a.closers {
		if err := c.Close(); err != nil {
			return err
		}
	}
	return nil
}

// summary is the value of X-ClickHouse-Summary; ClickHouse writes numbers as text.
func summary(s chdb.Stats) string {
	n := func(v uint64) string { return strconv.FormatUint(v, 10) }
	out, err := json.Marshal(struct {
		ReadRows        string `json:"read_rows"`
		ReadBytes       string `json:"read_bytes"`
		WrittenRows     string `json:"written_rows"`
		WrittenBytes    string `json:"written_bytes"`
		TotalRowsToRead string `json:"total_rows_to_read"`
		ResultRows      string `json:"result_rows"`
		ResultBytes     string `json:"result_bytes"`
		ElapsedNS       string `json:"elapsed_ns"`
	}{n(s.ReadRows), n(s.ReadBytes), n(s.WrittenRows), n(s.WrittenBytes), "0", n(s.ResultRows), n(s.ResultBytes), n(uint64(s.Elapsed * 1e9))})
	if err != nil {
		return "{}" // a struct of strings always encodes
	}
	return string(out)
}

// fail reports an exception: as the response while nothing has gone out, else
// as ClickHouse's exception block behind the data, with the response left
// incomplete so that no client takes it for whole.
func (a *answer) fail(code int, text string) {
	if a.sink == nil {
		head := a.w.Header()
		head.Set("X-ClickHouse-Exception-Code", strconv.Itoa(code))
		head.Set("Content-Type", "text/plain; charset=UTF-8")
		head.Del("Content-Encoding")
		a.w.WriteHeader(status(code))
		_, _ = io.WriteString(a.w, text+"\n") //nolint:gosec // plain text to a loopback client; one that has gone needs no answer
		return
	}
	block := "\r\n__exception__\r\n" + a.tag + "\r\n" + text + "\n" + strconv.Itoa(len(text)+1) + " " + a.tag + "\r\n__exception__\r\n"
	to := a.sink
	if a.req.framed {
		to = a.w // a client looks for the block in the bytes as they came
	}
	_, _ = io.WriteString(to, block)
	for _, c := range a.closers {
		_ = c.Close()
	}
	_ = http.NewResponseController(a.w).Flush()
	panic(http.ErrAbortHandler)
}
