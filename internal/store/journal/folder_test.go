package journal

import (
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// byHand is built from docs/journal-format.md, byte by byte, without the code.
func byHand(size int, parts map[int]any) []byte {
	b := make([]byte, size)
	for off, v := range parts {
		switch v := v.(type) {
		case string:
			copy(b[off:], v)
		case []byte:
			copy(b[off:], v)
		case uint16:
			binary.LittleEndian.PutUint16(b[off:], v)
		case uint32:
			binary.LittleEndian.PutUint32(b[off:], v)
		case uint64:
			binary.LittleEndian.PutUint64(b[off:], v)
		}
	}
	crc := crc32.Checksum(b[:size-4], crc32.MakeTable(crc32.Castagnoli))
	binary.LittleEndian.PutUint32(b[size-4:], crc)
	return b
}

const (
	handStart = uint64(3) << 40
	handID    = "0123456789abcdef"
)

func handSegment(version uint32) []byte {
	payload := "two rows of something"
	b := byHand(64, map[int]any{0: "SGJSEG\r\n", 8: version, 12: uint32(7), 16: handID, 32: handStart + 1, 40: handStart - 5, 48: uint64(1_700_000_000e9)})
	for i := range uint64(2) {
		h := byHand(64, map[int]any{
			0: "\xF5SGF", 4: uint16(1), 6: uint16(9), 8: handID, 24: handStart + 1 + i, 32: 1_700_000_001e9 + i,
			40: uint32(7), 44: uint32(len(b)), 48: uint32(2), 52: uint32(len(payload)), 56: crc32.Checksum([]byte(payload), crc32.MakeTable(crc32.Castagnoli)),
		})
		b = append(append(b, h...), payload...)
	}
	return append(b, byHand(64, map[int]any{0: "\xF5SGE", 4: uint16(1), 8: uint32(7), 12: uint32(len(b)), 16: uint64(2), 24: uint64(4), 32: handStart + 2, 40: uint64(1_700_000_001e9)})...)
}

// handState has the commit point after the first frame, with or without its place.
func handState(version uint32, m mark, placed bool) []byte {
	segment, offset := uint32(7), uint32(64+64+21)
	if !placed {
		segment, offset = 0, 0
	}

	b := make([]byte, 4096)
	copy(b, byHand(512, map[int]any{0: "SGJSTATE", 8: uint32(1), 16: uint64(4), 24: "fedcba9876543210", 40: m.inode, 48: uint64(m.birth)}))
	return append(b, byHand(512, map[int]any{
		0: "SGJSTATE", 8: version, 16: uint64(5), 24: handID, 40: m.inode, 48: uint64(m.birth),
		56: uint64(3), 64: handStart + 1, 72: segment, 76: offset, 80: uint32(7), 88: handStart + 2,
	})...)
}

// handFolder writes a folder of the documented format.
func handFolder(t *testing.T, segment, state uint32, placed bool) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "state")
	require.NoError(t, os.WriteFile(path, nil, fileMode))
	m, err := readMark(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, handState(state, m, placed), fileMode))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "0000000007.seg"), handSegment(segment), fileMode))
	return dir
}

func TestTheDocumentedFormatIsRead(t *testing.T) {
	for name, placed := range map[string]bool{"with the commit point's place": true, "by sequence alone": false} {
		t.Run(name, func(t *testing.T) { readsHandFolder(t, handFolder(t, 1, 1, placed)) })
	}
}

func readsHandFolder(t *testing.T, dir string) {
	j, rec := open(t, Options{Dir: dir})
	assert.Equal(t, handID, string(rec.Journal[:]))
	assert.Empty(t, rec.Damage)
	assert.EqualValues(t, 1, rec.Frames)
	assert.EqualValues(t, 2, rec.Rows)
	f, ok := tryNext(t, j)
	require.True(t, ok)
	assert.Equal(t, Frame{Journal: ID([]byte(handID)), Seq: handStart + 2, Arrival: time.Unix(1_700_000_001, 1), Kind: 9, Rows: 2, Payload: []byte("two rows of something")}, f)
	_, ok = tryNext(t, j)
	assert.False(t, ok)
	assert.Zero(t, j.Stats().DamageEvents)
	assert.Equal(t, uint64(4)<<40|1, appendFrame(t, j, testFrame(1, 10)))
	assert.FileExists(t, filepath.Join(dir, "0000000008.seg"))
}

// And what is written is the documented format.
func TestTheDocumentedFormatIsWritten(t *testing.T) {
	b := make([]byte, headerSize)
	h := segmentHeader{journal: ID([]byte(handID)), first: handStart + 1, previous: handStart - 5, created: 1_700_000_000e9}
	h.encode(b, 7)
	want := handSegment(1)
	assert.Equal(t, hex.Dump(want[:64]), hex.Dump(b))
	f := frameHeader{kind: 9, journal: ID([]byte(handID)), seq: handStart + 2, arrival: 1_700_000_001e9 + 1, segment: 7, offset: 64 + 64 + 21, rows: 2, length: 21, payload: checksum([]byte("two rows of something"))}
	f.encode(b)
	assert.Equal(t, hex.Dump(want[149:149+64]), hex.Dump(b))
	s := segment{num: 7, end: 234, frames: 2, rows: 4, last: handStart + 2, arrival: 1_700_000_001e9}
	s.encodeFooter(b)
	assert.Equal(t, hex.Dump(want[234:]), hex.Dump(b))
	slot := make([]byte, slotSize)
	m := mark{inode: 11, birth: 12}
	st := state{generation: 5, journal: ID([]byte(handID)), mark: m, start: 3, commit: handStart + 1, commitSegment: 7, commitOffset: 149, newest: 7, last: handStart + 2}
	st.encode(slot)
	assert.Equal(t, hex.Dump(handState(1, m, true)[4096:]), hex.Dump(slot))
}

// U35: what a newer release wrote is refused, and nothing is changed.
func TestNewerFormatIsRefusedUntouched(t *testing.T) {
	for name, v := range map[string][2]uint32{"segment": {2, 1}, "state": {1, 2}, "both": {9, 9}} {
		t.Run(name, func(t *testing.T) {
			dir := handFolder(t, v[0], v[1], true)
			before := snapshot(t, dir)
			for range 2 {
				_, _, err := Open(Options{Dir: dir})
				require.ErrorIs(t, err, ErrNewerFormat)
				require.ErrorContains(t, err, "newer release")
				require.Equal(t, before, snapshot(t, dir))
			}
			_, _, err := Open(Options{Dir: dir, Adopt: true})
			require.ErrorIs(t, err, ErrNewerFormat)
		})
	}
}

// snapshot is the content of a folder's files, the lock's apart.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		if e.Name() == "lock" {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		out[e.Name()] = string(b)
	}
	return out
}

func TestAFolderHasOneUser(t *testing.T) {
	dir := t.TempDir()
	j, _ := open(t, Options{Dir: dir})
	_, _, err := Open(Options{Dir: dir})
	require.ErrorIs(t, err, ErrLocked)
	require.ErrorContains(t, err, "process ")
	appendFrame(t, j, testFrame(1, 10))
	closeJournal(t, j)
	j, _ = open(t, Options{Dir: dir})
	assert.Len(t, readAll(t, j), 1)
}

func TestACopiedFolderIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	j, _ := open(t, Options{Dir: dir})
	id := j.ID()
	first := appendFrame(t, j, testFrame(1, 100))
	closeJournal(t, j)
	copied := dir + "-copy"
	out, err := exec.Command("cp", "-a", dir, copied).CombinedOutput()
	require.NoError(t, err, string(out))
	before := snapshot(t, copied)

	_, _, err = Open(Options{Dir: copied})
	require.ErrorIs(t, err, ErrCopied)
	require.ErrorContains(t, err, "adopt")
	require.ErrorContains(t, err, id.String())
	require.Equal(t, before, snapshot(t, copied))

	c, rec := open(t, Options{Dir: copied, Adopt: true})
	assert.Equal(t, id, rec.Previous)
	assert.NotEqual(t, id, c.ID())
	assert.True(t, strings.HasPrefix(rec.String(), "adopted the copy of journal "+id.String()))
	second := appendFrame(t, c, testFrame(2, 100))
	require.Greater(t, second, first)
	got := readAll(t, c)
	require.Len(t, got, 2)
	assert.Equal(t, []ID{id, c.ID()}, []ID{got[0].Journal, got[1].Journal})
	sameFrame(t, first, testFrame(1, 100), got[0])
	adopted := c.ID()
	closeJournal(t, c)

	c, rec = open(t, Options{Dir: copied, Adopt: true})
	assert.Equal(t, adopted, c.ID(), "adopting is done once")
	assert.True(t, rec.Previous.IsZero())
	closeJournal(t, c)

	moved := dir + "-moved"
	require.NoError(t, os.Rename(dir, moved))
	j, rec = open(t, Options{Dir: moved})
	assert.Equal(t, id, j.ID(), "a folder that was moved is the same")
	assert.EqualValues(t, 1, rec.Frames)
}

// A copy onto a fresh volume can get the original's inode number; the time of
// birth tells it apart, where the filesystem has one.
func TestTheMarkHasTwoParts(t *testing.T) {
	m := mark{inode: 13, birth: 1_700_000_000e9}
	for name, c := range map[string]struct {
		now  mark
		same bool
	}{
		"the same":         {m, true},
		"same inode only":  {mark{13, m.birth + 1}, false},
		"same birth only":  {mark{14, m.birth}, false},
		"birth not told":   {mark{13, 0}, true},
		"nothing the same": {mark{14, 0}, false},
	} {
		t.Run(name, func(t *testing.T) {
			st := state{journal: newID(), mark: m}
			_, err := claim(&st, true, c.now, false, "folder")
			if c.same {
				require.NoError(t, err)
				require.Equal(t, c.now, st.mark)
			} else {
				require.ErrorIs(t, err, ErrCopied)
			}
		})
	}
}
