// Package native writes blocks of rows in ClickHouse's format Native, revision 0,
// which carries names and types, and packs them. It owns the bytes on the wire of
// the column types that our tables have. It reads nothing back, knows no table,
// and refuses no value: what a column may hold is its caller's business.
//
// A column holds zero, "" or NULL in each row that does not set it, and such rows
// are filled in together: most records have neither limit nor warning nor error.
//
// Format: https://clickhouse.com/docs/interfaces/formats/Native
package native

import (
	"encoding/binary"
	"strings"
)

// Block is one block in the making. Columns are added before the first row, and
// keep their memory over Reset. Not safe for concurrent use.
type Block struct {
	rows    int
	columns []named
	raw     []byte
}

type named struct {
	name string
	column
}

// column is what a block needs of a column.
type column interface {
	// kind is the column's ClickHouse type.
	kind() string
	// fill makes up for the rows that have not set the column.
	fill(rows int)
	// state and body write what stands before the column and in it.
	state(dst []byte) []byte
	body(dst []byte) []byte
	reset()
}

func add[C column](b *Block, name string, c C) C {
	b.columns = append(b.columns, named{name, c})
	return c
}

// Rows is the number of rows begun since the last Reset.
func (b *Block) Rows() int { return b.rows }

// Begin begins a row. Each column is set in it once, or not at all.
func (b *Block) Begin() { b.rows++ }

// Reset empties the block.
func (b *Block) Reset() {
	b.rows = 0
	for _, c := range b.columns {
		c.reset()
	}
}

// Columns lists the columns by name, as an INSERT wants them.
func (b *Block) Columns() string {
	names := make([]string, len(b.columns))
	for i, c := range b.columns {
		names[i] = "`" + c.name + "`"
	}
	return strings.Join(names, ", ")
}

// AppendPlain writes the block to dst.
func (b *Block) AppendPlain(dst []byte) []byte {
	dst = b.head(dst)
	for _, c := range b.columns {
		dst = b.column(dst, c)
	}
	return dst
}

// AppendPacked writes the block to dst, packed (Pack), and makes no more of it at
// once than a column or a piece, which stay in the processor's cache.
func (b *Block) AppendPacked(dst []byte) ([]byte, error) {
	p := packers.Get().(*packer)
	defer packers.Put(p)
	var err error
	b.raw = b.head(b.raw[:0])
	for i, c := range b.columns {
		b.raw = b.column(b.raw, c)
		if len(b.raw) >= pieceSize || i == len(b.columns)-1 {
			if dst, err = p.pack(dst, b.raw); err != nil {
				return dst, err
			}
			b.raw = b.raw[:0]
		}
	}
	return dst, nil
}

func (b *Block) head(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(b.columns)))
	return binary.AppendUvarint(dst, uint64(b.rows))
}

func (b *Block) column(dst []byte, c named) []byte {
	dst = appendText(dst, c.name)
	dst = appendText(dst, c.kind())
	if b.rows == 0 {
		return dst
	}
	c.fill(b.rows)
	return c.body(c.state(dst))
}

func appendText[T string | []byte](dst []byte, v T) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(v))), v...)
}
