package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"
)

// Reader goes through the journal from the oldest frame that was not committed.
// There is one, and it serves one consumer: Next is not to be called twice at a time.
// Commit may be called from elsewhere.
//
// It reads one frame at a time from disk, so its memory is that of the largest frame.
type Reader struct {
	j *Journal

	mu  sync.Mutex // held while a frame is read, never while waiting for one
	buf []byte     // Next's

	seg    *segment // being read; nil before the first and between two
	f      file
	scan   scanner
	passed uint32 // highest segment number that was left behind
	last   uint64 // last sequence passed, delivered or lost
	known  bool   // last is known; not so where the state was lost
	told   uint64 // what is missing up to this at the journal's end was told at start
	expect uint64 // what should come next in seg; 0 is not known
	hole   hole   // bytes passed over since the last frame

	ring         []delivery // delivered and not committed, oldest first, from head on
	head         int
	commit       uint64 // all up to this are consumed
	commitNum    uint32 // segment and
	commitOffset int64  // place of what follows

	damages []Damage // to be told by Next, outside mu
	closed  bool
}

// hole is a range of bytes of the current segment that held no frame.
type hole struct{ offset, bytes int64 }

// delivery is a frame that was handed out.
type delivery struct {
	seq     uint64
	arrival int64
	end     int64 // where the next frame begins
	num     uint32
	rows    uint32
}

// Next returns the oldest frame that it has not returned yet, and waits for one.
// Only what is fsynced is seen. The payload is good until the following Next.
// After Close it returns ErrClosed. Other errors come from the disk and may pass;
// the next call tries the same frame again. A damaged frame is no error: it is
// passed over, counted, and told to Options.OnDamage.
func (r *Reader) Next(ctx context.Context) (Frame, error) {
	f, err := r.NextInto(ctx, r.buf)
	if err == nil {
		r.buf = f.Payload[:0]
		if cap(r.buf) > maxPooledBuffer {
			r.buf = nil
		}
	}
	return f, err
}

// NextInto is Next with the payload read into buf, or into new memory where buf
// is too small. The payload is the caller's.
func (r *Reader) NextInto(ctx context.Context, buf []byte) (Frame, error) {
	for {
		if err := ctx.Err(); err != nil {
			return Frame{}, err
		}
		select {
		case <-r.j.stop:
			return Frame{}, fmt.Errorf("read journal: %w", ErrClosed)
		default:
		}
		r.mu.Lock()
		f, ok, err := r.step(buf)
		damages := r.damages
		r.damages = nil
		r.mu.Unlock()
		if r.j.opts.OnDamage != nil {
			for _, d := range damages {
				r.j.opts.OnDamage(d)
			}
		}
		if ok || err != nil {
			return f, err
		}
		select {
		case <-ctx.Done():
		case <-r.j.stop:
		case <-r.j.readable:
		}
	}
}

// step returns the next frame if there is one. It needs mu.
func (r *Reader) step(buf []byte) (Frame, bool, error) {
	for {
		if ok, err := r.approach(); !ok || err != nil {
			return Frame{}, false, err
		}
		got, err := r.scan.next(buf)
		if err != nil {
			return Frame{}, false, fmt.Errorf("read segment %s at offset %d: %w", r.seg.path, r.scan.pos, err)
		}
		if got.pos > got.damaged {
			if r.hole.bytes == 0 {
				r.hole.offset = got.damaged
			}
			r.hole.bytes += got.pos - got.damaged
		}
		if got.eof {
			continue
		}
		h := got.header
		first := uint64(0)
		if r.expect != 0 && h.seq > r.expect {
			first = r.expect
		}
		r.report(first, h.seq-1, got.pos)
		r.last, r.known, r.expect = h.seq, true, h.seq+1
		if h.seq <= r.commit {
			continue
		}
		r.ring = append(r.ring, delivery{seq: h.seq, arrival: h.arrival, end: r.scan.pos, num: r.seg.num, rows: h.rows})
		r.j.mu.Lock()
		r.seg.left.take(1, uint64(h.rows))
		r.j.mu.Unlock()
		return Frame{
			Journal: h.journal,
			Seq:     h.seq,
			Arrival: time.Unix(0, h.arrival),
			Kind:    h.kind,
			Rows:    h.rows,
			Payload: got.payload,
		}, true, nil
	}
}

// take subtracts, and never goes below nothing: a footer's figures may be smaller
// than what the segment turns out to hold.
func (f *figures) take(frames, rows uint64) {
	f.frames -= min(f.frames, frames)
	f.rows -= min(f.rows, rows)
}

// approach sets the reader before bytes that are to be read. ok is false when
// there are none yet. It needs mu.
func (r *Reader) approach() (ok bool, err error) {
	for {
		if r.closed {
			return false, fmt.Errorf("read journal: %w", ErrClosed)
		}
		if r.seg == nil {
			if ok, err := r.enter(); !ok || err != nil {
				return false, err
			}
		}
		r.j.mu.Lock()
		sealed := r.seg.sealed
		r.scan.end = r.seg.end
		r.j.mu.Unlock()
		if r.scan.pos < r.scan.end {
			return true, nil
		}
		if !sealed {
			return false, nil
		}
		if err := r.leave(); err != nil {
			return false, err
		}
	}
}

// enter opens the segment after the last one passed, if there is one.
func (r *Reader) enter() (ok bool, err error) {
	seg := r.j.segmentAfter(r.passed)
	if seg == nil {
		return false, nil
	}
	f, err := r.j.opts.disk.open(seg.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("open segment %s: %w", seg.path, err)
	}
	r.seg, r.hole = seg, hole{}
	if err != nil { // somebody deleted it; all of it is missing
		r.f = nil
		r.scan = scanner{num: seg.num, pos: headerSize, f: absent{}, window: r.scan.window}
	} else {
		r.f = f
		r.scan = scanner{num: seg.num, pos: headerSize, f: f, window: r.scan.window}
	}
	r.expect = seg.header.first
	if r.known && seg.header.ok && seg.header.previous > max(r.last, r.told) {
		r.lost(seg, 0, r.last+1, seg.header.previous)
		r.last = seg.header.previous
	}
	if seg.num == r.commitNum && r.commitOffset > headerSize {
		r.scan.pos, r.expect = r.commitOffset, r.commit+1
	}
	return true, nil
}

// leave closes the current segment, and settles what of it never came.
func (r *Reader) leave() error {
	seg := r.seg
	next := r.j.segmentAfter(seg.num)
	r.j.mu.Lock()
	last, left := seg.last, seg.left
	r.j.frames -= min(r.j.frames, left.frames)
	r.j.rows -= min(r.j.rows, left.rows)
	r.j.lostRows += left.rows
	seg.left = figures{}
	r.j.mu.Unlock()
	if next != nil && next.header.ok && next.header.previous > r.told {
		last = max(last, next.header.previous)
	}
	first := r.expect
	if first == 0 && r.known {
		first = r.last + 1
	}
	if first > last {
		first = 0
	}
	r.report(first, last, r.scan.end)
	r.last = max(r.last, last)
	r.passed, r.seg, r.expect, r.known = seg.num, nil, 0, true
	if r.head == len(r.ring) && r.last > r.commit {
		r.commit = r.last // what is lost need not be lost again after a restart
	}
	if r.f == nil {
		return nil
	}
	f := r.f
	r.f = nil
	if err := f.Close(); err != nil {
		return fmt.Errorf("close segment %s: %w", seg.path, err)
	}
	return nil
}

// report tells of the hole before offset, and of the frames from first to last
// that are missing there; first is 0 if none is.
func (r *Reader) report(first, last uint64, offset int64) {
	if first == 0 {
		last = 0
	}
	if r.hole.bytes == 0 && first == 0 {
		return
	}
	if r.hole.bytes > 0 {
		offset = r.hole.offset
	}
	d := newDamage(r.seg, offset, r.hole.bytes, first, last)
	r.hole = hole{}
	if r.j.attic.take(&d, r.scan.f) {
		r.damages = append(r.damages, d)
	}
}

// lost tells of frames that are missing before a segment.
func (r *Reader) lost(seg *segment, offset int64, first, last uint64) {
	d := newDamage(seg, offset, 0, first, last)
	if r.j.attic.take(&d, nil) {
		r.damages = append(r.damages, d)
	}
}

// newDamage describes damage. A range of sequences that reaches back over a
// restart is cut to the last start: most numbers between were never given out.
func newDamage(seg *segment, offset, bytes int64, first, last uint64) Damage {
	if first>>startShift != last>>startShift {
		first = last>>startShift<<startShift | 1
	}
	return Damage{File: filepath.Base(seg.path), Offset: offset, Bytes: bytes, FirstSeq: first, LastSeq: last}
}

// Commit says that all frames up to seq, in the order of Next, are consumed and
// need not be kept. It returns at once; the commit point reaches the disk within
// Options.CommitInterval, or with Sync or Close, and a crash before that only
// means that frames are read again.
func (r *Reader) Commit(seq uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if seq <= r.commit {
		return nil
	}
	if r.head == len(r.ring) || seq > r.ring[len(r.ring)-1].seq {
		return fmt.Errorf("commit journal at sequence %d: %w", seq, ErrNotDelivered)
	}
	var frames, rows uint64
	for ; r.head < len(r.ring) && r.ring[r.head].seq <= seq; r.head++ {
		d := &r.ring[r.head]
		frames++
		rows += uint64(d.rows)
		r.commit, r.commitNum, r.commitOffset = d.seq, d.num, d.end
	}
	if r.head == len(r.ring) {
		r.ring, r.head = r.ring[:0], 0
	} else if r.head >= 1024 && r.head*2 >= len(r.ring) {
		r.ring = r.ring[:copy(r.ring, r.ring[r.head:])]
		r.head = 0
	}
	r.j.mu.Lock()
	r.j.frames -= min(r.j.frames, frames)
	r.j.rows -= min(r.j.rows, rows)
	r.j.mu.Unlock()
	signal(r.j.dirty)
	return nil
}

// consumedThrough is the highest number up to which segments are consumed. It
// steps out of a segment that has been read to its end. It needs mu.
func (r *Reader) consumedThrough() uint32 {
	if r.seg != nil {
		r.j.mu.Lock()
		ended := r.seg.sealed && r.scan.pos >= r.seg.end
		r.j.mu.Unlock()
		if ended {
			_ = r.leave() // a failed close of a file that was only read loses nothing
		}
	}
	if r.head < len(r.ring) {
		return r.ring[r.head].num - 1
	}
	return r.passed
}

// oldest is when the oldest frame that is not consumed arrived; zero if there is none.
func (r *Reader) oldest() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.head < len(r.ring) {
		return time.Unix(0, r.ring[r.head].arrival)
	}
	if ok, err := r.approach(); !ok || err != nil {
		return time.Time{} // Next meets the same error and returns it
	}
	if h, ok, err := r.scan.readHeader(r.scan.pos); ok && err == nil {
		return time.Unix(0, h.arrival)
	}
	// Damage lies ahead; the segment's first frame is older than what follows it.
	r.j.mu.Lock()
	defer r.j.mu.Unlock()
	if r.seg.arrival == 0 {
		return time.Time{}
	}
	return time.Unix(0, r.seg.arrival)
}

// close closes what is open.
func (r *Reader) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.f == nil {
		return nil
	}
	f := r.f
	r.f, r.seg = nil, nil
	return f.Close()
}
