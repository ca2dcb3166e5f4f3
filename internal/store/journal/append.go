package journal

import (
	"context"
	"fmt"
	"time"
)

// maxPooledBuffer is the largest buffer that is kept for another frame. Larger
// ones are rare, and would pin their memory for the rest of the process's life.
const maxPooledBuffer = 4 << 20

// entry is a frame on its way to disk. Its buffer is a copy, so that an Append
// whose context ends can return while the disk hangs, and its caller can use the
// payload's memory again.
type entry struct {
	buf     []byte // room for the header, and the payload
	header  frameHeader
	barrier bool // no frame, only a place in the queue
	done    chan struct{}

	// Guarded by Journal.mu until done is signalled, then the appender's.
	seq     uint64
	err     error
	settled bool
	written bool // in the syncer's hands when settled early: the buffer is still in use
}

// reset makes an entry from the pool new.
func (e *entry) reset() {
	*e = entry{buf: e.buf[:0], done: e.done}
}

// fill takes a copy of f and its checksum.
func (e *entry) fill(f *Frame) {
	size := headerSize + len(f.Payload)
	if cap(e.buf) < size {
		e.buf = make([]byte, size)
	}
	e.buf = e.buf[:size]
	payload := e.buf[headerSize:]
	copy(payload, f.Payload)
	e.header = frameHeader{
		kind:    f.Kind,
		arrival: f.Arrival.UnixNano(),
		rows:    f.Rows,
		length:  uint32(len(payload)),
		payload: checksum(payload),
	}
}

// size is what the entry adds to its segment.
func (e *entry) size() int64 { return int64(len(e.buf)) }

// Append writes f and returns its sequence when it is fsynced. Many callers share
// one fsync. The payload may be used again as soon as Append has returned.
//
// A frame that cannot be taken is refused with an *AppendError, or with ErrClosed
// or ErrTooLarge. When ctx ends first the error matches ErrInterrupted and ctx's
// own, and whether the frame is kept is not known.
func (j *Journal) Append(ctx context.Context, f Frame) (uint64, error) {
	size := headerSize + int64(len(f.Payload))
	if len(f.Payload) > MaxPayload || size+2*headerSize > j.opts.MaxBytes {
		return 0, fmt.Errorf("append to journal: %w: it has %d bytes, a payload may have %d, and all frames together %d",
			ErrTooLarge, len(f.Payload), MaxPayload, j.opts.MaxBytes)
	}
	if err := ctx.Err(); err != nil {
		return 0, &AppendError{Reason: ReasonInterrupted, Err: err}
	}
	if err := j.admit(size); err != nil {
		return 0, err
	}
	e := j.entries.Get().(*entry)
	e.reset()
	e.fill(&f)
	if err := j.enqueue(e); err != nil {
		return 0, err
	}
	return j.await(ctx, e)
}

// admit checks the bounds before any work is done, and counts size as pending.
func (j *Journal) admit(size int64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := time.Now()
	switch {
	case j.closing:
		return fmt.Errorf("append to journal: %w", ErrClosed)
	case j.stalled(now):
		return &AppendError{Reason: ReasonStalled, RetryAfter: retryBroken, Err: fmt.Errorf(
			"%w: fsync has been running for %s, the bound is %s", ErrStalled, now.Sub(j.batchStart).Round(time.Millisecond), j.opts.MaxSyncDelay)}
	case now.Before(j.fullUntil):
		return &AppendError{Reason: ReasonDiskFull, RetryAfter: retryFull, Err: fmt.Errorf(
			"%w: no space left on the disk of %s", ErrFull, j.opts.Dir)}
	case j.disk+j.pending+size+2*headerSize > j.opts.MaxBytes:
		return &AppendError{Reason: ReasonFull, RetryAfter: retryFull, Err: fmt.Errorf(
			"%w: %d bytes are on disk and %d on the way, the bound is %d", ErrFull, j.disk, j.pending, j.opts.MaxBytes)}
	case j.pending > 0 && j.pending+size > j.opts.MaxPendingBytes:
		return &AppendError{Reason: ReasonBusy, RetryAfter: retryBusy, Err: fmt.Errorf(
			"%w: %d bytes wait for fsync, the bound is %d", ErrBusy, j.pending, j.opts.MaxPendingBytes)}
	}
	j.pending += size
	return nil
}

// stalled reports whether the batch in flight is over its time. It needs mu.
func (j *Journal) stalled(now time.Time) bool {
	return !j.batchStart.IsZero() && now.Sub(j.batchStart) >= j.opts.MaxSyncDelay
}

// enqueue hands e to the syncer.
func (j *Journal) enqueue(e *entry) error {
	j.mu.Lock()
	if j.closing {
		j.pending -= e.size()
		j.mu.Unlock()
		return fmt.Errorf("append to journal: %w", ErrClosed)
	}
	j.queue = append(j.queue, e)
	j.mu.Unlock()
	signal(j.wake)
	return nil
}

// await waits for the syncer's word on e, or for the end of ctx.
func (j *Journal) await(ctx context.Context, e *entry) (uint64, error) {
	select {
	case <-e.done:
	case <-ctx.Done():
		select {
		case <-e.done:
		default: // e stays with the syncer, which signals nobody
			return 0, &AppendError{Reason: ReasonInterrupted, OutcomeUnknown: true, Err: ctx.Err()}
		}
	}
	seq, err := e.seq, e.err
	if !e.written && cap(e.buf) <= maxPooledBuffer {
		j.entries.Put(e)
	}
	return seq, err
}

// settle tells e's appender how it ended, once. It needs mu.
func (e *entry) settle(seq uint64, err error) {
	if e.settled {
		return
	}
	e.seq, e.err, e.settled = seq, err, true
	e.done <- struct{}{}
}

// stall is called by the watchdog when a batch is over its time. The appenders
// get their answer; the syncer goes on waiting for the disk. Those in the queue
// are taken out and known not to be written.
func (j *Journal) stall() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.stalled(time.Now()) {
		return // the batch ended as the timer fired
	}
	cause := fmt.Errorf("%w: fsync has been running for %s", ErrStalled, j.opts.MaxSyncDelay)
	unknown := &AppendError{Reason: ReasonStalled, RetryAfter: retryBroken, OutcomeUnknown: true, Err: cause}
	for _, e := range j.inflight {
		if !e.settled {
			e.written = true
			e.settle(0, unknown)
		}
	}
	refused := &AppendError{Reason: ReasonStalled, RetryAfter: retryBroken, Err: cause}
	for _, e := range j.queue {
		j.pending -= e.size()
		e.settle(0, refused)
	}
	clear(j.queue)
	j.queue = j.queue[:0]
}
