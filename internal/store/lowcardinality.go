package store

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/soakgate/soakgate/internal/classify"
)

// dictionary is a column of type LowCardinality in the making: on the wire a
// dictionary of plain texts, whose entry 0 stands for "no text", followed by one
// index a row. ch-go cannot write LowCardinality(Nullable(String)) at all, and
// looks each row of LowCardinality(String) up in a map when it encodes, which
// took a tenth of all that columns cost: most rows repeat the one before.
type dictionary struct {
	index   map[string]uint32
	values  proto.ColStr
	keys    []uint32
	last    string // the last row's text, and its entry; 0 for none yet
	lastKey uint32
}

// Serialization of LowCardinality in Native blocks: the version of the keys,
// and the flags "own dictionary" and "new dictionary" above the width of the
// indexes, which is 0 for one byte, 1 for two, 2 for four.
const (
	keysVersion       = 1
	ownDictionaryBits = 1<<9 | 1<<10
)

func newDictionary() dictionary {
	d := dictionary{index: make(map[string]uint32)}
	d.values.Append("")
	return d
}

// none adds a row without a text.
func (d *dictionary) none() { d.keys = append(d.keys, 0) }

// add adds a row. The text is held until the next Reset.
func (d *dictionary) add(v string) {
	if d.lastKey == 0 || v != d.last {
		key, ok := d.index[v]
		if !ok {
			key = uint32(d.values.Rows())
			d.values.Append(v)
			d.index[v] = key
		}
		d.last, d.lastKey = v, key
	}
	d.keys = append(d.keys, d.lastKey)
}

// Rows is the number of rows.
func (d *dictionary) Rows() int { return len(d.keys) }

// Reset empties the column and keeps its memory.
func (d *dictionary) Reset() {
	clear(d.index)
	d.values.Reset()
	d.values.Append("")
	d.keys = d.keys[:0]
	d.last, d.lastKey = "", 0
}

// EncodeState writes the version of the keys, once before the column.
func (d *dictionary) EncodeState(b *proto.Buffer) { b.PutInt64(keysVersion) }

// EncodeColumn writes dictionary and indexes; nothing for no rows.
func (d *dictionary) EncodeColumn(b *proto.Buffer) {
	if len(d.keys) == 0 {
		return
	}
	entries := d.values.Rows()
	width, bytes := int64(0), 1
	switch {
	case entries > math.MaxUint16+1:
		width, bytes = 2, 4
	case entries > math.MaxUint8+1:
		width, bytes = 1, 2
	}
	b.PutInt64(ownDictionaryBits | width)
	b.PutInt64(int64(entries))
	d.values.EncodeColumn(b)
	b.PutInt64(int64(len(d.keys)))
	b.Buf = slices.Grow(b.Buf, bytes*len(d.keys))
	for _, k := range d.keys {
		switch width {
		case 0:
			b.Buf = append(b.Buf, byte(k))
		case 1:
			b.Buf = binary.LittleEndian.AppendUint16(b.Buf, uint16(k))
		default:
			b.Buf = binary.LittleEndian.AppendUint32(b.Buf, k)
		}
	}
}

// WriteColumn writes the column to a stream.
func (d *dictionary) WriteColumn(w *proto.Writer) { w.ChainBuffer(d.EncodeColumn) }

// DecodeColumn is never needed: the column is only written. Columns of arrays
// ask for it.
func (d *dictionary) DecodeColumn(*proto.Reader, int) error { return errWriteOnly }

// lowText is a LowCardinality(String) column.
type lowText struct{ dictionary }

func newLowText() *lowText { return &lowText{newDictionary()} }

// Append adds a row.
func (c *lowText) Append(v string) {
	if v == "" {
		c.none()
		return
	}
	c.add(v)
}

// AppendArr adds rows.
func (c *lowText) AppendArr(v []string) {
	for _, e := range v {
		c.Append(e)
	}
}

// Row is the value of row i.
func (c *lowText) Row(i int) string { return c.values.Row(int(c.keys[i])) }

// Type is the column's ClickHouse type.
func (c *lowText) Type() proto.ColumnType { return "LowCardinality(String)" }

// optionalText is a LowCardinality(Nullable(String)) column: no text is NULL.
type optionalText struct{ dictionary }

func newOptionalText() *optionalText { return &optionalText{newDictionary()} }

// Append adds a row: NULL when the value is not set.
func (c *optionalText) Append(v proto.Nullable[string]) {
	if !v.Set {
		c.none()
		return
	}
	c.add(v.Value)
}

// AppendArr adds rows.
func (c *optionalText) AppendArr(v []proto.Nullable[string]) {
	for _, e := range v {
		c.Append(e)
	}
}

// Row is the value of row i.
func (c *optionalText) Row(i int) proto.Nullable[string] {
	if c.keys[i] == 0 {
		return proto.Null[string]()
	}
	return proto.NewNullable(c.values.Row(int(c.keys[i])))
}

// Type is the column's ClickHouse type.
func (c *optionalText) Type() proto.ColumnType { return "LowCardinality(Nullable(String))" }

func nullable[T any](v classify.Optional[T]) proto.Nullable[T] {
	return proto.Nullable[T]{Set: v.Set, Value: v.Value}
}
