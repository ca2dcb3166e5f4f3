package e2e

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// What the collector asks of ClickHouse, as far as kills aim at it.
const (
	askInsert = "insert"    // records
	askMark   = "mark"      // which slices were written
	askBeat   = "heartbeat" // the collector's word that all before it is stored
	askSeal   = "seal"      // a statement of a seal
)

// crashProxy stands between collector and ClickHouse and knows what is under
// way, so that a kill can be aimed within an insert or a seal, and so that a
// kill counts only when the answer had not come.
type crashProxy struct {
	*httptest.Server
	target string
	client *http.Client

	mu       sync.Mutex
	armed    string        // what the next kill aims at
	skip     int           // so many statements of a seal are let by
	reached  chan *request // gets the request that it meets
	done     map[string]int
	duration map[string]time.Duration // of the last one of its kind
}

// request is one that the collector made.
type request struct {
	kind     string
	mu       sync.Mutex
	answered bool
}

func (r *request) wasAnswered() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.answered
}

func newCrashProxy(t testing.TB, target string) *crashProxy {
	p := &crashProxy{
		target: target, client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
		done: make(map[string]int), duration: make(map[string]time.Duration),
	}
	p.Server = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(func() {
		p.CloseClientConnections()
		p.Close()
	})
	return p
}

func (p *crashProxy) address() string { return strings.TrimPrefix(p.URL, "http://") }

// kindOf tells what a statement is.
func kindOf(query, body string) string {
	text := query + body[:min(len(body), 1000)]
	switch {
	case strings.Contains(text, "INSERT INTO soakgate.records "):
		return askInsert
	case strings.Contains(text, "collector_heartbeats (") && strings.Contains(text, "INSERT"):
		return askBeat
	case strings.Contains(text, "INSERT INTO soakgate.slice_writes (") && strings.Contains(text, "VALUES"):
		return askMark
	case strings.Contains(text, "INSERT INTO soakgate.") || strings.Contains(text, "CREATE TABLE soakgate.sealing_"):
		return askSeal
	}
	return ""
}

// arm has the next request of a kind reported; of a seal's, one after so many
// others, since a seal begins with the same one each time.
func (p *crashProxy) arm(kind string, skip int) <-chan *request {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed, p.skip, p.reached = kind, skip, make(chan *request, 1)
	if kind != askSeal {
		p.skip = 0
	}
	return p.reached
}

// usual is how long a request of a kind takes.
func (p *crashProxy) usual(kind string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(p.duration[kind], time.Millisecond)
}

// finished counts the requests of a kind that ClickHouse answered well.
func (p *crashProxy) finished(kind string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done[kind]
}

func (p *crashProxy) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the collector was killed
	}
	asked := &request{kind: kindOf(r.URL.Query().Get("query"), string(body))}
	onward, err := http.NewRequestWithContext(r.Context(), r.Method, "http://"+p.target+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	onward.Header = r.Header.Clone()
	p.meet(asked)
	started := time.Now()
	answer, err := p.client.Do(onward)
	if err != nil {
		cut(w)
		return
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		cut(w)
		return
	}
	asked.mu.Lock()
	asked.answered = true
	asked.mu.Unlock()
	if answer.StatusCode == http.StatusOK {
		p.mu.Lock()
		p.done[asked.kind]++
		p.duration[asked.kind] = time.Since(started)
		p.mu.Unlock()
	}
	maps.Copy(w.Header(), answer.Header)
	w.WriteHeader(answer.StatusCode)
	_, _ = w.Write(text) // the collector may be gone
}

// meet reports a request that a kill waits for.
func (p *crashProxy) meet(asked *request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.armed == "" || p.armed != asked.kind {
		return
	}
	if p.skip > 0 {
		p.skip--
		return
	}
	p.reached <- asked
	p.armed = ""
}

// cut closes the connection instead of answering.
func cut(w http.ResponseWriter) {
	if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
		conn.Close()
	}
}
