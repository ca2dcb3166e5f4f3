package journal

import (
	"errors"
	"fmt"
)

// recoverTail brings the last segments in order: what has no footer is read
// whole, cut after its last intact frame, and fsynced; what holds no intact frame
// is removed. It returns the segments that are left.
func (j *Journal) recoverTail(segments []*segment, st *state, rec *Recovery) ([]*segment, error) {
	known := st.commit
	var cuts []*Damage // newest first
	for len(segments) > 0 {
		s := segments[len(segments)-1]
		if s.last != 0 {
			break // has its footer: it was sealed and fsynced
		}
		cut, err := j.recoverSegment(s, rec)
		if err != nil {
			return nil, err
		}
		if cut != nil {
			cuts = append(cuts, cut)
		}
		if s.frames > 0 {
			break
		}
		if err := j.opts.disk.remove(s.path); err != nil {
			return nil, fmt.Errorf("remove segment %s, which holds no frame: %w", s.path, err)
		}
		segments = segments[:len(segments)-1]
	}
	at := newSegment(j.opts.Dir, max(st.newest, 1))
	if n := len(segments); n > 0 {
		at = segments[n-1]
		known = max(known, at.last)
	}
	// Frames that the state knows and no segment holds: the end of the last
	// segment, or all of it, was taken away.
	if st.last > known {
		j.reader.told = st.last
		d := newDamage(at, at.end, 0, known+1, st.last)
		if len(cuts) > 0 {
			cuts[0].Torn, cuts[0].FirstSeq, cuts[0].LastSeq = false, d.FirstSeq, d.LastSeq
			j.attic.addFrames(d.Frames())
		} else if j.attic.take(&d, nil) {
			rec.Damage = append(rec.Damage, d)
		}
	}
	for _, cut := range cuts {
		rec.Damage = append(rec.Damage, *cut)
	}
	return segments, nil
}

// recoverSegment reads a segment without footer from front to back. It returns
// what was cut off its end, if anything.
func (j *Journal) recoverSegment(s *segment, rec *Recovery) (tail *Damage, err error) {
	err = j.withFile(s, func(f file) error {
		sc := scanner{f: f, num: s.num, pos: headerSize, end: s.size}
		var buf []byte
		for sc.pos < sc.end {
			got, err := sc.next(buf)
			if err != nil {
				return fmt.Errorf("recover segment %s at offset %d: %w", s.path, sc.pos, err)
			}
			if got.eof {
				if tail, err = j.cutOff(s, f, got.damaged); err != nil {
					return err
				}
				break
			}
			h := got.header
			if got.pos > got.damaged {
				first := s.header.first
				if s.last != 0 {
					first = s.last + 1
				}
				d := newDamage(s, got.damaged, got.pos-got.damaged, first, h.seq-1)
				if first == 0 || first >= h.seq {
					d.FirstSeq, d.LastSeq = 0, 0
				}
				if j.attic.take(&d, f) {
					rec.Damage = append(rec.Damage, d)
				}
			}
			buf = got.payload
			s.add(h.seq, uint64(h.rows), h.arrival)
			s.end = sc.pos
		}
		j.last = max(j.last, s.last)
		if s.frames > 0 {
			return j.finish(s, f)
		}
		if tail == nil && s.size > 0 {
			tail, err = j.cutOff(s, f, 0)
		}
		return err
	})
	return tail, err
}

// add counts a frame.
func (s *segment) add(seq, rows uint64, arrival int64) {
	if s.frames == 0 {
		s.arrival = arrival
	}
	s.frames++
	s.rows += rows
	s.last = seq
}

// cutOff judges what lies behind the last intact frame of the last segment, and
// copies it aside unless it is a torn append.
func (j *Journal) cutOff(s *segment, f file, at int64) (*Damage, error) {
	s.end = at
	d := newDamage(s, at, s.size-at, 0, 0)
	torn, err := isTorn(s, f, at)
	if err != nil {
		return nil, fmt.Errorf("recover segment %s at offset %d: %w", s.path, at, err)
	}
	d.Torn = torn
	j.attic.take(&d, f)
	return &d, nil
}

// isTorn reports whether the bytes from at on are what an append leaves that was
// cut off: part of a header, a header with part of its payload, or zeros, which
// is what a filesystem shows where it had made room and not written yet.
func isTorn(s *segment, f file, at int64) (bool, error) {
	if s.size-at < headerSize {
		return true, nil
	}
	var b [headerSize]byte
	if _, err := readFull(f, b[:], at, s.size); err != nil {
		return false, ignoreDamage(err)
	}
	if _, version := decodeSegment(b[:], s.num); at == 0 && version != 0 {
		return s.size == headerSize, nil // a segment that was made, and nothing else
	}
	if h, ok := decodeFrame(b[:], s.num, at); ok {
		return at+h.size() > s.size, nil
	}
	window := make([]byte, windowSize)
	for at < s.size {
		w := window[:min(int64(len(window)), s.size-at)]
		if _, err := readFull(f, w, at, s.size); err != nil {
			return false, ignoreDamage(err)
		}
		for _, c := range w {
			if c != 0 {
				return false, nil
			}
		}
		at += int64(len(w))
	}
	return true, nil
}

// ignoreDamage is nil for an error that means the bytes are not there.
func ignoreDamage(err error) error {
	if isDamage(err) {
		return nil
	}
	return err
}

// finish cuts a recovered segment to its frames, makes these durable (so far they
// may live in the page cache alone), and gives it its footer. Without room for a
// footer it stays without.
func (j *Journal) finish(s *segment, f file) error {
	if s.size > s.end {
		if err := f.Truncate(s.end); err != nil {
			return fmt.Errorf("cut segment %s to %d bytes: %w", s.path, s.end, err)
		}
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("sync segment %s: %w", s.path, err)
	}
	s.size = s.end
	var b [headerSize]byte
	s.encodeFooter(b[:])
	if _, err := f.WriteAt(b[:], s.end); err != nil || f.Sync() != nil {
		return errors.Join(f.Truncate(s.end))
	}
	s.size += headerSize
	return nil
}
