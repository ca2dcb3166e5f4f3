package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/soakgate/soakgate/internal/store/journal"
	"github.com/soakgate/soakgate/internal/store/native"
)

// Kinds of journal frames: which table a frame's packed block is for. A number is
// never given a second meaning, since older frames may still be on disk.
const (
	KindRecords    = kindPacked + kindRecords
	KindHeartbeats = kindPacked + kindHeartbeats
	KindRejected   = kindPacked + kindRejected

	// Without kindPacked a block is not packed, as earlier versions wrote them.
	kindPacked     uint16 = 3
	kindRecords    uint16 = 1
	kindHeartbeats uint16 = 2
	kindRejected   uint16 = 3
)

// Limits says when a batch is sent. A batch ends with whichever is met first.
type Limits struct {
	Rows  int
	Bytes int           // of blocks, unpacked
	Age   time.Duration // how long the first row waits
}

// DefaultLimits keep the parts that ClickHouse has to merge few: at most one
// insert every four seconds while little comes, and parts of a hundred thousand
// rows under load.
var DefaultLimits = Limits{Rows: 100_000, Bytes: 48 << 20, Age: 4 * time.Second}

// pace is how a writer tries again. Tests are faster.
type pace struct {
	first, last time.Duration // between tries of a batch, doubling, give or take a half
	parked      time.Duration // between tries of batches set aside
	// timeout bounds one try. The outcome of an insert that runs into it is
	// unknown, so the batch is sent again: records count once by their id.
	timeout time.Duration
}

var writerPace = pace{first: 200 * time.Millisecond, last: 10 * time.Second, parked: 30 * time.Second, timeout: 2 * time.Minute}

// frames is the journal as the writer needs it.
type frames interface {
	Next(ctx context.Context) (journal.Frame, error)
	Commit(seq uint64) error
}

// WriterOptions say how a writer works, and what it tells. The functions may be
// nil, but for Heartbeat where there is a Parking.
type WriterOptions struct {
	Limits  Limits
	Parking string // folder of batches set aside, "" for none
	// Books is held while the journal and the counts of what became of its records
	// change together; nil when nobody counts.
	Books sync.Locker

	// Heartbeat makes the heartbeat that stands in for those of the journal while
	// batches are set aside: it must not vouch for records after through.
	Heartbeat func(through time.Time, parkedBatches, parkedRecords int) ([]byte, error)
	Inserted  func(rows, rejected int, took time.Duration)
	Invalid   func(rows int)                      // records that break the contract are in rejected_records
	Failed    func(err error, wait time.Duration) // a try failed, the next comes after wait
	Parked    func(err error, batches, records int)
	Resumed   func() // the first try that succeeded after failures
}

// Writer brings frames from the journal to ClickHouse, at least once and in
// order: a batch whose outcome is unknown is sent again, and the journal gives
// up a frame only when ClickHouse has said that it is stored, or when its records
// are kept elsewhere: one by one in rejected_records when a value cannot be
// stored, or whole in a file when the reason is not known.
type Writer struct {
	store   *Store
	source  frames
	options WriterOptions
	parking *parking
	pace    pace
	retried time.Time // when a parked batch was last tried
	batch   batch
	stuck   error // the journal holds a frame that this release cannot store
}

// NewWriter makes a writer that reads from source.
func NewWriter(s *Store, source frames, options WriterOptions) (*Writer, error) {
	p, err := openParking(options.Parking)
	if err != nil {
		return nil, err
	}
	return &Writer{store: s, source: source, options: options, parking: p, pace: writerPace}, nil
}

// ParkedRecords is the number of records set aside, as far as is known.
func (w *Writer) ParkedRecords() int { return w.parking.rows() }

// batch is what the writer has taken from the journal and not yet stored.
type batch struct {
	journalID  journal.ID
	lastSeq    uint64
	frames     int
	rows       int
	size       int    // of records and rejected, unpacked
	records    []byte // packed blocks for the table records, one after the other
	heartbeats []byte
	slices     []time.Time // the slices of arrival of the records
	rejected   []byte      // packed blocks for the table rejected_records, not yet stored
	invalid    int         // rows of all those blocks, stored or not
}

func (b *batch) reset() {
	b.frames, b.rows, b.size, b.invalid = 0, 0, 0, 0
	b.records, b.heartbeats, b.slices, b.rejected = b.records[:0], b.heartbeats[:0], b.slices[:0], b.rejected[:0]
}

func (b *batch) add(f journal.Frame) (err error) {
	if f.Kind == 0 || f.Kind > kindPacked+kindRejected {
		return fmt.Errorf("journal frame %d is of kind %d, which this release does not know: run the release that wrote it", f.Seq, f.Kind)
	}
	blocks := f.Payload
	if f.Kind <= kindPacked {
		f.Kind += kindPacked
		if blocks, err = native.Pack(nil, blocks); err != nil {
			return err
		}
	}
	size, err := native.UnpackedSize(blocks)
	if err != nil {
		return fmt.Errorf("journal frame %d: %w", f.Seq, err)
	}
	switch f.Kind {
	case KindRecords:
		b.records = append(b.records, blocks...)
		b.size += size
		b.rows += int(f.Rows)
		if slice := f.Arrival.UTC().Truncate(Slice); !slices.Contains(b.slices, slice) {
			b.slices = append(b.slices, slice)
		}
	case KindHeartbeats:
		b.heartbeats = append(b.heartbeats, blocks...)
	case KindRejected:
		b.rejected = append(b.rejected, blocks...)
		b.size += size
		b.invalid += int(f.Rows)
	}
	// An adopted journal holds frames of an older id; the last one names the batch.
	b.journalID, b.lastSeq = f.Journal, f.Seq
	b.frames++
	return nil
}

// Run writes until the context ends, and returns its error. A batch that was
// not delivered by then is kept for the next Run or Drain.
func (w *Writer) Run(ctx context.Context) error {
	for {
		if err := w.collect(ctx); err != nil {
			return err
		}
		if err := w.deliver(ctx); err != nil {
			return err
		}
	}
}

// drainIdle is how long Drain waits for a further frame before it takes the
// journal for empty.
const drainIdle = 50 * time.Millisecond

// Drain writes what the journal holds now and returns when nothing is left, or
// when the context ends.
func (w *Writer) Drain(ctx context.Context) error {
	for {
		wait, cancel := context.WithTimeout(ctx, drainIdle)
		err := w.fill(ctx, wait)
		cancel()
		if err != nil {
			return err
		}
		if w.batch.frames == 0 {
			return nil
		}
		if err := w.deliver(ctx); err != nil {
			return err
		}
	}
}

// collect waits for a first frame and takes more until the batch is full or old.
func (w *Writer) collect(ctx context.Context) error {
	if w.batch.frames == 0 {
		if err := w.take(ctx); err != nil {
			return err
		}
	}
	wait, cancel := context.WithTimeout(ctx, w.options.Limits.Age)
	defer cancel()
	return w.fill(ctx, wait)
}

// take adds the journal's next frame to the batch. A frame that this release
// cannot store stops the writer for good: to pass over it would lose it.
func (w *Writer) take(ctx context.Context) error {
	if w.stuck != nil {
		return w.stuck
	}
	f, err := w.source.Next(ctx)
	if err != nil {
		return err
	}
	w.stuck = w.batch.add(f)
	return w.stuck
}

// fill takes frames until the batch is full, or wait ends and nothing is lost
// by it: a frame that Next did not return stays in the journal.
func (w *Writer) fill(ctx, wait context.Context) error {
	for w.batch.rows+w.batch.invalid < w.options.Limits.Rows && w.batch.size < w.options.Limits.Bytes {
		err := w.take(wait)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, context.DeadlineExceeded):
			return nil
		default:
			return err
		}
	}
	return nil
}

// triesBeforeParking is how often a batch is tried that ClickHouse refuses for
// an unknown reason: enough to outlast a restart or a migration under way.
const triesBeforeParking = 6

// deliver sends the batch until ClickHouse has it or it is set aside, then lets
// the journal forget it.
func (w *Writer) deliver(ctx context.Context) error {
	backoff := w.pace.first
	for tries := 1; ; tries++ {
		started := time.Now()
		rejected, err := w.send(ctx)
		if err == nil {
			return w.settle(ctx, func() { w.delivered(rejected, time.Since(started), tries > 1) })
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if tries >= triesBeforeParking && sortFailure(err) == failureOther && w.batch.mayPark() && !w.parking.full() {
			if err := w.parking.add(&w.batch, err); err != nil {
				return err
			}
			return w.settle(ctx, func() {
				w.tellParked(err)
				w.tellInvalid()
			})
		}
		wait := backoff/2 + rand.N(backoff)
		if w.options.Failed != nil {
			w.options.Failed(err, wait)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
		backoff = min(2*backoff, w.pace.last)
	}
}

// settle tells what became of the batch and lets the journal forget it, as one
// step to whoever looks at the books.
func (w *Writer) settle(ctx context.Context, tell func()) error {
	err := w.once(func() error {
		tell()
		return w.source.Commit(w.batch.lastSeq)
	})
	if err != nil {
		return err
	}
	w.batch.reset()
	return w.retryParked(ctx)
}

// once runs do while nobody looks at the books.
func (w *Writer) once(do func() error) error {
	if w.options.Books != nil {
		w.options.Books.Lock()
		defer w.options.Books.Unlock()
	}
	return do()
}

func (w *Writer) delivered(rejected int, took time.Duration, afterFailure bool) {
	if w.options.Inserted != nil {
		w.options.Inserted(w.batch.rows-rejected, rejected, took)
	}
	w.tellInvalid()
	if afterFailure && w.options.Resumed != nil {
		w.options.Resumed()
	}
}

func (w *Writer) tellInvalid() {
	if w.batch.invalid > 0 && w.options.Invalid != nil {
		w.options.Invalid(w.batch.invalid)
	}
}

func (w *Writer) tellParked(reason error) {
	if w.options.Parked != nil {
		w.options.Parked(reason, len(w.parking.files), w.parking.rows())
	}
}

// retryParked tries the oldest parked batch again, now and then. Its failure
// holds nothing up.
func (w *Writer) retryParked(ctx context.Context) error {
	if len(w.parking.files) == 0 || time.Since(w.retried) < w.pace.parked {
		return nil
	}
	w.retried = time.Now()
	for len(w.parking.files) > 0 {
		header, blocks, err := readParked(w.parking.files[0].path)
		if err != nil {
			return err
		}
		started := time.Now()
		rejected, err := w.insert(ctx, blocks, header.JournalID, header.Slices)
		if err != nil {
			return ctx.Err()
		}
		err = w.once(func() error {
			if err := w.parking.remove(0); err != nil {
				return err
			}
			if w.options.Inserted != nil {
				w.options.Inserted(header.Rows-rejected, rejected, time.Since(started))
			}
			w.tellParked(nil)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// mayPark tells whether a batch can be set aside: it holds records, and what
// else it holds is stored.
func (b *batch) mayPark() bool { return len(b.records) > 0 && len(b.rejected) == 0 }

// send tries once. A heartbeat vouches for the records before it, so it comes
// last; while records are set aside, another stands in that does not. Rejected
// records come first, since a batch is set aside without them.
func (w *Writer) send(ctx context.Context) (rejected int, err error) {
	b := &w.batch
	if err = w.quarantine(ctx); err != nil {
		return 0, err
	}
	if len(b.records) > 0 {
		if rejected, err = w.insert(ctx, b.records, uuid.UUID(b.journalID), b.slices); err != nil {
			return rejected, err
		}
	}
	heartbeats := b.heartbeats
	if len(heartbeats) > 0 && len(w.parking.files) > 0 {
		if heartbeats, err = w.options.Heartbeat(w.parking.oldest(), len(w.parking.files), w.parking.rows()); err != nil {
			return rejected, err
		}
	}
	if len(heartbeats) > 0 {
		ctx, cancel := context.WithTimeout(ctx, w.pace.timeout)
		defer cancel()
		err = w.store.inserter.insert(ctx, w.store.database+".collector_heartbeats", heartbeatColumns, heartbeats)
	}
	return rejected, err
}

// quarantine stores the batch's rejected records, once.
func (w *Writer) quarantine(ctx context.Context) error {
	b := &w.batch
	if len(b.rejected) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, w.pace.timeout)
	defer cancel()
	if err := w.store.inserter.insert(ctx, w.store.database+".rejected_records", rejectedBlockColumns, b.rejected); err != nil {
		return err
	}
	b.rejected = b.rejected[:0]
	return nil
}

// insert brings records in and marks their slices: only when the rows are there
// can a seal find them.
func (w *Writer) insert(ctx context.Context, blocks []byte, journalID uuid.UUID, slices []time.Time) (rejected int, err error) {
	ctx, cancel := context.WithTimeout(ctx, w.pace.timeout)
	defer cancel()
	if rejected, err = w.store.insertOrReject(ctx, blocks); err != nil {
		return rejected, err
	}
	return rejected, w.store.markWritten(ctx, journalID, slices)
}
