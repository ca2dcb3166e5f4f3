package jsontape

import (
	"bytes"
	"hash/maphash"
)

// smallObject is the number of members up to which names are compared pair by
// pair. Above it a hash table keeps the work linear in the text.
const smallObject = 24

// findRepeated marks members of object i whose name comes again later, and
// notes those that repeat one.
func (t *Tape) findRepeated(i uint32) {
	end := t.Nodes[i].Next
	count, escaped := uint32(0), false
	// seen has a bit for each (length, first byte, last byte) met so far. As
	// long as every member sets a new bit, all names differ.
	var seen uint64
	clash := false
	for j := i + 1; j < end; j = t.Nodes[j].Next {
		n := &t.Nodes[j]
		count++
		if n.Has(KeyEscaped | NotUnicode) {
			escaped = true
		}
		bit := uint64(1) << t.keyBits(n)
		clash = clash || seen&bit != 0
		seen |= bit
	}
	switch {
	case !clash && !escaped:
	case count <= smallObject && !escaped:
		t.pairs(i)
	default:
		t.hashed(i, count)
	}
}

// keyBits maps a name to 0..63 by its length and two of its bytes.
func (t *Tape) keyBits(n *Node) uint32 {
	size := n.KeyEnd - n.KeyStart
	if size == 0 {
		return 0
	}
	h := size*31 + uint32(t.Text[n.KeyStart])*7 + uint32(t.Text[n.KeyEnd-1])*13
	return (h ^ h>>6) & 63
}

func (t *Tape) pairs(i uint32) {
	end := t.Nodes[i].Next
	for j := i + 1; j < end; j = t.Nodes[j].Next {
		n := &t.Nodes[j]
		name := t.Text[n.KeyStart:n.KeyEnd]
		for k := i + 1; k < j; k = t.Nodes[k].Next {
			m := &t.Nodes[k]
			if !m.Has(Overridden) && bytes.Equal(name, t.Text[m.KeyStart:m.KeyEnd]) {
				t.note(k, j)
			}
		}
	}
}

// note records that member later repeats the name of member earlier.
func (t *Tape) note(earlier, later uint32) {
	t.Nodes[earlier].Flags |= Overridden
	if len(t.Repeated) < MaxNoted {
		t.Repeated = append(t.Repeated, later)
	}
}

// nameTable is an open-addressed set of members of one object, by name.
type nameTable struct {
	seed  maphash.Seed
	ready bool
	slots []uint32 // index of the member plus one, 0 when free
}

func (t *Tape) hashed(i uint32, count uint32) {
	if !t.names.ready {
		t.names.seed, t.names.ready = maphash.MakeSeed(), true
	}
	size := uint64(1)
	for size < 2*uint64(count) {
		size *= 2
	}
	if uint64(cap(t.names.slots)) < size {
		t.names.slots = make([]uint32, size)
	}
	slots := t.names.slots[:size]
	clear(slots)
	end := t.Nodes[i].Next
	for j := i + 1; j < end; j = t.Nodes[j].Next {
		name := t.keyBytes(j, &t.scratch)
		at := maphash.Bytes(t.names.seed, name) & (size - 1)
		for slots[at] != 0 {
			earlier := slots[at] - 1
			var other []byte
			if string(t.keyBytes(earlier, &other)) == string(name) {
				t.note(earlier, j)
				break
			}
			at = (at + 1) & (size - 1)
		}
		slots[at] = j + 1
	}
}

// keyBytes is the decoded name of member j, in buf when it needs decoding. What
// is not Unicode stays as it is in it, so that two such names are one only when
// they were sent as one.
func (t *Tape) keyBytes(j uint32, buf *[]byte) []byte {
	n := &t.Nodes[j]
	raw := t.Text[n.KeyStart:n.KeyEnd]
	if !n.Has(KeyEscaped | NotUnicode) {
		return raw
	}
	*buf = appendDecoded((*buf)[:0], raw, true)
	return *buf
}
