package native

import (
	"encoding/binary"
	"encoding/hex"
	"slices"
)

// Text is a column of type String, kept as it is on the wire.
type Text struct {
	rows  *int
	done  int // rows in bytes
	bytes []byte
}

// Text adds a column.
func (b *Block) Text(name string) *Text { return add(b, name, &Text{rows: &b.rows}) }

// Set sets the value of the row.
func (c *Text) Set(v string) {
	if v != "" {
		c.bytes = append(c.begin(len(v)), v...)
	}
}

// SetBytes sets the value of the row.
func (c *Text) SetBytes(v []byte) {
	if len(v) > 0 {
		c.bytes = append(c.begin(len(v)), v...)
	}
}

// SetHex sets the value of the row to an id as lower case hex, and to "" for a
// zero id.
func (c *Text) SetHex(id []byte) {
	for _, b := range id {
		if b != 0 {
			c.bytes = hex.AppendEncode(c.begin(2*len(id)), id)
			return
		}
	}
}

// begin writes the length of the row's text.
func (c *Text) begin(length int) []byte {
	c.fill(*c.rows - 1)
	c.done++
	return binary.AppendUvarint(c.bytes, uint64(length))
}

func (c *Text) kind() string { return "String" }

func (c *Text) fill(rows int) {
	if n := rows - c.done; n > 0 {
		c.bytes = appendZeros(c.bytes, n)
		c.done = rows
	}
}

func (c *Text) state(dst []byte) []byte { return dst }
func (c *Text) body(dst []byte) []byte  { return append(dst, c.bytes...) }
func (c *Text) reset()                  { c.bytes, c.done = c.bytes[:0], 0 }

func appendZeros(dst []byte, n int) []byte {
	dst = slices.Grow(dst, n)[:len(dst)+n]
	clear(dst[len(dst)-n:])
	return dst
}
