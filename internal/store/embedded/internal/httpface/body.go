package httpface

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// decodeBody undoes the body's Content-Encoding, then ClickHouse's own frames.
// The returned function frees what the decoders hold.
func decodeBody(r *http.Request, unframe bool) (io.Reader, func(), error) {
	in, free := io.Reader(r.Body), func() {}
	switch encoding := r.Header.Get("Content-Encoding"); encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, free, badBody(encoding, err)
		}
		in = z
	case "deflate":
		z, err := zlib.NewReader(in)
		if err != nil {
			return nil, free, badBody(encoding, err)
		}
		in = z
	case "zstd":
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, free, badBody(encoding, err)
		}
		in, free = z, z.Close
	case "lz4":
		in = lz4.NewReader(in)
	case "br":
		in = brotli.NewReader(in)
	default:
		return nil, free, &exception{code: codeNotImplemented, text: "Content-Encoding " + encoding + " is not supported; send gzip, deflate, br, lz4, zstd or none"}
	}
	if unframe {
		in = &frameReader{in: bufio.NewReader(in)}
	}
	return in, free, nil
}

func badBody(encoding string, err error) error {
	return &exception{code: codeCannotDecompress, text: fmt.Sprintf("the body is not %s, as its Content-Encoding says: %v", encoding, err)}
}

// A frame of ClickHouse's native compression: a checksum, the method, and two
// sizes, of which the first counts the nine bytes of method and sizes too.
const (
	frameChecksum = 16
	frameHeader   = frameChecksum + 9
	maxFrame      = 128 << 20
)

// frameReader undoes ClickHouse's native compression. The decoder of ch-go
// reports a body that is cut off behind a frame's header as a clean end, and a
// half insert would be committed; so frames are read whole before it sees them.
type frameReader struct {
	in    *bufio.Reader
	frame bytes.Buffer
	out   *compress.Reader
	left  int // decoded bytes of the frame that are still to be read
}

func (f *frameReader) Read(p []byte) (int, error) {
	if f.left == 0 {
		if err := f.next(); err != nil {
			return 0, err
		}
	}
	n, err := f.out.Read(p[:min(len(p), f.left)])
	f.left -= n
	if err != nil {
		return n, &exception{code: codeCannotDecompress, text: "a compressed frame of the body is damaged: " + err.Error()}
	}
	return n, nil
}

// next reads one frame that holds data; io.EOF means that the body ends between
// two frames.
func (f *frameReader) next() error {
	for f.left == 0 {
		var header [frameHeader]byte
		if _, err := io.ReadFull(f.in, header[:]); err != nil {
			return err
		}
		size := int64(binary.LittleEndian.Uint32(header[frameChecksum+1:])) - 9
		data := int64(binary.LittleEndian.Uint32(header[frameChecksum+5:]))
		if size < 0 || size > maxFrame || data > maxFrame {
			return &exception{code: codeCannotDecompress, text: fmt.Sprintf("a compressed frame of the body claims %d bytes, more than the %d allowed", max(size, data), maxFrame)}
		}
		f.frame.Reset()
		f.frame.Write(header[:])
		if _, err := io.CopyN(&f.frame, f.in, size); err != nil {
			if errors.Is(err, io.EOF) {
				return io.ErrUnexpectedEOF
			}
			return err
		}
		if f.out == nil {
			f.out = compress.NewReader(&f.frame)
		}
		f.left = int(data)
	}
	return nil
}
