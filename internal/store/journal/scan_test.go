package journal

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// build puts frames with these payloads where a segment has them.
func build(payloads ...[]byte) (b []byte, starts []int64) {
	b = make([]byte, headerSize)
	for i, p := range payloads {
		h := frameHeader{seq: uint64(i + 1), segment: 5, offset: uint32(len(b)), length: uint32(len(p)), payload: checksum(p)}
		head := make([]byte, headerSize)
		h.encode(head)
		starts = append(starts, int64(len(b)))
		b = append(append(b, head...), p...)
	}
	return b, starts
}

// After a damaged header the next frame is found wherever it begins.
func TestScannerFindsTheNextFrame(t *testing.T) {
	lure := bytes.Repeat(frameMagic, 10) // magic in a payload, up to its last byte
	payloads := map[string][]byte{
		"empty":                 {},
		"magic to the end":      append(make([]byte, 100), lure...),
		"magic right behind":    lure,
		"half a magic":          {0xF5, 'S', 'G'},
		"longer than a sector":  make([]byte, sectorSize+1),
		"longer than a window":  make([]byte, windowSize*2+7),
		"magic through windows": bytes.Repeat(frameMagic, windowSize/2),
	}
	for d := -70; d <= 5; d++ {
		payloads[fmt.Sprintf("window%+d", d)] = make([]byte, windowSize+d)
	}
	for name, p := range payloads {
		t.Run(name, func(t *testing.T) {
			last := []byte("the last")
			b, starts := build([]byte("first"), p, last)
			b[starts[1]+10] ^= 1
			sc := scanner{f: bytes.NewReader(b), num: 5, pos: headerSize, end: int64(len(b))}
			got, err := sc.next(nil)
			require.NoError(t, err)
			require.Equal(t, "first", string(got.payload))
			require.Equal(t, got.damaged, got.pos)
			got, err = sc.next(nil)
			require.NoError(t, err)
			require.Equal(t, string(last), string(got.payload))
			assert.Equal(t, [2]int64{starts[1], starts[2]}, [2]int64{got.damaged, got.pos})
			got, err = sc.next(nil)
			require.NoError(t, err)
			assert.True(t, got.eof)
		})
	}
}

// A payload may hold a whole frame, even one with this segment's number. It is no
// frame where it lies.
func TestScannerIsNotFooledByAFrameInAPayload(t *testing.T) {
	inner, starts := build([]byte("planted"))
	b, _ := build(append([]byte("x"), inner[starts[0]:]...), []byte("true"))
	b[headerSize+20] ^= 1
	sc := scanner{f: bytes.NewReader(b), num: 5, pos: headerSize, end: int64(len(b))}
	got, err := sc.next(nil)
	require.NoError(t, err)
	assert.Equal(t, "true", string(got.payload))
}
