package journal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"time"
)

const (
	// writeBuffer gathers small frames into one write. A frame larger than this
	// is written straight from its own buffer.
	writeBuffer = 256 << 10
	// fullPause is how long a full disk is left alone before the next frame tries it.
	fullPause = time.Second
	// reclaimPart of a segment's size has to be consumed before it is sealed early
	// to free it: less would make files by the second where the reader keeps up.
	reclaimPart = 4
)

// activeSegment is the segment that is being written. Only the syncer uses it.
type activeSegment struct {
	seg     *segment
	f       file
	w       *bufio.Writer
	begun   time.Time
	listed  bool  // in Journal.segments, because it holds a synced frame
	onDisk  int64 // bytes counted in Journal.disk
	syncEnd int64 // where the synced frames end
}

// offsetWriter writes one after the other from off on.
type offsetWriter struct {
	f   io.WriterAt
	off int64
}

func (w *offsetWriter) Write(b []byte) (int, error) {
	n, err := w.f.WriteAt(b, w.off)
	w.off += int64(n)
	return n, err
}

// syncer writes and fsyncs batch after batch; what comes in meanwhile is the next
// batch. It ends when the journal is closing and the queue is empty.
func (j *Journal) syncer() {
	defer close(j.synced)
	age := time.NewTimer(j.opts.RotateAge)
	defer age.Stop()
	for {
		batch, seal, closing := j.take()
		if len(batch) > 0 {
			fresh := j.active
			j.process(batch)
			if j.active != fresh {
				age.Reset(j.opts.RotateAge)
			}
		}
		old := j.active != nil && time.Since(j.active.begun) >= j.opts.RotateAge
		if seal || old || (closing && len(batch) == 0) {
			j.sealActive()
		}
		if len(batch) > 0 {
			continue
		}
		if closing {
			return
		}
		select {
		case <-j.wake:
		case <-age.C:
		}
	}
}

// take makes the queue the batch in flight.
func (j *Journal) take() (batch []*entry, seal, closing bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	batch, seal = j.queue, j.sealWanted
	j.sealWanted = false
	if len(batch) > 0 {
		j.inflight, j.queue, j.spare = batch, j.spare, nil
		j.batchStart = time.Now()
		j.watchdog.Reset(j.opts.MaxSyncDelay)
	}
	return batch, seal, j.closing
}

// process writes a batch, over as many segments as it takes, and settles it.
func (j *Journal) process(batch []*entry) {
	for rest := batch; len(rest) > 0; {
		n, err := j.write(rest)
		if err != nil {
			j.fail(rest, err)
			break
		}
		rest = rest[n:]
	}
	j.mu.Lock()
	j.watchdog.Stop()
	j.batchStart = time.Time{}
	j.inflight = nil
	clear(batch)
	j.spare = batch[:0]
	j.mu.Unlock()
}

// write puts as many of the entries as fit into the active segment, fsyncs, and
// settles them. It returns how many that were, possibly none when the segment
// was full. After an error none of the entries is settled, and there is no
// active segment.
func (j *Journal) write(entries []*entry) (int, error) {
	began := time.Now()
	n, frames, bytes := 0, 0, int64(0)
	for _, e := range entries {
		if !e.barrier {
			if j.active == nil {
				if err := j.begin(began); err != nil {
					return 0, j.broken(err, false)
				}
			}
			a := j.active
			at := a.syncEnd + bytes
			if at > headerSize && at+e.size() > j.opts.SegmentBytes {
				break
			}
			h := &e.header
			h.journal, h.seq, h.segment, h.offset = j.id, j.nextSeq, a.seg.num, uint32(at)
			h.encode(e.buf)
			j.nextSeq++
			if _, err := a.w.Write(e.buf); err != nil {
				return 0, j.broken(fmt.Errorf("segment %d: %w", a.seg.num, err), true)
			}
			frames++
			bytes += e.size()
		}
		n++
	}
	if n == 0 {
		j.sealActive()
		return 0, nil
	}
	var took time.Duration
	if frames > 0 {
		a := j.active
		if err := a.w.Flush(); err != nil {
			return 0, j.broken(fmt.Errorf("segment %d: %w", a.seg.num, err), true)
		}
		syncing := time.Now()
		if err := a.f.Sync(); err != nil {
			return 0, j.broken(fmt.Errorf("segment %d: %w", a.seg.num, err), true)
		}
		took = time.Since(syncing)
	}
	j.publish(entries[:n], frames, bytes, took)
	if frames > 0 {
		signal(j.readable)
		if j.opts.OnSync != nil {
			j.opts.OnSync(took, frames, int(bytes))
		}
	}
	return n, nil
}

// begin makes a new segment. Its header goes out with the first frames.
func (j *Journal) begin(now time.Time) error {
	seg := newSegment(j.opts.Dir, j.nextNum)
	j.nextNum++
	f, err := j.opts.disk.create(seg.path)
	if err != nil {
		return fmt.Errorf("make segment: %w", err)
	}
	if err := j.opts.disk.syncDir(j.opts.Dir); err != nil {
		return errors.Join(fmt.Errorf("sync journal folder %s: %w", j.opts.Dir, err), f.Close(), j.opts.disk.remove(seg.path))
	}
	j.mu.Lock()
	previous := j.last
	j.mu.Unlock()
	seg.header = segmentHeader{ok: true, journal: j.id, first: j.nextSeq, previous: previous, created: now.UnixNano()}
	w := bufio.NewWriterSize(&offsetWriter{f: f}, writeBuffer)
	j.active = &activeSegment{seg: seg, f: f, w: w, begun: now, syncEnd: headerSize}
	var b [headerSize]byte
	seg.header.encode(b[:], seg.num)
	_, err = j.active.w.Write(b[:]) // into the buffer; it cannot fail
	return err
}

// publish makes synced frames visible to the reader and answers their appenders.
func (j *Journal) publish(entries []*entry, frames int, bytes int64, took time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if frames > 0 {
		a := j.active
		s := a.seg
		if !a.listed {
			a.listed = true
			signal(j.dirty) // so that the state knows of it, should its file be lost
			j.segments = append(j.segments, s)
		}
		a.syncEnd += bytes
		s.end, s.size = a.syncEnd, a.syncEnd
		j.disk += s.size - a.onDisk
		a.onDisk = s.size
		j.newest = s.num
		j.lastSync = took
		j.frames += uint64(frames)
		s.left.frames += uint64(frames)
		j.fullUntil = time.Time{}
	}
	for _, e := range entries {
		if !e.barrier {
			s := j.active.seg
			if s.frames == 0 {
				s.arrival = e.header.arrival
			}
			s.frames++
			s.rows += uint64(e.header.rows)
			s.left.rows += uint64(e.header.rows)
			s.last = e.header.seq
			j.rows += uint64(e.header.rows)
			j.last = e.header.seq
			j.pending -= e.size()
		}
		e.settle(e.header.seq, nil)
	}
}

// broken gives the active segment up after a failed write or fsync: it is cut back
// to what is known to be on disk and never written again, because after a failed
// fsync the kernel may have dropped the pages, and a later one would succeed
// without them.
func (j *Journal) broken(cause error, unknown bool) error {
	err := writeError(cause, unknown)
	if a := j.active; a != nil {
		j.active = nil
		// What cannot be cut or removed is sorted out by the next Open, which
		// takes it for an append of unknown outcome; nothing more can be done here.
		if a.listed {
			_ = a.f.Truncate(a.syncEnd)
		}
		_ = a.f.Close()
		if !a.listed {
			_ = j.opts.disk.remove(a.seg.path)
		}
		j.mu.Lock()
		a.seg.sealed = true
		j.mu.Unlock()
		signal(j.readable)
		signal(j.dirty)
	}
	if err.Reason == ReasonDiskFull {
		j.mu.Lock()
		j.fullUntil = time.Now().Add(fullPause)
		j.mu.Unlock()
	}
	return err
}

// fail answers the appenders of entries with err.
func (j *Journal) fail(entries []*entry, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range entries {
		if e.barrier {
			e.settle(0, nil) // what waited before it has its answer
			continue
		}
		j.pending -= e.size()
		e.settle(0, err)
	}
}

// sealActive ends the active segment with its footer. The frames are on disk
// already, so a footer that cannot be written is only left out.
func (j *Journal) sealActive() {
	a := j.active
	if a == nil {
		return
	}
	j.active = nil
	size := a.syncEnd
	var b [headerSize]byte
	a.seg.encodeFooter(b[:])
	if _, err := a.f.WriteAt(b[:], a.syncEnd); err != nil || a.f.Sync() != nil {
		_ = a.f.Truncate(a.syncEnd)
	} else {
		size += headerSize
	}
	_ = a.f.Close() // fsynced; there is nothing left to lose
	j.mu.Lock()
	a.seg.sealed = true
	a.seg.size = size
	j.disk += size - a.onDisk
	j.mu.Unlock()
	signal(j.readable)
	signal(j.dirty)
}
