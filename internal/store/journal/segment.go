package journal

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
)

const segmentSuffix = ".seg"

// segment is one segment file as the process knows it. The fields from end on
// are guarded by Journal.mu once the journal is open; num, path and header are fixed.
type segment struct {
	num    uint32
	path   string
	header segmentHeader

	end     int64  // where the synced frames end; the reader goes no further
	size    int64  // bytes on disk, footer included
	last    uint64 // sequence of the last frame; 0 if not known
	frames  uint64 // frames up to end
	rows    uint64 // rows of those
	arrival int64  // of the first frame, Unix nanoseconds
	sealed  bool   // nothing will be appended
	left    figures
}

// figures is what of a segment the reader has not passed yet.
type figures struct{ frames, rows uint64 }

// segmentName is the file name of a segment. Names sort in the order of numbers.
func segmentName(num uint32) string { return fmt.Sprintf("%010d%s", num, segmentSuffix) }

// parseSegmentName is the inverse of segmentName; ok is false for other files.
func parseSegmentName(name string) (num uint32, ok bool) {
	digits, found := strings.CutSuffix(name, segmentSuffix)
	n, err := strconv.ParseUint(digits, 10, 32)
	if !found || err != nil || n == 0 || segmentName(uint32(n)) != name {
		return 0, false
	}
	return uint32(n), true
}

func newSegment(dir string, num uint32) *segment {
	return &segment{num: num, path: filepath.Join(dir, segmentName(num))}
}

// segmentHeader is a segment's header, decoded. ok is false when it could not be read.
type segmentHeader struct {
	ok       bool
	journal  ID
	first    uint64
	previous uint64
	created  int64
}

func (h *segmentHeader) encode(b []byte, num uint32) {
	b = b[:headerSize]
	clear(b)
	copy(b, segmentMagic)
	le.PutUint32(b[8:], formatVersion)
	le.PutUint32(b[12:], num)
	copy(b[16:], h.journal[:])
	le.PutUint64(b[32:], h.first)
	le.PutUint64(b[40:], h.previous)
	le.PutUint64(b[48:], uint64(h.created))
	seal(b)
}

// decodeSegment reads a segment's header. The version is the one found, valid
// even where the rest is of a form this release does not know; it is 0 when b is no header.
func decodeSegment(b []byte, num uint32) (h segmentHeader, version uint32) {
	if len(b) < headerSize || !sealed(b[:headerSize], segmentMagic) {
		return h, 0
	}
	version = le.Uint32(b[8:])
	if version != formatVersion || le.Uint32(b[12:]) != num {
		return h, version
	}
	return segmentHeader{
		ok:       true,
		journal:  ID(b[16:32]),
		first:    le.Uint64(b[32:]),
		previous: le.Uint64(b[40:]),
		created:  int64(le.Uint64(b[48:])),
	}, version
}

// encodeFooter writes the footer of s, which goes to s.end.
func (s *segment) encodeFooter(b []byte) {
	b = b[:headerSize]
	clear(b)
	copy(b, footerMagic)
	le.PutUint16(b[4:], frameVersion)
	le.PutUint32(b[8:], s.num)
	le.PutUint32(b[12:], uint32(s.end))
	le.PutUint64(b[16:], s.frames)
	le.PutUint64(b[24:], s.rows)
	le.PutUint64(b[32:], s.last)
	le.PutUint64(b[40:], uint64(s.arrival))
	seal(b)
}

// readEnds reads the header and the footer of s from f, whose size is given, and
// sets what they tell. Without a footer the frames are taken to end with the file.
// It returns the header's version.
func (s *segment) readEnds(f io.ReaderAt, size int64) (version uint32, err error) {
	s.size, s.end, s.sealed = size, size, true
	var b [headerSize]byte
	if _, err := readFull(f, b[:], 0, size); err != nil && !isDamage(err) {
		return 0, fmt.Errorf("read header of segment %s: %w", s.path, err)
	} else if err == nil {
		s.header, version = decodeSegment(b[:], s.num)
	}
	at := size - headerSize
	if at < headerSize {
		return version, nil
	}
	if _, err := readFull(f, b[:], at, size); err != nil && !isDamage(err) {
		return version, fmt.Errorf("read footer of segment %s: %w", s.path, err)
	} else if err != nil || !sealed(b[:], footerMagic) || le.Uint16(b[4:]) != frameVersion ||
		le.Uint32(b[8:]) != s.num || int64(le.Uint32(b[12:])) != at {
		return version, nil
	}
	s.end = at
	s.frames = le.Uint64(b[16:])
	s.rows = le.Uint64(b[24:])
	s.last = le.Uint64(b[32:])
	s.arrival = int64(le.Uint64(b[40:]))
	if !s.header.ok && s.last >= s.frames {
		s.header.first = s.last - s.frames + 1 // or before, if frames were lost as it was recovered
	}
	return version, nil
}
