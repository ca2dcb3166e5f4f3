package soakgateexporter

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/soakgate/soakgate/internal/classify"
	"github.com/soakgate/soakgate/internal/ingest"
	"github.com/soakgate/soakgate/internal/store"
	"github.com/soakgate/soakgate/internal/store/journal"
	"github.com/soakgate/soakgate/internal/store/native"
)

// session is the scratch space in which a request is judged: 80 columns, reused,
// which would otherwise be most of what a request allocates.
type session struct {
	instance *instance
	walker   *ingest.Walker
	batch    *classify.Batch
	columns  *store.Columns
	place    store.Place
	request  *request
}

// request is what judging leaves of a request, and what is known of it while it
// waits for the disk. That is small, so the session goes to the next request
// while its memory is still in the processor's cache.
type request struct {
	received          time.Time
	records, rejected frame
	counts            counts
	answer            answer
}

// frame is the packed block of a journal frame.
type frame struct {
	rows  int
	block []byte
}

// counts are what one request adds to the metrics once it is acknowledged.
type counts struct {
	observations []observations
	violations   map[classify.Rule]int64
	ignored      map[ingest.Reason]int64
}

// observations are how many had these labels. A request has few combinations.
type observations struct {
	labels observationLabels
	n      int64
}

func (c *counts) observe(l observationLabels) {
	for i := range c.observations {
		if c.observations[i].labels == l {
			c.observations[i].n++
			return
		}
	}
	c.observations = append(c.observations, observations{l, 1})
}

type observationLabels struct {
	family classify.Family
	shape  classify.Shape
	valid  bool
}

func newSession(i *instance) *session {
	s := &session{
		instance: i,
		batch:    classify.NewBatch(i.classifier),
		columns:  store.NewColumns(),
	}
	s.walker = ingest.NewWalker(i.config.PayloadAttributes, s.observe, s.ignore)
	return s
}

func (s *session) reset(r *request) {
	s.request = r
	s.batch.Reset(r.received, uuid.New())
	s.columns.Reset()
	s.place.JournalID = s.instance.journalID()
}

func newRequest() *request {
	return &request{counts: counts{
		violations: make(map[classify.Rule]int64),
		ignored:    make(map[ingest.Reason]int64),
	}}
}

func (r *request) reset(received time.Time) {
	r.received = received
	r.counts.observations = r.counts.observations[:0]
	clear(r.counts.violations)
	clear(r.counts.ignored)
	r.answer.reset()
}

func (s *session) observe(o *classify.Observation) {
	if !s.batch.Classify(o, s.keep) {
		s.ignore(ingest.ReasonNotOurs)
	}
}

func (s *session) keep(r *classify.Record) {
	s.place.Seq = s.instance.seq.Add(1)
	if !s.request.answer.take(r, s.place) {
		s.columns.Append(r, s.place)
	}
	counts := &s.request.counts
	counts.observe(observationLabels{r.Family, r.Shape, r.Valid})
	for i := range r.Violations {
		counts.violations[r.Violations[i].Rule]++
	}
}

func (s *session) ignore(reason ingest.Reason) { s.request.counts.ignored[reason]++ }

// pack leaves the request its frames.
func (s *session) pack() error {
	r := s.request
	if err := r.records.fill(&s.columns.Block); err != nil {
		return err
	}
	if q := r.answer.quarantine; q != nil {
		return r.rejected.fill(&q.Block)
	}
	return nil
}

func (f *frame) fill(b *native.Block) (err error) {
	if f.rows = b.Rows(); f.rows > 0 {
		f.block, err = b.AppendPacked(f.block[:0])
	}
	return err
}

// ConsumeLogs judges the records of a request and returns when they are on disk.
func (i *instance) ConsumeLogs(ctx context.Context, logs plog.Logs) error {
	return i.consume(ctx, logs.LogRecordCount(), func(s *session) { s.walker.Logs(logs) })
}

// ConsumeTraces does for spans what ConsumeLogs does for log records.
func (i *instance) ConsumeTraces(ctx context.Context, traces ptrace.Traces) error {
	return i.consume(ctx, traces.SpanCount(), func(s *session) { s.walker.Traces(traces) })
}

func (i *instance) consume(ctx context.Context, seen int, walk func(*session)) error {
	if i.journal == nil {
		return errors.New("the soakgate exporter has not been started")
	}
	received, end := i.inflight.begin()
	defer end()
	r := i.requests.Get().(*request)
	defer i.requests.Put(r)
	r.reset(received)
	r.answer.begin(ctx, seen)
	if err := i.classify(r, walk); err != nil {
		return i.refuse(err)
	}
	if err := i.keep(ctx, r); err != nil {
		return i.refuse(err)
	}
	r.answer.deliver()
	i.metrics.consumed(ctx, &r.counts)
	for _, n := range r.counts.ignored {
		i.books.ignored.Add(uint64(n))
	}
	return nil
}

// classify judges a request, as many at once as there are processors: with more,
// each would find the cache full of the others', and cost a tenth more.
func (i *instance) classify(r *request, walk func(*session)) error {
	i.judging <- struct{}{}
	defer func() { <-i.judging }()
	s := i.sessions.Get().(*session)
	defer i.sessions.Put(s)
	s.reset(r)
	walk(s)
	return s.pack()
}

// keep puts the request's records into the journal, and those that are rejected
// in a frame of their own. When only the first gets in, the sender repeats the
// whole request, and records count once by their id.
func (i *instance) keep(ctx context.Context, r *request) error {
	if err := i.append(ctx, r.received, store.KindRecords, r.records); err != nil {
		return err
	}
	return i.append(ctx, r.received, store.KindRejected, r.rejected)
}

func (i *instance) append(ctx context.Context, received time.Time, kind uint16, f frame) error {
	if f.rows == 0 {
		return nil
	}
	i.books.changing.RLock()
	defer i.books.changing.RUnlock()
	// A sender that goes away must not leave open whether its records are on disk;
	// the journal bounds the wait by itself.
	_, err := i.journal.Append(context.WithoutCancel(ctx), journal.Frame{
		Arrival: received,
		Kind:    kind,
		Rows:    uint32(f.rows),
		Payload: f.block,
	})
	if err == nil {
		i.books.accepted.Add(uint64(f.rows))
	}
	return err
}

// refuse turns a failed append into the answer that tells a sender what to do:
// to come back after a while (RESOURCE_EXHAUSTED or UNAVAILABLE with RetryInfo;
// over HTTP 429 or 503 with Retry-After), or to send less at a time.
func (i *instance) refuse(err error) error {
	i.books.refused.Add(1)
	var refused *journal.AppendError
	switch {
	case errors.As(err, &refused):
		i.metrics.refused(string(refused.Reason))
		code := codes.Unavailable
		if errors.Is(err, journal.ErrFull) || errors.Is(err, journal.ErrBusy) {
			code = codes.ResourceExhausted
		}
		return retryable(code, err, refused.RetryAfter)
	case errors.Is(err, journal.ErrTooLarge):
		i.metrics.refused("too_large")
		return consumererror.NewPermanent(status.Error(codes.InvalidArgument, err.Error()+": send fewer records in one request"))
	case errors.Is(err, journal.ErrClosed):
		i.metrics.refused("closed")
		return retryable(codes.Unavailable, err, time.Second)
	}
	i.metrics.refused("other")
	return retryable(codes.Unavailable, err, time.Second)
}

func retryable(code codes.Code, err error, after time.Duration) error {
	// Whole seconds, and at least one: HTTP's Retry-After knows no less.
	after = max(after.Round(time.Second), time.Second)
	st, detailErr := status.New(code, err.Error()).WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(after)})
	if detailErr != nil {
		return status.Error(code, err.Error())
	}
	return st.Err()
}

// inflight knows the requests that have arrived and are not yet on disk: a
// heartbeat vouches for nothing that arrived after the oldest of them. It gives
// the times of arrival itself, since one that was taken before the heartbeat
// looked, and told after, would be vouched for; and none before what was vouched
// for, though the clock be set back.
type inflight struct {
	clock func() time.Time // time.Now, but in tests

	mu       sync.Mutex
	next     uint64
	arrivals map[uint64]time.Time
	vouched  time.Time
}

// begin notes a request and tells its arrival, to the millisecond, as it is
// stored; the function returned ends it.
func (f *inflight) begin() (arrived time.Time, end func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.arrivals == nil {
		f.arrivals = make(map[uint64]time.Time)
	}
	arrived = f.now()
	token := f.next
	f.next++
	f.arrivals[token] = arrived
	return arrived, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.arrivals, token)
	}
}

// oldest is the arrival of the oldest request under way, or now.
func (f *inflight) oldest() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	oldest := f.now()
	for _, t := range f.arrivals {
		if t.Before(oldest) {
			oldest = t
		}
	}
	f.vouched = oldest
	return oldest
}

func (f *inflight) now() time.Time {
	clock := f.clock
	if clock == nil {
		clock = time.Now
	}
	now := clock().Round(0).Truncate(time.Millisecond) // without the monotonic reading
	if now.Before(f.vouched) {
		return f.vouched
	}
	return now
}
