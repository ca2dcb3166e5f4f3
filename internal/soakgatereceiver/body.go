package soakgatereceiver

import (
	"errors"
	"io"
	"slices"
)

// bodyChunk is the step in which a body of unknown length is read, in bytes.
const bodyChunk = 256 << 10

// readBody reads a whole body. A reader that fails, as one does that has met its
// limit, has cost what it gave and no more: parts are joined only when all are
// there, so that a decompression bomb holds at most the limit in memory (U08).
func readBody(r io.Reader, length int64) ([]byte, error) {
	// A length is the sender's word: beyond one chunk, memory follows what it sends.
	size := int64(bodyChunk)
	if length >= 0 {
		size = min(length+1, bodyChunk) // one more, to see the end
	}
	chunks, last := make([][]byte, 0, 1), make([]byte, 0, size)
	for {
		n, err := r.Read(last[len(last):cap(last)])
		last = last[:len(last)+n]
		switch {
		case errors.Is(err, io.EOF) && len(chunks) == 0:
			return last, nil
		case errors.Is(err, io.EOF):
			return slices.Concat(append(chunks, last)...), nil
		case err != nil:
			return nil, err
		case len(last) == cap(last):
			chunks, last = append(chunks, last), make([]byte, 0, bodyChunk)
		}
	}
}
