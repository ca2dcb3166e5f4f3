package journal

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

const (
	stateName  = "state"
	slotSize   = 512
	slotStride = 4096 // so that one torn block cannot take both slots
)

// mark tells an original from a copy: no tool that copies files can give the
// copy the inode and the time of birth of the original.
type mark struct {
	inode uint64
	birth int64 // Unix nanoseconds; 0 where the filesystem tells none
}

// same reports whether m and o are one file. Where one of them has no time of
// birth the inode decides: a kernel may learn to tell it between two starts.
func (m mark) same(o mark) bool {
	return m.inode == o.inode && (m.birth == o.birth || m.birth == 0 || o.birth == 0)
}

// state is the content of the state file: who the journal is, and how far it
// has been consumed.
type state struct {
	generation    uint64
	journal       ID
	mark          mark
	start         uint64 // how often the folder was opened; the upper bits of a sequence
	commit        uint64 // all frames up to this sequence are consumed
	commitSegment uint32
	commitOffset  uint32 // where the frame after the commit point begins
	newest        uint32 // the highest segment number that held a frame
	last          uint64 // the highest sequence on disk
}

func (s *state) encode(b []byte) {
	b = b[:slotSize]
	clear(b)
	copy(b, stateMagic)
	le.PutUint32(b[8:], formatVersion)
	le.PutUint64(b[16:], s.generation)
	copy(b[24:], s.journal[:])
	le.PutUint64(b[40:], s.mark.inode)
	le.PutUint64(b[48:], uint64(s.mark.birth))
	le.PutUint64(b[56:], s.start)
	le.PutUint64(b[64:], s.commit)
	le.PutUint32(b[72:], s.commitSegment)
	le.PutUint32(b[76:], s.commitOffset)
	le.PutUint32(b[80:], s.newest)
	le.PutUint64(b[88:], s.last)
	seal(b)
}

// decodeState reads one slot. The version is 0 when the slot cannot be read.
func decodeState(b []byte) (s state, version uint32) {
	if !sealed(b[:slotSize], stateMagic) {
		return s, 0
	}
	if version = le.Uint32(b[8:]); version != formatVersion {
		return s, version
	}
	return state{
		generation:    le.Uint64(b[16:]),
		journal:       ID(b[24:40]),
		mark:          mark{inode: le.Uint64(b[40:]), birth: int64(le.Uint64(b[48:]))},
		start:         le.Uint64(b[56:]),
		commit:        le.Uint64(b[64:]),
		commitSegment: le.Uint32(b[72:]),
		commitOffset:  le.Uint32(b[76:]),
		newest:        le.Uint32(b[80:]),
		last:          le.Uint64(b[88:]),
	}, version
}

// stateFile is the state file, open. It is overwritten in place, one slot after
// the other: replacing it by a rename would need space that a full disk does not
// have just when consumed segments have to go, and would change the inode.
type stateFile struct {
	f    file
	path string
	buf  [slotSize]byte
}

// readState reads the state of a folder without changing it. slots says
// how many of the two could be read: none is how a new folder looks as well.
func readState(d *disk, dir string) (s state, slots int, err error) {
	path := filepath.Join(dir, stateName)
	f, err := d.open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, 0, nil
	}
	if err != nil {
		return s, 0, fmt.Errorf("open journal state %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var b [slotSize]byte
	for slot := range int64(2) {
		if n, err := f.ReadAt(b[:], slot*slotStride); n < slotSize {
			if err != nil && n == 0 && !isDamage(err) && !isEOF(err) {
				return s, 0, fmt.Errorf("read journal state %s: %w", path, err)
			}
			continue
		}
		got, version := decodeState(b[:])
		if version > formatVersion {
			return s, 0, newerFormat(path, version)
		}
		if version != formatVersion {
			continue
		}
		if slots++; slots == 1 || got.generation > s.generation {
			s = got
		}
	}
	return s, slots, nil
}

// newerFormat refuses a file of a later release.
func newerFormat(path string, version uint32) error {
	return fmt.Errorf("%w: %s has version %d and this release knows up to %d; nothing was changed; open it with the newer release, and drain it there before going back",
		ErrNewerFormat, path, version, formatVersion)
}

// openStateFile opens the state file for writing, and makes it when it is absent.
func openStateFile(d *disk, dir string) (*stateFile, error) {
	path := filepath.Join(dir, stateName)
	f, err := d.open(path)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = d.create(path)
	}
	if err != nil {
		return nil, fmt.Errorf("open journal state %s: %w", path, err)
	}
	return &stateFile{f: f, path: path}, nil
}

// write puts s, with the next generation, where the older generation is, and fsyncs.
func (sf *stateFile) write(s *state) error {
	s.generation++
	s.encode(sf.buf[:])
	if _, err := sf.f.WriteAt(sf.buf[:], int64(s.generation%2)*slotStride); err != nil {
		return fmt.Errorf("write journal state %s: %w", sf.path, err)
	}
	if err := sf.f.Sync(); err != nil {
		return fmt.Errorf("sync journal state %s: %w", sf.path, err)
	}
	return nil
}

// claim settles whose folder this is: it gives a new journal an id, refuses a
// copy or adopts it, and counts the start. It writes nothing. previous is the id
// that was given up, if any.
func claim(s *state, found bool, m mark, adopt bool, dir string) (previous ID, err error) {
	if found && !s.mark.same(m) {
		if !adopt {
			return ID{}, fmt.Errorf("%w: %s was made as journal %s with inode %d, and is now inode %d; "+
				"two collectors with one journal id would give one name to two records; "+
				"give this collector a folder of its own, or open the copy once with adopt, which gives it a new id and keeps its backlog",
				ErrCopied, dir, s.journal, s.mark.inode, m.inode)
		}
		previous = s.journal
	}
	if !found || !previous.IsZero() {
		s.journal = newID()
	}
	s.mark = m
	return previous, nil
}

// newID makes a random id.
func newID() (id ID) {
	_, _ = rand.Read(id[:]) // never fails: crypto/rand ends the process instead
	return id
}
