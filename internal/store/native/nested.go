package native

import (
	"encoding/binary"
	"slices"
)

// Nested are columns of arrays whose rows end at the same elements, which are
// counted once and not by column.
type Nested struct {
	rows     *int
	block    *Block
	name     string
	elements int
	ends     []uint64
}

// Nested begins a Nested; its columns are added to what it returns.
func (b *Block) Nested(name string) *Nested {
	return &Nested{rows: &b.rows, block: b, name: name}
}

// Add begins an element of the row, in which each column of the Nested is set
// once or not at all.
func (n *Nested) Add() {
	n.fill(*n.rows - 1)
	n.elements++
}

// Text adds a column of type Array(String).
func (n *Nested) Text(name string) *Text { return member(n, name, &Text{rows: &n.elements}) }

// Low adds a column of type Array(LowCardinality(String)).
func (n *Nested) Low(name string) *Low { return member(n, name, low(&n.elements)) }

// OptionalText adds a column of type Array(Nullable(String)).
func (n *Nested) OptionalText(name string) *OptionalText {
	return member(n, name, optionalText(&n.elements))
}

// OptionalLow adds a column of type Array(LowCardinality(Nullable(String))).
func (n *Nested) OptionalLow(name string) *OptionalLow {
	return member(n, name, optionalLow(&n.elements))
}

func member[C column](n *Nested, name string, c C) C {
	add(n.block, n.name+"."+name, &array{c, n})
	return c
}

func (n *Nested) fill(rows int) {
	for len(n.ends) < rows {
		n.ends = append(n.ends, uint64(n.elements))
	}
}

func (n *Nested) body(dst []byte) []byte {
	dst = slices.Grow(dst, 8*len(n.ends))
	for _, e := range n.ends {
		dst = binary.LittleEndian.AppendUint64(dst, e)
	}
	return dst
}

func (n *Nested) reset() { n.ends, n.elements = n.ends[:0], 0 }

// array is a column of a Nested.
type array struct {
	column
	of *Nested
}

func (c *array) kind() string { return "Array(" + c.column.kind() + ")" }

func (c *array) fill(rows int) {
	c.of.fill(rows)
	c.column.fill(c.of.elements)
}

func (c *array) body(dst []byte) []byte { return c.column.body(c.of.body(dst)) }

func (c *array) reset() {
	c.of.reset()
	c.column.reset()
}

// Map is a column of type Map(LowCardinality(String), String).
type Map struct {
	pairs  Nested
	keys   *Low
	values *Text
}

// Map adds a column.
func (b *Block) Map(name string) *Map {
	m := &Map{pairs: Nested{rows: &b.rows}}
	m.keys, m.values = low(&m.pairs.elements), &Text{rows: &m.pairs.elements}
	return add(b, name, m)
}

// Add adds a pair to the row.
func (m *Map) Add(key, value string) {
	m.pairs.Add()
	m.keys.Set(key)
	m.values.Set(value)
}

func (m *Map) kind() string { return "Map(LowCardinality(String), String)" }

func (m *Map) fill(rows int) {
	m.pairs.fill(rows)
	m.keys.fill(m.pairs.elements)
	m.values.fill(m.pairs.elements)
}

func (m *Map) state(dst []byte) []byte { return m.keys.state(dst) }
func (m *Map) body(dst []byte) []byte  { return m.values.body(m.keys.body(m.pairs.body(dst))) }

func (m *Map) reset() {
	m.pairs.reset()
	m.keys.reset()
	m.values.reset()
}
