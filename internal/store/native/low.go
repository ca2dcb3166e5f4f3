package native

import (
	"encoding/binary"
	"math"
	"slices"
)

// Low is a column of type LowCardinality(String), or of LowCardinality(Nullable(String)):
// a dictionary of texts, whose entry 0 stands for "no text", and one index a row.
type Low struct {
	rows    *int
	of      string // the type
	index   map[string]uint32
	entries int
	texts   []byte    // the entries as they are on the wire
	recent  [16]entry // texts of late, so that few are looked up in the index
	keys    []uint32
}

type entry struct {
	text string
	key  uint32
}

// Serialization of LowCardinality in Native blocks: the version of the keys,
// and the flags "own dictionary" and "new dictionary" above the width of the
// indexes, which is 0 for one byte, 1 for two, 2 for four.
const (
	keysVersion       = 1
	ownDictionaryBits = 1<<9 | 1<<10
)

// Low adds a column of type LowCardinality(String).
func (b *Block) Low(name string) *Low { return add(b, name, low(&b.rows)) }

func low(rows *int) *Low {
	c := &Low{rows: rows, of: "LowCardinality(String)", index: make(map[string]uint32)}
	c.reset()
	return c
}

// Set sets the value of the row. The text is held until the next Reset.
func (c *Low) Set(v string) {
	if v != "" {
		c.put(v)
	}
}

func (c *Low) put(v string) {
	key := c.keyOf(v)
	c.fill(*c.rows - 1)
	c.keys = append(c.keys, key)
}

func (c *Low) keyOf(v string) uint32 {
	if v == "" {
		return c.enter(v)
	}
	e := &c.recent[(len(v)+int(v[len(v)-1]))%len(c.recent)]
	if e.text != v {
		*e = entry{v, c.enter(v)}
	}
	return e.key
}

func (c *Low) enter(v string) uint32 {
	key, ok := c.index[v]
	if !ok {
		key = uint32(c.entries)
		c.index[v] = key
		c.texts = appendText(c.texts, v)
		c.entries++
	}
	return key
}

func (c *Low) kind() string { return c.of }

func (c *Low) fill(rows int) {
	for len(c.keys) < rows {
		c.keys = append(c.keys, 0)
	}
}

func (c *Low) state(dst []byte) []byte { return binary.LittleEndian.AppendUint64(dst, keysVersion) }

func (c *Low) body(dst []byte) []byte {
	if len(c.keys) == 0 {
		return dst
	}
	width, bytes := uint64(0), 1
	switch {
	case c.entries > math.MaxUint16+1:
		width, bytes = 2, 4
	case c.entries > math.MaxUint8+1:
		width, bytes = 1, 2
	}
	dst = binary.LittleEndian.AppendUint64(dst, ownDictionaryBits|width)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(c.entries))
	dst = append(dst, c.texts...)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(len(c.keys)))
	dst = slices.Grow(dst, bytes*len(c.keys))
	for _, k := range c.keys {
		switch width {
		case 0:
			dst = append(dst, byte(k))
		case 1:
			dst = binary.LittleEndian.AppendUint16(dst, uint16(k))
		default:
			dst = binary.LittleEndian.AppendUint32(dst, k)
		}
	}
	return dst
}

func (c *Low) reset() {
	clear(c.index)
	c.texts, c.entries = append(c.texts[:0], 0), 1
	c.recent = [16]entry{}
	c.keys = c.keys[:0]
}

// OptionalLow is a column of type LowCardinality(Nullable(String)).
type OptionalLow struct{ Low }

// OptionalLow adds a column.
func (b *Block) OptionalLow(name string) *OptionalLow { return add(b, name, optionalLow(&b.rows)) }

func optionalLow(rows *int) *OptionalLow {
	c := &OptionalLow{*low(rows)}
	c.of = "LowCardinality(Nullable(String))"
	return c
}

// Set sets the value of the row: NULL when it is not set.
func (c *OptionalLow) Set(v string, set bool) {
	if set {
		c.put(v)
	}
}
