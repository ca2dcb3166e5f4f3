package store

import (
	"encoding/binary"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/soakgate/soakgate/internal/classify"
)

// optionalText is a LowCardinality(Nullable(String)) column, which ch-go cannot
// write. On the wire it is a dictionary of plain strings, whose entry 0 stands
// for NULL, followed by one index a row.
type optionalText struct {
	index  map[string]uint32
	values proto.ColStr
	keys   []uint32
}

// Serialization of LowCardinality in Native blocks: the version of the keys,
// and the flags "own dictionary" and "new dictionary" above the index type.
const (
	keysVersion       = 1
	ownDictionaryBits = 1<<9 | 1<<10
	indexUint32       = 2
)

func newOptionalText() *optionalText {
	c := &optionalText{index: make(map[string]uint32)}
	c.values.Append("")
	return c
}

// Append adds a row: NULL when the value is not set.
func (c *optionalText) Append(v proto.Nullable[string]) {
	if !v.Set {
		c.keys = append(c.keys, 0)
		return
	}
	key, ok := c.index[v.Value]
	if !ok {
		key = uint32(c.values.Rows())
		c.values.Append(v.Value)
		c.index[v.Value] = key
	}
	c.keys = append(c.keys, key)
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

// Rows is the number of rows.
func (c *optionalText) Rows() int { return len(c.keys) }

// Reset empties the column and keeps its memory.
func (c *optionalText) Reset() {
	clear(c.index)
	c.values.Reset()
	c.values.Append("")
	c.keys = c.keys[:0]
}

// Type is the column's ClickHouse type.
func (c *optionalText) Type() proto.ColumnType { return "LowCardinality(Nullable(String))" }

// EncodeState writes the version of the keys, once before the column.
func (c *optionalText) EncodeState(b *proto.Buffer) { b.PutInt64(keysVersion) }

// EncodeColumn writes dictionary and indexes; nothing for no rows.
func (c *optionalText) EncodeColumn(b *proto.Buffer) {
	if len(c.keys) == 0 {
		return
	}
	b.PutInt64(ownDictionaryBits | indexUint32)
	b.PutInt64(int64(c.values.Rows()))
	c.values.EncodeColumn(b)
	b.PutInt64(int64(len(c.keys)))
	for _, k := range c.keys {
		b.Buf = binary.LittleEndian.AppendUint32(b.Buf, k)
	}
}

// WriteColumn writes the column to a stream.
func (c *optionalText) WriteColumn(w *proto.Writer) { w.ChainBuffer(c.EncodeColumn) }

// DecodeColumn is never needed: the column is only written. Columns of arrays
// ask for it.
func (c *optionalText) DecodeColumn(*proto.Reader, int) error { return errWriteOnly }

// Prepare has nothing to do: the dictionary grows as rows are added.
func (c *optionalText) Prepare() error { return nil }

func nullable[T any](v classify.Optional[T]) proto.Nullable[T] {
	return proto.Nullable[T]{Set: v.Set, Value: v.Value}
}
