package native

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPackedBlocksJoinAndUnpack(t *testing.T) {
	noise := make([]byte, 2*maxPieceSize+7)
	random := rand.NewChaCha8([32]byte{1})
	_, err := random.Read(noise)
	require.NoError(t, err)
	blocks := [][]byte{[]byte("a"), bytes.Repeat([]byte("soak"), maxPieceSize), {}, noise}
	var all []byte
	for _, b := range blocks {
		all, err = Pack(all, b)
		require.NoError(t, err)
	}
	size, err := UnpackedSize(all)
	require.NoError(t, err)
	assert.Equal(t, 1+4*maxPieceSize+len(noise), size)
	got, err := Unpack(all)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(bytes.Join(blocks, nil), got))

	for _, cut := range []int{1, frameHeader - 1, len(all) - 1} {
		_, err := Unpack(all[:cut])
		require.ErrorContains(t, err, "unpack blocks", cut)
	}
	all[len(all)/2] ^= 1
	_, err = Unpack(all)
	require.ErrorContains(t, err, "unpack blocks")
}
