package native

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Fixed is a column of numbers of 1, 2, 4 or 8 bytes.
type Fixed struct {
	rows  *int
	of    string // the type
	width int
	bytes []byte
}

// UInt64 adds a column of type UInt64; so do the others by their names.
func (b *Block) UInt64(name string) *Fixed { return add(b, name, fixed(&b.rows, "UInt64", 8)) }

// UInt32 adds a column.
func (b *Block) UInt32(name string) *Fixed { return add(b, name, fixed(&b.rows, "UInt32", 4)) }

// Bool adds a column.
func (b *Block) Bool(name string) *Fixed { return add(b, name, fixed(&b.rows, "Bool", 1)) }

func fixed(rows *int, kind string, width int) *Fixed {
	return &Fixed{rows: rows, of: kind, width: width}
}

// Set sets the value of the row, in two's complement if it has a sign.
func (c *Fixed) Set(v uint64) {
	if v != 0 {
		c.put(v)
	}
}

// SetBool sets the value of the row.
func (c *Fixed) SetBool(v bool) {
	if v {
		c.put(1)
	}
}

func (c *Fixed) put(v uint64) {
	c.fill(*c.rows - 1)
	switch c.width {
	case 1:
		c.bytes = append(c.bytes, byte(v))
	case 2:
		c.bytes = binary.LittleEndian.AppendUint16(c.bytes, uint16(v))
	case 4:
		c.bytes = binary.LittleEndian.AppendUint32(c.bytes, uint32(v))
	default:
		c.bytes = binary.LittleEndian.AppendUint64(c.bytes, v)
	}
}

func (c *Fixed) kind() string { return c.of }

func (c *Fixed) fill(rows int) {
	if n := rows*c.width - len(c.bytes); n > 0 {
		c.bytes = appendZeros(c.bytes, n)
	}
}

func (c *Fixed) state(dst []byte) []byte { return dst }
func (c *Fixed) body(dst []byte) []byte  { return append(dst, c.bytes...) }
func (c *Fixed) reset()                  { c.bytes = c.bytes[:0] }

// Moments is a column of times in UTC: DateTime or DateTime64.
type Moments struct {
	Fixed
	perSecond, nanoseconds int64 // of the column's unit
}

// DateTime adds a column of times in seconds.
func (b *Block) DateTime(name string) *Moments {
	return add(b, name, &Moments{*fixed(&b.rows, "DateTime('UTC')", 4), 1, int64(time.Second)})
}

// DateTime64 adds a column of times with so many decimals of a second.
func (b *Block) DateTime64(name string, decimals int) *Moments {
	perSecond := int64(math.Pow10(decimals))
	return add(b, name, &Moments{*fixed(&b.rows, fmt.Sprintf("DateTime64(%d, 'UTC')", decimals), 8), perSecond, int64(time.Second) / perSecond})
}

// SetTime sets the value of the row; the zero time is the epoch.
func (c *Moments) SetTime(t time.Time) {
	if !t.IsZero() {
		c.Set(uint64(t.Unix()*c.perSecond + int64(t.Nanosecond())/c.nanoseconds))
	}
}

// Enum is a column of type Enum8, whose names are numbered from 0.
type Enum struct {
	Fixed
	names []string
}

// Enum8 adds a column.
func (b *Block) Enum8(name string, names ...string) *Enum {
	parts := make([]string, len(names))
	for i, n := range names {
		parts[i] = fmt.Sprintf("'%s' = %d", n, i)
	}
	return add(b, name, &Enum{*fixed(&b.rows, "Enum8("+strings.Join(parts, ", ")+")", 1), names})
}

// SetName sets the value of the row; a name that the enum lacks is its first.
func (c *Enum) SetName(name string) { c.Set(uint64(max(0, slices.Index(c.names, name)))) }

// UUIDs is a column of type UUID. It has a value in each row.
type UUIDs struct{ bytes []byte }

// UUID adds a column.
func (b *Block) UUID(name string) *UUIDs { return add(b, name, &UUIDs{}) }

// Add adds the value of the row: two numbers of eight bytes, the first half first.
func (c *UUIDs) Add(id [16]byte) {
	c.bytes = binary.LittleEndian.AppendUint64(c.bytes, binary.BigEndian.Uint64(id[:8]))
	c.bytes = binary.LittleEndian.AppendUint64(c.bytes, binary.BigEndian.Uint64(id[8:]))
}

func (c *UUIDs) kind() string            { return "UUID" }
func (c *UUIDs) fill(int)                {}
func (c *UUIDs) state(dst []byte) []byte { return dst }
func (c *UUIDs) body(dst []byte) []byte  { return append(dst, c.bytes...) }
func (c *UUIDs) reset()                  { c.bytes = c.bytes[:0] }
