package journal

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"time"
)

// ID names a journal. It is random and made with the folder; all zeros is no journal.
type ID [16]byte

// String is the id as 32 hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// IsZero reports whether id names no journal.
func (id ID) IsZero() bool { return id == ID{} }

// Frame is one entry of the journal. Journal and Seq are set by the journal and
// not looked at by Append.
type Frame struct {
	// Journal is the id under which the frame was written; in an adopted folder
	// it may be another than the journal's own.
	Journal ID
	// Seq grows from frame to frame over the journal's life, with gaps.
	Seq uint64
	// Arrival is when the request came in, by the caller's clock, to the nanosecond.
	Arrival time.Time
	// Kind tells payloads apart. It means nothing to the journal.
	Kind uint16
	// Rows is how many rows the payload holds, for the backlog's figures.
	Rows uint32
	// Payload is the bytes. From Next they are good until the following Next.
	Payload []byte
}

const (
	formatVersion = 1 // of segment and state
	frameVersion  = 1
	headerSize    = 64 // of a segment, a frame and a footer alike
)

var (
	segmentMagic = []byte("SGJSEG\r\n")
	stateMagic   = []byte("SGJSTATE")
	frameMagic   = []byte{0xF5, 'S', 'G', 'F'}
	footerMagic  = []byte{0xF5, 'S', 'G', 'E'}

	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	le         = binary.LittleEndian
)

// checksum is CRC-32C, which the CPU computes at about memory speed.
func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// seal writes the CRC of all but the last four bytes of b into those.
func seal(b []byte) { le.PutUint32(b[len(b)-4:], checksum(b[:len(b)-4])) }

// sealed reports whether b starts with magic and ends with its own CRC.
func sealed(b, magic []byte) bool {
	return bytes.HasPrefix(b, magic) && le.Uint32(b[len(b)-4:]) == checksum(b[:len(b)-4])
}

// frameHeader is a frame's header, decoded.
type frameHeader struct {
	kind    uint16
	journal ID
	seq     uint64
	arrival int64
	segment uint32
	offset  uint32
	rows    uint32
	length  uint32
	payload uint32 // CRC
}

// size is the length of the whole frame in bytes.
func (h *frameHeader) size() int64 { return headerSize + int64(h.length) }

// encode writes h to the first headerSize bytes of b.
func (h *frameHeader) encode(b []byte) {
	b = b[:headerSize]
	copy(b, frameMagic)
	le.PutUint16(b[4:], frameVersion)
	le.PutUint16(b[6:], h.kind)
	copy(b[8:], h.journal[:])
	le.PutUint64(b[24:], h.seq)
	le.PutUint64(b[32:], uint64(h.arrival))
	le.PutUint32(b[40:], h.segment)
	le.PutUint32(b[44:], h.offset)
	le.PutUint32(b[48:], h.rows)
	le.PutUint32(b[52:], h.length)
	le.PutUint32(b[56:], h.payload)
	seal(b)
}

// decodeFrame reads the frame header that was written to offset of a segment.
// ok is false for anything that is not one, a header from elsewhere included.
func decodeFrame(b []byte, segment uint32, offset int64) (h frameHeader, ok bool) {
	if len(b) < headerSize || !sealed(b[:headerSize], frameMagic) || le.Uint16(b[4:]) != frameVersion {
		return h, false
	}
	h = frameHeader{
		kind:    le.Uint16(b[6:]),
		journal: ID(b[8:24]),
		seq:     le.Uint64(b[24:]),
		arrival: int64(le.Uint64(b[32:])),
		segment: le.Uint32(b[40:]),
		offset:  le.Uint32(b[44:]),
		rows:    le.Uint32(b[48:]),
		length:  le.Uint32(b[52:]),
		payload: le.Uint32(b[56:]),
	}
	return h, h.segment == segment && int64(h.offset) == offset && h.length <= MaxPayload
}
