package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/classify"
	"github.com/soakgate/soakgate/internal/store/journal"
)

// queue is a journal in memory: frames, and how far they were committed.
type queue struct {
	mu        sync.Mutex
	frames    []journal.Frame
	next      int
	committed uint64
	more      chan struct{}
}

func newQueue() *queue { return &queue{more: make(chan struct{}, 1)} }

func (q *queue) push(f journal.Frame) {
	q.mu.Lock()
	defer q.mu.Unlock()
	f.Seq = uint64(len(q.frames) + 1)
	q.frames = append(q.frames, f)
	select {
	case q.more <- struct{}{}:
	default:
	}
}

func (q *queue) Next(ctx context.Context) (journal.Frame, error) {
	for {
		q.mu.Lock()
		if q.next < len(q.frames) {
			f := q.frames[q.next]
			q.next++
			q.mu.Unlock()
			return f, nil
		}
		q.mu.Unlock()
		select {
		case <-ctx.Done():
			return journal.Frame{}, ctx.Err()
		case <-q.more:
		}
	}
}

func (q *queue) Commit(seq uint64) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.committed = seq
	return nil
}

func (q *queue) done() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.committed == uint64(len(q.frames))
}

// frame is a request of n records that arrived at a time.
func frame(f *feed, arrival time.Time, tools ...string) journal.Frame {
	observations := make([]classify.Observation, len(tools))
	for i, tool := range tools {
		observations[i] = event(classify.EventToolCall, "", arrival.Add(-time.Second), 0)
		observations[i].Tool = tool
	}
	return frameOf(f, arrival, f.block(arrival, observations...), len(tools))
}

func frameOf(f *feed, arrival time.Time, block []byte, rows int) journal.Frame {
	return journal.Frame{
		Journal: journal.ID(f.journal), Arrival: arrival, Kind: KindRecords,
		Rows: uint32(rows), Payload: block,
	}
}

// through puts a handler between the store and ClickHouse's inserts.
func through(t *testing.T, s *Store, fault func(w http.ResponseWriter, r *http.Request, onward http.Handler)) {
	t.Helper()
	target, err := url.Parse("http://" + s.inserter.base.Host)
	require.NoError(t, err)
	onward := httputil.NewSingleHostReverseProxy(target)
	onward.ErrorLog = log.New(io.Discard, "", 0) // faults are meant
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fault(w, r, onward) }))
	t.Cleanup(proxy.Close)
	s.inserter.base.Host = strings.TrimPrefix(proxy.URL, "http://")
}

// runWriter runs a writer until the queue is done.
func runWriter(t *testing.T, w *Writer, q *queue) {
	t.Helper()
	runWriterUntil(t, w, q.done)
}

func runWriterUntil(t *testing.T, w *Writer, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	require.Eventually(t, done, time.Minute, 5*time.Millisecond)
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
}

func newWriter(t *testing.T, s *Store, q *queue, o WriterOptions) *Writer {
	t.Helper()
	if o.Limits == (Limits{}) {
		o.Limits = Limits{Rows: 1000, Bytes: 1 << 20, Age: 5 * time.Millisecond}
	}
	w, err := NewWriter(s, q, o)
	require.NoError(t, err)
	w.pace = pace{first: time.Millisecond, last: 5 * time.Millisecond, parked: time.Millisecond, timeout: 10 * time.Second}
	return w
}

func TestWriterIsExactThroughFaults(t *testing.T) {
	cut := func(w http.ResponseWriter) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			conn.Close()
		}
	}
	for _, tt := range []struct {
		name  string
		fault func(n int64, w http.ResponseWriter, r *http.Request, onward http.Handler)
	}{
		{"cut before the insert", func(n int64, w http.ResponseWriter, r *http.Request, onward http.Handler) {
			if n%2 == 1 {
				cut(w)
				return
			}
			onward.ServeHTTP(w, r)
		}},
		{"cut within the insert", func(n int64, w http.ResponseWriter, r *http.Request, onward http.Handler) {
			if n%2 == 1 {
				r.Body = io.NopCloser(io.MultiReader(io.LimitReader(r.Body, 700), failingReader{}))
			}
			onward.ServeHTTP(w, r)
		}},
		{"reply lost", func(n int64, w http.ResponseWriter, r *http.Request, onward http.Handler) {
			onward.ServeHTTP(httptest.NewRecorder(), r)
			if n%3 != 0 {
				cut(w)
			}
		}},
		{"reply delayed past the timeout", func(n int64, w http.ResponseWriter, r *http.Request, onward http.Handler) {
			kept := httptest.NewRecorder()
			onward.ServeHTTP(kept, r)
			if n%4 == 1 {
				<-r.Context().Done()
				return
			}
			w.WriteHeader(kept.Code)
		}},
		{"half open: taken, and never answered", func(n int64, w http.ResponseWriter, r *http.Request, onward http.Handler) {
			if n%4 == 1 {
				_, _ = io.Copy(io.Discard, r.Body)
				<-r.Context().Done()
				return
			}
			onward.ServeHTTP(w, r)
		}},
		{"too many parts", func(n int64, w http.ResponseWriter, r *http.Request, onward http.Handler) {
			if n%2 == 1 {
				w.Header().Set("X-ClickHouse-Exception-Code", "252")
				http.Error(w, "Code: 252. DB::Exception: Too many parts", http.StatusInternalServerError)
				return
			}
			onward.ServeHTTP(w, r)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := testStore(t)
			f, q := newFeed(t, s), newQueue()
			var n atomic.Int64
			through(t, s, func(w http.ResponseWriter, r *http.Request, onward http.Handler) {
				tt.fault(n.Add(1), w, r, onward)
			})
			var failures, inserted int
			w := newWriter(t, s, q, WriterOptions{
				Limits:   Limits{Rows: 30, Bytes: 1 << 20, Age: 5 * time.Millisecond},
				Failed:   func(error, time.Duration) { failures++ },
				Inserted: func(rows, _ int, _ time.Duration) { inserted += rows },
			})
			if strings.HasPrefix(tt.name, "reply delayed") || strings.HasPrefix(tt.name, "half open") {
				w.pace.timeout = 300 * time.Millisecond
			}
			want := 0
			for i := range 20 {
				tools := make([]string, 1+i%7)
				for j := range tools {
					tools[j] = fmt.Sprint(i, "-", j)
				}
				want += len(tools)
				q.push(frame(f, at(10, i%3, i), tools...))
			}
			runWriter(t, w, q)
			assert.Positive(t, failures, "the fault was met")
			assert.Equal(t, want, inserted)
			assert.Equal(t, want, count(t, s, "uniqExact(record_id) FROM DB.records"))
			assert.Equal(t, want, count(t, s, "count() FROM DB.records_unique"))
			assert.Equal(t, 3, seal(t, s))
			assert.Equal(t, want, count(t, s, "sum(calls) FROM DB.calls_by_minute_unique"))
		})
	}
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errors.New("the connection was cut") }

func TestValueErrorsAreSplitToTheRecord(t *testing.T) {
	s := testStore(t)
	f, q := newFeed(t, s), newQueue()
	require.NoError(t, s.conn.Exec(t.Context(), "ALTER TABLE "+s.database+".records ADD CONSTRAINT good CHECK tool NOT LIKE 'bad%'"))
	var inserted, rejected int
	w := newWriter(t, s, q, WriterOptions{Inserted: func(rows, refused int, _ time.Duration) { inserted += rows; rejected += refused }})
	q.push(frame(f, at(10, 0, 0), "a", "bad1", "c"))
	q.push(frame(f, at(10, 1, 0), "d"))
	q.push(frame(f, at(10, 2, 0), "bad2"))
	runWriter(t, w, q)
	assert.Equal(t, []int{3, 2}, []int{inserted, rejected})
	assert.Equal(t, 3, count(t, s, "count() FROM DB.records_unique"))
	rows := ask(t, s, "SELECT server, reason, state, detail LIKE '%VIOLATED_CONSTRAINT%' AS told FROM DB.rejected_records FINAL")
	assert.Len(t, rows, 2)
	for _, r := range rows {
		assert.Equal(t, map[string]any{"server": "amazon_sp_mcp", "reason": "store", "state": "open", "told": 1.0}, r)
	}
}

func TestUnknownRefusalsAreParked(t *testing.T) {
	s := testStore(t)
	f, q := newFeed(t, s), newQueue()
	dir := t.TempDir()
	alter := func(what string) {
		require.NoError(t, s.conn.Exec(t.Context(), "ALTER TABLE "+s.database+".records "+what))
	}
	alter("DROP COLUMN surface")
	var parkedBatches, inserted int
	options := WriterOptions{
		Limits: Limits{Rows: 1, Bytes: 1 << 20, Age: time.Millisecond}, Parking: dir,
		Parked:   func(_ error, batches, _ int) { parkedBatches = batches },
		Inserted: func(rows, _ int, _ time.Duration) { inserted += rows },
		Heartbeat: func(through time.Time, batches, records int) ([]byte, error) {
			return Heartbeat{JournalID: f.journal, At: at(11, 0, 0), InsertedThrough: through, ParkedBatches: uint64(batches), Parked: uint64(records)}.AppendPacked(nil)
		},
	}
	w := newWriter(t, s, q, options)
	q.push(frame(f, at(10, 5, 0), "a", "b"))
	beat, err := Heartbeat{JournalID: f.journal, At: at(10, 6, 0), InsertedThrough: at(10, 6, 0)}.AppendPacked(nil)
	require.NoError(t, err)
	q.push(journal.Frame{Journal: journal.ID(f.journal), Kind: KindHeartbeats, Arrival: at(10, 6, 0), Payload: beat})
	runWriter(t, w, q)
	require.Equal(t, 1, parkedBatches)
	assert.Equal(t, []map[string]any{{"through": at(10, 5, 0).Format("2006-01-02 15:04:05.000"), "parked_batches": 1.0, "parked_records": 2.0}},
		ask(t, s, "SELECT toString(inserted_through) AS through, parked_batches, parked_records FROM DB.collector_heartbeats FINAL"),
		"no heartbeat vouches for what is set aside")

	// A restart finds the batch, and stores it once the reason is gone.
	again := newWriter(t, s, q, options)
	assert.Equal(t, 2, again.ParkedRecords())
	alter("ADD COLUMN surface LowCardinality(String) AFTER contract_version")
	q.push(frame(f, at(10, 7, 0), "c"))
	runWriterUntil(t, again, func() bool {
		left, err := filepath.Glob(filepath.Join(dir, "*"))
		return err == nil && len(left) == 0 && q.done()
	})
	assert.Equal(t, 3, count(t, s, "count() FROM DB.records_unique"))
	assert.Equal(t, 3, inserted)
	assert.Zero(t, parkedBatches)
	assert.Equal(t, 2, seal(t, s), "the parked batch's slice is marked")
}

func TestDamagedParkedBatchIsNamed(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "1.parked")
	require.NoError(t, os.WriteFile(path, []byte("{\"form"), 0o600))
	_, err := NewWriter(nil, newQueue(), WriterOptions{Parking: dir})
	require.ErrorContains(t, err, path)
	require.NoError(t, os.WriteFile(path, []byte(`{"format":3,"slices":["2026-01-01T00:00:00Z"]}`+"\n"), 0o600))
	_, err = NewWriter(nil, newQueue(), WriterOptions{Parking: dir})
	require.ErrorContains(t, err, "newer than this release")
}

func TestFrameOfAnUnknownKindStopsTheWriter(t *testing.T) {
	s := testStore(t)
	q := newQueue()
	q.push(journal.Frame{Kind: 99, Payload: []byte("of a later release")})
	q.push(frame(newFeed(t, s), at(10, 0, 0), "a"))
	w := newWriter(t, s, q, WriterOptions{})
	for range 2 {
		require.ErrorContains(t, w.Run(t.Context()), "kind 99")
	}
	assert.Zero(t, q.committed, "nothing is passed over")
}

func TestSortFailure(t *testing.T) {
	refused := func(code int) error { return fmt.Errorf("x: %w", &InsertError{Code: code}) }
	for _, tt := range []struct {
		name string
		err  error
		want failure
	}{
		{"connection", errors.New("connection refused"), failurePassing},
		{"refused without a code", refused(0), failurePassing},
		{"too many parts", refused(252), failurePassing},
		{"keeper", refused(999), failurePassing},
		{"unknown status of insert", refused(319), failurePassing},
		{"constraint", refused(469), failureValue},
		{"type", refused(53), failureValue},
		{"missing column", refused(16), failureOther},
		{"missing table", refused(60), failureOther},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, sortFailure(tt.err)) })
	}
}
