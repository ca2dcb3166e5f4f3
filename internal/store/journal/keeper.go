package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"
)

// absent stands for a segment file that is not there any more.
type absent struct{}

func (absent) ReadAt([]byte, int64) (int, error) { return 0, io.EOF }

// keeper persists the commit point when it has moved, at most once in a commit
// interval, and deletes what is consumed. A failure is kept for Stats and tried
// again: the next commit, or the next interval.
func (j *Journal) keeper() {
	defer close(j.kept)
	pause := time.NewTimer(j.opts.CommitInterval)
	defer pause.Stop()
	for {
		select {
		case <-j.stop:
			return
		case <-j.dirty:
		}
		if err := j.persist(); err != nil {
			signal(j.dirty)
		}
		pause.Reset(j.opts.CommitInterval)
		select {
		case <-j.stop:
			return
		case <-pause.C:
		}
	}
}

// persist writes the commit point and deletes the segments before it.
//
// The state is written first, so that after a crash nothing that is gone is
// looked for. It is overwritten in place and takes no space; on a filesystem that
// copies on write a full disk can refuse it all the same, and then the segments
// go first to make room, which at worst has them reported missing after a crash
// in that very moment.
func (j *Journal) persist() error {
	j.keepMu.Lock()
	defer j.keepMu.Unlock()
	if j.released {
		return fmt.Errorf("persist commit point: %w", ErrClosed)
	}
	r := j.reader
	r.mu.Lock()
	through := r.consumedThrough()
	next := j.saved
	next.commit, next.commitSegment, next.commitOffset = r.commit, r.commitNum, uint32(r.commitOffset)
	r.mu.Unlock()
	j.mu.Lock()
	next.last = max(next.last, j.last)
	next.newest = max(next.newest, j.newest)
	j.mu.Unlock()
	next.start = max(next.start, next.last>>startShift, j.ticket.Load()>>startShift)

	err := j.save(next)
	if err != nil && isDiskFull(err) {
		if derr := j.deleteThrough(through); derr == nil {
			err = j.save(next)
		}
	}
	if err == nil {
		err = j.deleteThrough(through)
	}
	j.mu.Lock()
	j.keepErr = err
	if n := len(j.segments); j.frames == 0 && n > 0 {
		if s := j.segments[n-1]; !s.sealed && s.end >= j.opts.SegmentBytes/reclaimPart {
			j.sealWanted = true
		}
	}
	seal := j.sealWanted
	j.mu.Unlock()
	if seal {
		signal(j.wake)
	}
	return err
}

// save writes the state if it differs from what is on disk. It needs keepMu.
func (j *Journal) save(next state) error {
	if next == j.saved {
		return nil
	}
	if err := j.state.write(&next); err != nil {
		return err // the generation stays, so the next write takes the slot that may be torn now
	}
	j.saved = next
	return nil
}

// deleteThrough deletes the sealed segments up to a number. It needs keepMu.
func (j *Journal) deleteThrough(through uint32) error {
	var errs []error
	for {
		j.mu.Lock()
		var s *segment
		for _, c := range j.segments {
			if c.num <= through && c.sealed {
				s = c
				break
			}
		}
		j.mu.Unlock()
		if s == nil || len(errs) > 0 {
			return errors.Join(errs...)
		}
		if err := j.opts.disk.remove(s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("delete consumed segment %s: %w", s.path, err))
			continue
		}
		j.mu.Lock()
		for i, c := range j.segments {
			if c == s {
				j.segments = append(j.segments[:i], j.segments[i+1:]...)
				break
			}
		}
		j.disk -= s.size
		j.fullUntil = time.Time{}
		j.mu.Unlock()
	}
}

// segmentAfter is the segment with the lowest number over num, or nil.
func (j *Journal) segmentAfter(num uint32) *segment {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, s := range j.segments {
		if s.num > num {
			return s
		}
	}
	return nil
}
