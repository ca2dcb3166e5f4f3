package journal

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// FuzzRecovery does arbitrary things to the bytes of a journal and opens it.
// Whatever they are: it does not crash, it ends soon, what it returns was
// written, in order, and every frame whose bytes were not touched is among it.
//
// The input is a list of edits, 8 bytes and up each: which file, what to do,
// where, how much, with which bytes.
func FuzzRecovery(f *testing.F) {
	f.Add([]byte{0, 0, 0, 70, 0, 16, 1, 2}, false)
	f.Add([]byte{1, 1, 1, 0, 0, 0, 0, 0}, true)
	f.Add([]byte{2, 2, 0, 64, 0, 100, 0, 0}, false)
	f.Add([]byte{3, 3, 2, 0, 4, 0, 0, 80}, true)
	f.Add([]byte{4, 0, 0, 8, 0, 4, 2, 0, 2, 1, 0, 0, 0, 0, 0, 0}, true)
	w := write(f, 60, minSegmentBytes, true, smallSizes)
	original := map[string][]byte{}
	files := segmentFiles(f, w.dir)
	for _, path := range append(files, filepath.Join(w.dir, stateName)) {
		b, err := os.ReadFile(path)
		require.NoError(f, err)
		original[filepath.Base(path)] = b
	}
	names := make([]string, 0, len(files)+1)
	for _, path := range files {
		names = append(names, filepath.Base(path))
	}
	names = append(names, stateName)

	f.Fuzz(func(t *testing.T, edits []byte, crash bool) {
		dir := t.TempDir()
		content := map[string][]byte{}
		for name, b := range original {
			content[name] = append([]byte(nil), b...)
		}
		if last := names[len(names)-2]; crash { // no footer: the last segment is recovered at start
			content[last] = content[last][:w.places[len(w.places)-1].end]
		}
		for n := 0; len(edits) >= 8 && n < 16; n++ {
			name := names[int(edits[0])%len(names)]
			content[name] = edit(content[name], content, names, edits[:8])
			edits = edits[8:]
		}
		for name, b := range content {
			if name == stateName {
				continue
			}
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), b, fileMode))
		}
		writeState(t, dir, content[stateName])

		began := time.Now()
		j, rec, err := Open(Options{Dir: dir, disk: quickDisk(), Adopt: true})
		require.NoError(t, err)
		defer func() { require.NoError(t, j.Close(context.Background())) }()
		for _, d := range rec.Damage {
			require.NotEmpty(t, d.String())
		}
		got := readAll(t, j)
		require.Less(t, time.Since(began), 10*time.Second)

		known := map[uint64]place{}
		for _, p := range w.places {
			known[p.seq] = p
		}
		var last uint64
		seen := map[uint64]bool{}
		for _, fr := range got {
			p, ok := known[fr.Seq]
			require.True(t, ok, "sequence %d was never written", fr.Seq)
			require.Greater(t, fr.Seq, last)
			last = fr.Seq
			seen[fr.Seq] = true
			sameFrame(t, p.seq, testFrame(p.n, w.sizes(p.n)), fr)
		}
		for _, p := range w.places {
			b := content[p.file]
			intact := int64(len(b)) >= p.end && string(b[p.start:p.end]) == string(original[p.file][p.start:p.end])
			if intact {
				require.True(t, seen[p.seq], "sequence %d is intact and was not returned", p.seq)
			}
		}
		seq, err := j.Append(context.Background(), testFrame(1000, 10))
		require.NoError(t, err)
		require.Greater(t, seq, last)
		after := readAll(t, j)
		require.Len(t, after, 1)
		require.Equal(t, seq, after[0].Seq)
	})
}

// edit changes b: overwrite, cut, zero, copy from another file, invert, extend.
func edit(b []byte, all map[string][]byte, names []string, e []byte) []byte {
	at, n := int(binary.BigEndian.Uint16(e[2:])), int(binary.BigEndian.Uint16(e[4:]))
	at = min(at, len(b))
	end := min(at+n, len(b))
	switch e[1] % 6 {
	case 0:
		for i := at; i < end; i++ {
			b[i] = e[6] + byte(i)*e[7]
		}
	case 1:
		b = b[:at]
	case 2:
		clear(b[at:end])
	case 3:
		from := all[names[int(e[6])%len(names)]]
		copy(b[at:end], from[min(int(e[7])*16, len(from)):])
	case 4:
		if at < len(b) {
			b[at] ^= 1 << (e[6] % 8)
		}
	default:
		b = append(b, make([]byte, n)...)
	}
	return b
}

// writeState writes a state whose slots, where they are whole, bear the mark of
// this very file, so that the folder is no copy.
func writeState(t *testing.T, dir string, b []byte) {
	t.Helper()
	path := filepath.Join(dir, stateName)
	require.NoError(t, os.WriteFile(path, nil, fileMode))
	m, err := readMark(path)
	require.NoError(t, err)
	for at := 0; at+slotSize <= len(b); at += slotStride {
		if s, version := decodeState(b[at : at+slotSize]); version == formatVersion {
			s.mark = m
			s.encode(b[at : at+slotSize])
		}
	}
	require.NoError(t, os.WriteFile(path, b, fileMode))
}
