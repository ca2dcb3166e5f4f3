package native

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/ClickHouse/ch-go/compress"
)

// Blocks travel packed: in ClickHouse's own frames of LZ4, which the server
// unpacks (HTTP's `decompress`). Packing a record costs as much as to write and
// send what it saves; and journal, memory and network have a quarter of the bytes
// to hold.
//
// A frame is a checksum, the method, and two sizes: that of the frame without
// the checksum, and that of what it unpacks to.
const (
	frameChecksum = 16
	frameHeader   = frameChecksum + 1 + 4 + 4
	// pieceSize is the least that goes into a frame, but for the last one: LZ4 looks
	// back no further.
	pieceSize = 64 << 10
	// maxPieceSize is the most: what either side needs in memory at once.
	maxPieceSize = 1 << 20
)

type packer struct{ *compress.Writer }

var packers = sync.Pool{New: func() any { return &packer{compress.NewWriter(compress.LevelZero, compress.LZ4)} }}

func (p *packer) pack(dst, text []byte) ([]byte, error) {
	for piece := range slices.Chunk(text, maxPieceSize) {
		if err := p.Compress(piece); err != nil {
			return dst, fmt.Errorf("pack %d bytes of a block: %w", len(piece), err)
		}
		dst = append(dst, p.Data...)
	}
	return dst, nil
}

// Pack appends blocks to dst in frames. Packed blocks can be joined end to end.
func Pack(dst, blocks []byte) ([]byte, error) {
	p := packers.Get().(*packer)
	defer packers.Put(p)
	return p.pack(dst, blocks)
}

// Unpack gives back what was packed.
func Unpack(packed []byte) ([]byte, error) {
	size, err := UnpackedSize(packed)
	if err != nil {
		return nil, err
	}
	blocks := make([]byte, size)
	if _, err := io.ReadFull(compress.NewReader(bytes.NewReader(packed)), blocks); err != nil {
		return nil, fmt.Errorf("unpack blocks: %w", err)
	}
	return blocks, nil
}

// UnpackedSize is the number of bytes that packed blocks have when unpacked.
func UnpackedSize(packed []byte) (size int, err error) {
	for at := 0; at < len(packed); {
		if len(packed)-at < frameHeader {
			return 0, fmt.Errorf("unpack blocks: the frame at byte %d of %d is cut off", at, len(packed))
		}
		sizes := packed[at+frameChecksum+1:]
		size += int(binary.LittleEndian.Uint32(sizes[4:]))
		at += frameChecksum + int(binary.LittleEndian.Uint32(sizes))
	}
	return size, nil
}
