package journal

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Recovery is what Open found in the folder.
type Recovery struct {
	// Journal is the id of the journal, Created whether it was made now.
	Journal ID
	Created bool
	// Previous is the id that an adopted copy had; zero otherwise. Frames in the
	// folder keep it.
	Previous ID
	// StateLost says that there were segments and no state that could be read: the
	// journal has a new id, and everything in it is read again.
	StateLost bool
	// Segments, Bytes, Frames and Rows are the backlog.
	Segments     int
	Bytes        int64
	Frames, Rows uint64
	// Damage is what was found at start: torn appends, and damage in the last
	// segment. Others are read later, and told to Options.OnDamage then.
	Damage []Damage
	// Took is how long Open took.
	Took time.Duration
}

// String is a sentence for an operator's log, without the damage.
func (r Recovery) String() string {
	var b strings.Builder
	switch {
	case r.Created:
		fmt.Fprintf(&b, "made journal %s", r.Journal)
	case r.StateLost:
		fmt.Fprintf(&b, "journal state could not be read: new id %s, and all that is in the journal is read again", r.Journal)
	case !r.Previous.IsZero():
		fmt.Fprintf(&b, "adopted the copy of journal %s as journal %s", r.Previous, r.Journal)
	default:
		fmt.Fprintf(&b, "opened journal %s", r.Journal)
	}
	fmt.Fprintf(&b, ": %d frames with %d rows wait in %d segments of %d bytes", r.Frames, r.Rows, r.Segments, r.Bytes)
	return b.String()
}

// recover reads the folder and makes it ready. Everything that may refuse it
// comes before the first change.
func (j *Journal) recover() (Recovery, error) {
	var rec Recovery
	d, dir := j.opts.disk, j.opts.Dir
	st, slots, err := readState(d, dir)
	found := slots > 0
	if err != nil {
		return rec, err
	}
	segments, err := j.listSegments()
	if err != nil {
		return rec, err
	}
	if j.state, err = openStateFile(d, dir); err != nil {
		return rec, err
	}
	m, err := readMark(filepath.Join(dir, stateName))
	if err != nil {
		return rec, err
	}
	if rec.Previous, err = claim(&st, found, m, j.opts.Adopt, dir); err != nil {
		return rec, err
	}
	j.id, rec.Journal = st.journal, st.journal
	rec.Created = !found && len(segments) == 0
	rec.StateLost = !found && len(segments) > 0

	j.last = max(st.last, st.commit)
	j.nextNum = max(st.newest, st.commitSegment) + 1
	for _, s := range segments {
		j.last = max(j.last, s.last, s.header.previous)
		j.nextNum = max(j.nextNum, s.num+1)
	}
	segments, err = j.recoverTail(segments, &st, &rec)
	if err != nil {
		return rec, err
	}
	if err := j.start(&st); err != nil {
		return rec, err
	}
	for i, s := range segments {
		if err := j.count(s, &st); err != nil {
			return rec, err
		}
		if s.last != 0 && s.last <= st.commit && i == len(j.segments) && j.frames == 0 {
			j.reader.passed = s.num // consumed; the process ended before it was deleted
		}
		j.segments = append(j.segments, s)
		j.disk += s.size
		j.frames += s.left.frames
		j.rows += s.left.rows
	}
	r := j.reader
	r.commit, r.commitNum, r.commitOffset = st.commit, st.commitSegment, int64(st.commitOffset)
	r.last = st.commit
	// A slot that cannot be read may have known of later commits, so that what is
	// not there was consumed.
	r.known = slots == 2
	j.keepMu.Lock()
	j.keepErr = j.deleteThrough(r.passed) // the keeper tries again
	j.keepMu.Unlock()
	rec.Segments, rec.Bytes, rec.Frames, rec.Rows = len(j.segments), j.disk, j.frames, j.rows
	return rec, nil
}

// listSegments reads headers and footers of the folder's segments, ascending.
func (j *Journal) listSegments() ([]*segment, error) {
	entries, err := os.ReadDir(j.opts.Dir)
	if err != nil {
		return nil, fmt.Errorf("list journal folder: %w", err)
	}
	var segments []*segment
	for _, e := range entries {
		num, ok := parseSegmentName(e.Name())
		if !ok {
			continue
		}
		s := newSegment(j.opts.Dir, num)
		err := j.withFile(s, func(f file) error {
			info, err := f.Stat()
			if err != nil {
				return fmt.Errorf("read size of segment %s: %w", s.path, err)
			}
			version, err := s.readEnds(f, info.Size())
			if err == nil && version > formatVersion {
				err = newerFormat(s.path, version)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		segments = append(segments, s)
	}
	slices.SortFunc(segments, func(a, b *segment) int { return cmp.Compare(a.num, b.num) })
	return segments, nil
}

// withFile calls do with s open.
func (j *Journal) withFile(s *segment, do func(file) error) error {
	f, err := j.opts.disk.open(s.path)
	if err != nil {
		return fmt.Errorf("open segment %s: %w", s.path, err)
	}
	return errors.Join(do(f), f.Close())
}

// start writes the state of this start to both slots, so that no single torn or
// damaged slot can bring back a start that was used.
func (j *Journal) start(st *state) error {
	st.start = max(st.start, j.last>>startShift) + 1
	j.nextSeq = st.start<<startShift | 1
	j.ticket.Store(st.start << startShift)
	j.newest = st.newest
	for range 2 {
		if err := j.state.write(st); err != nil {
			return err
		}
	}
	j.saved = *st
	if err := j.opts.disk.syncDir(j.opts.Dir); err != nil {
		return fmt.Errorf("sync journal folder %s: %w", j.opts.Dir, err)
	}
	return nil
}

// count sets what of a segment is not consumed. With a footer that costs nothing,
// but in the segment of the commit point; there, and without one, the headers are read.
func (j *Journal) count(s *segment, st *state) error {
	switch {
	case s.last != 0 && s.header.first > st.commit:
		s.left = figures{s.frames, s.rows}
		return nil
	case s.last != 0 && s.last <= st.commit:
		return nil
	}
	return j.withFile(s, func(f file) error {
		sc := scanner{f: f, num: s.num, pos: headerSize, end: s.end, headersOnly: true}
		if s.num == st.commitSegment && int64(st.commitOffset) > headerSize && int64(st.commitOffset) <= s.end {
			sc.pos = int64(st.commitOffset)
		}
		for sc.pos < sc.end {
			got, err := sc.next(nil)
			if err != nil {
				return fmt.Errorf("count frames of segment %s at offset %d: %w", s.path, sc.pos, err)
			}
			if got.eof {
				break
			}
			s.last = max(s.last, got.header.seq)
			if got.header.seq > st.commit {
				s.left.frames++
				s.left.rows += uint64(got.header.rows)
			}
		}
		return nil
	})
}
