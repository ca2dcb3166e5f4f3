package journal

import (
	"bytes"
	"errors"
	"io"
)

const (
	// sectorSize is how far a reader goes past a place that cannot be read (EIO).
	// It is a page: the kernel reads no less.
	sectorSize = 4096
	// windowSize is how much is searched for the next frame at a time. Searching
	// runs at memory speed, so a larger window gains nothing.
	windowSize = 64 << 10
)

// isEOF is for places where the end of a file is expected.
func isEOF(err error) bool { return errors.Is(err, io.EOF) }

// scanner goes through the frames of one segment from pos to end, over damage.
//
// What it yields was written to that very place and is whole, so it comes in the
// order of writing. After bytes that do not hold it looks for the next such frame
// at every following byte, so damage takes no frame but those it touched.
type scanner struct {
	f   io.ReaderAt
	num uint32
	pos int64
	end int64
	// headersOnly leaves payloads unread and believes them: for counting.
	headersOnly bool

	header [headerSize]byte
	window []byte
}

// found is what the scanner came upon: damage from damaged to pos (none if they
// are equal), then a frame at pos, or the end.
type found struct {
	header  frameHeader
	payload []byte
	damaged int64
	pos     int64
	eof     bool
}

// next goes to the following intact frame and reads its payload into buf, or
// into a new slice where buf is too small. An error is of a kind that may pass,
// and leaves the scanner where it was.
func (s *scanner) next(buf []byte) (found, error) {
	start, pos := s.pos, s.pos
	for pos < s.end {
		h, ok, err := s.readHeader(pos)
		if err != nil {
			return found{}, err
		}
		if ok {
			payload, ok, err := s.readPayload(h, pos, buf)
			if err != nil {
				return found{}, err
			}
			if ok {
				s.pos = pos + h.size()
				return found{header: h, payload: payload, damaged: start, pos: pos}, nil
			}
		}
		if pos, err = s.search(pos + 1); err != nil {
			return found{}, err
		}
	}
	s.pos = s.end
	return found{damaged: start, pos: s.end, eof: true}, nil
}

// readHeader reads the header at pos. ok is false when no frame of this segment
// begins there, or one that runs past the end.
func (s *scanner) readHeader(pos int64) (h frameHeader, ok bool, err error) {
	if _, err := readFull(s.f, s.header[:], pos, s.end); err != nil {
		if isDamage(err) {
			return h, false, nil
		}
		return h, false, err
	}
	h, ok = decodeFrame(s.header[:], s.num, pos)
	return h, ok && pos+h.size() <= s.end, nil
}

func (s *scanner) readPayload(h frameHeader, pos int64, buf []byte) (payload []byte, ok bool, err error) {
	if s.headersOnly {
		return nil, true, nil
	}
	if cap(buf) < int(h.length) {
		buf = make([]byte, h.length)
	}
	payload = buf[:h.length]
	if _, err := readFull(s.f, payload, pos+headerSize, s.end); err != nil {
		if isDamage(err) {
			return nil, false, nil
		}
		return nil, false, err
	}
	return payload, checksum(payload) == h.payload, nil
}

// search returns the place of the next frame magic at or after pos, or the end.
func (s *scanner) search(pos int64) (int64, error) {
	if s.window == nil {
		s.window = make([]byte, windowSize)
	}
	for pos+headerSize <= s.end {
		b := s.window[:min(s.end-pos, windowSize)]
		n, err := s.f.ReadAt(b, pos)
		if i := bytes.Index(b[:n], frameMagic); i >= 0 {
			return pos + int64(i), nil
		}
		switch {
		case n >= len(frameMagic):
			pos += int64(n - len(frameMagic) + 1) // the magic may lie across two windows
		case err == nil || isEOF(err):
			return s.end, nil // the file is shorter than it should be
		case isDamage(err):
			pos += sectorSize - pos%sectorSize
		default:
			return 0, err
		}
	}
	return s.end, nil
}
