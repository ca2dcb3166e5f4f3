package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// startShift splits a sequence: above it the count of the folder's starts, below
// it the frames of one. 2^40 frames last for months at any rate a disk can take,
// and then run on into the next start's numbers, which Open allows for; 2^24
// starts are more than a hundred years of a pod that is restarted every five minutes.
const startShift = 40

// Journal is an open journal. All its methods may be called at the same time.
type Journal struct {
	opts   Options
	id     ID
	lock   *os.File
	state  *stateFile
	attic  *attic
	reader *Reader
	ticket atomic.Uint64

	wake     chan struct{} // to the syncer: there is something to do
	readable chan struct{} // to the reader: there may be something to read
	dirty    chan struct{} // to the keeper: the commit point moved, or a segment was sealed
	stop     chan struct{} // closed when the syncer has ended; the keeper and Next end
	synced   chan struct{} // closed by the syncer when it ends
	kept     chan struct{} // closed by the keeper when it ends
	closed   chan struct{} // closed when everything is
	closeErr error         // set before closed is closed
	entries  sync.Pool

	// The syncer's own.
	active  *activeSegment
	nextSeq uint64
	nextNum uint32

	keepMu   sync.Mutex // held while the state is written and segments are deleted
	saved    state      // what is on disk; guarded by keepMu
	released bool       // the state file is closed; guarded by keepMu

	mu         sync.Mutex // guards what follows; never held while the disk works
	segments   []*segment // ascending; the last may be the active one
	queue      []*entry   // gathering, not taken yet
	inflight   []*entry   // being written and fsynced
	spare      []*entry   // the array of the batch before, for the next queue
	batchStart time.Time  // when the batch in flight was taken; zero when there is none
	watchdog   *time.Timer
	pending    int64 // bytes admitted and not settled
	disk       int64 // bytes of the segments
	frames     uint64
	rows       uint64
	last       uint64 // highest sequence on disk
	newest     uint32 // its segment
	lastSync   time.Duration
	lostRows   uint64
	fullUntil  time.Time // the disk was full; do not try before
	sealWanted bool
	closing    bool
	keepErr    error
}

// Open takes the folder for this process, recovers what it holds, and starts the
// journal. Recovery says what was found; it is meaningful only without an error.
// The errors to tell apart are ErrLocked, ErrCopied and ErrNewerFormat.
func Open(o Options) (*Journal, Recovery, error) {
	began := time.Now()
	o, err := o.withDefaults()
	if err != nil {
		return nil, Recovery{}, err
	}
	if err := makeFolder(o.disk, o.Dir); err != nil {
		return nil, Recovery{}, err
	}
	lock, err := lockFolder(o.Dir)
	if err != nil {
		return nil, Recovery{}, err
	}
	j := &Journal{
		opts:     o,
		lock:     lock,
		attic:    newAttic(o.disk, o.Dir, o.MaxDamagedBytes),
		wake:     make(chan struct{}, 1),
		readable: make(chan struct{}, 1),
		dirty:    make(chan struct{}, 1),
		stop:     make(chan struct{}),
		synced:   make(chan struct{}),
		kept:     make(chan struct{}),
		closed:   make(chan struct{}),
	}
	j.entries.New = func() any { return &entry{done: make(chan struct{}, 1)} }
	j.reader = &Reader{j: j}
	rec, err := j.recover()
	if err != nil {
		return nil, Recovery{}, errors.Join(err, j.release())
	}
	j.watchdog = time.AfterFunc(time.Hour, j.stall)
	j.watchdog.Stop()
	go j.syncer()
	go j.keeper()
	rec.Took = time.Since(began)
	return j, rec, nil
}

// ID is the journal's id, under which new frames are written.
func (j *Journal) ID() ID { return j.id }

// Reader is the journal's one reader.
func (j *Journal) Reader() *Reader { return j.reader }

// Ticket gives a number that this journal never gave before and never gives
// again, also over restarts, and that grows. It names a request whose records
// need a name before their frame is encoded; it is not the frame's sequence.
func (j *Journal) Ticket() uint64 { return j.ticket.Add(1) }

// Sync returns when all that was appended before it is on disk, or was refused,
// and the commit point is.
func (j *Journal) Sync(ctx context.Context) error {
	e := j.entries.Get().(*entry)
	e.reset()
	e.barrier = true
	if err := j.enqueue(e); err != nil {
		return err
	}
	if _, err := j.await(ctx, e); err != nil {
		return fmt.Errorf("sync journal %s: %w", j.opts.Dir, err)
	}
	return j.persist()
}

// Close refuses new frames, writes and fsyncs those that wait, persists the
// commit point, and gives the folder free. It may be called again, and on nil.
// When ctx ends first its error is returned and closing goes on: the folder
// stays locked while the disk does not answer.
func (j *Journal) Close(ctx context.Context) error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	first := !j.closing
	j.closing = true
	j.mu.Unlock()
	if first {
		signal(j.wake)
		go j.shutdown()
	}
	select {
	case <-j.closed:
		return j.closeErr
	case <-ctx.Done():
		return fmt.Errorf("close journal %s: %w; the disk has not answered yet", j.opts.Dir, ctx.Err())
	}
}

func (j *Journal) shutdown() {
	<-j.synced
	close(j.stop)
	<-j.kept
	err := j.persist()
	if err = errors.Join(err, j.release()); err != nil {
		j.closeErr = fmt.Errorf("close journal %s: %w", j.opts.Dir, err)
	}
	close(j.closed)
}

// release closes what is open, the lock last.
func (j *Journal) release() error {
	j.keepMu.Lock()
	defer j.keepMu.Unlock()
	j.released = true
	err := j.reader.close()
	if j.state != nil {
		err = errors.Join(err, j.state.f.Close())
	}
	return errors.Join(err, j.lock.Close())
}

// signal wakes whoever waits on c, or will.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
