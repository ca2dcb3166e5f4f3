package native

import "math"

// Optional is a Nullable column of numbers. What stands under NULL is zero.
type Optional struct {
	null   flags
	values Fixed
}

// flags tell which rows are NULL: those that are not set.
type flags struct{ bytes []byte }

func (f *flags) fill(rows int) {
	for len(f.bytes) < rows {
		f.bytes = append(f.bytes, 1)
	}
}

// value tells that a row holds a value.
func (f *flags) value(row int) {
	f.fill(row)
	f.bytes = append(f.bytes, 0)
}

// OptionalUInt64 adds a column of type Nullable(UInt64); so do the others by their names.
func (b *Block) OptionalUInt64(name string) *Optional { return b.optional(name, "UInt64", 8) }

// OptionalUInt32 adds a column.
func (b *Block) OptionalUInt32(name string) *Optional { return b.optional(name, "UInt32", 4) }

// OptionalUInt16 adds a column.
func (b *Block) OptionalUInt16(name string) *Optional { return b.optional(name, "UInt16", 2) }

// OptionalInt64 adds a column.
func (b *Block) OptionalInt64(name string) *Optional { return b.optional(name, "Int64", 8) }

// OptionalFloat64 adds a column.
func (b *Block) OptionalFloat64(name string) *Optional { return b.optional(name, "Float64", 8) }

// OptionalBool adds a column.
func (b *Block) OptionalBool(name string) *Optional { return b.optional(name, "Bool", 1) }

// OptionalDateTime64 adds a column of times in UTC, in milliseconds.
func (b *Block) OptionalDateTime64(name string) *Optional {
	return b.optional(name, "DateTime64(3, 'UTC')", 8)
}

func (b *Block) optional(name, kind string, width int) *Optional {
	return add(b, name, &Optional{values: *fixed(&b.rows, kind, width)})
}

// Set sets the value of the row: NULL when it is not set.
func (c *Optional) Set(v uint64, set bool) {
	if set {
		c.put(v)
	}
}

func (c *Optional) put(v uint64) {
	c.null.value(*c.values.rows - 1)
	c.values.Set(v)
}

// SetBool sets the value of the row: NULL when it is not set.
func (c *Optional) SetBool(v, set bool) {
	if set {
		c.null.value(*c.values.rows - 1)
		c.values.SetBool(v)
	}
}

// SetFloat sets the value of the row: NULL when it is not set.
func (c *Optional) SetFloat(v float64, set bool) { c.Set(math.Float64bits(v), set) }

func (c *Optional) kind() string { return "Nullable(" + c.values.of + ")" }

func (c *Optional) fill(rows int) {
	c.null.fill(rows)
	c.values.fill(rows)
}

func (c *Optional) state(dst []byte) []byte { return dst }
func (c *Optional) body(dst []byte) []byte  { return c.values.body(append(dst, c.null.bytes...)) }

func (c *Optional) reset() {
	c.null.bytes = c.null.bytes[:0]
	c.values.reset()
}

// OptionalText is a column of type Nullable(String).
type OptionalText struct {
	null   flags
	values Text
}

// OptionalText adds a column.
func (b *Block) OptionalText(name string) *OptionalText {
	return add(b, name, optionalText(&b.rows))
}

func optionalText(rows *int) *OptionalText {
	return &OptionalText{values: Text{rows: rows}}
}

// Set sets the value of the row: NULL when it is not set.
func (c *OptionalText) Set(v string, set bool) {
	if set {
		c.null.value(*c.values.rows - 1)
		c.values.Set(v)
	}
}

func (c *OptionalText) kind() string { return "Nullable(String)" }

func (c *OptionalText) fill(rows int) {
	c.null.fill(rows)
	c.values.fill(rows)
}

func (c *OptionalText) state(dst []byte) []byte { return dst }
func (c *OptionalText) body(dst []byte) []byte {
	return c.values.body(append(dst, c.null.bytes...))
}

func (c *OptionalText) reset() {
	c.null.bytes = c.null.bytes[:0]
	c.values.reset()
}
