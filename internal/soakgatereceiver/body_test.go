package soakgatereceiver

import (
	"bytes"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadBody(t *testing.T) {
	for _, size := range []int{0, 1, bodyChunk - 1, bodyChunk, bodyChunk + 1, 3*bodyChunk + 5} {
		want := bytes.Repeat([]byte("x"), size)
		for _, length := range []int64{-1, int64(size), int64(size) / 2, int64(size) * 2} {
			got, err := readBody(iotest.HalfReader(bytes.NewReader(want)), length)
			require.NoError(t, err)
			assert.Equal(t, want, got, "size %d, said to be %d", size, length)
		}
	}
	_, err := readBody(io.MultiReader(bytes.NewReader(make([]byte, 10)), iotest.ErrReader(io.ErrUnexpectedEOF)), -1)
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF, "a body that is cut short is none")
}
