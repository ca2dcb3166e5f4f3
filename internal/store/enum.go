package store

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/soakgate/soakgate/internal/classify"
)

// The values of the table's Enum8 columns, in the order of their numbers.
var (
	switchNames     = []string{string(classify.SwitchUndeclared), string(classify.SwitchOn), string(classify.SwitchOff)}
	timeSourceNames = []string{string(classify.TimeSourceEvent), string(classify.TimeSourceObserved), string(classify.TimeSourceArrival)}
)

// enumColumn is an Enum8 column with its names, numbered from 0.
type enumColumn struct {
	proto.ColEnum8
	names []string
	kind  proto.ColumnType
}

func newEnum(names ...string) *enumColumn {
	parts := make([]string, len(names))
	for i, n := range names {
		parts[i] = fmt.Sprintf("'%s' = %d", n, i)
	}
	return &enumColumn{names: names, kind: proto.ColumnType("Enum8(" + strings.Join(parts, ", ") + ")")}
}

// Type is the column's type with its values.
func (c *enumColumn) Type() proto.ColumnType { return c.kind }

// append adds a row by name; a name that the enum lacks becomes the first.
func (c *enumColumn) append(name string) {
	c.Append(proto.Enum8(max(0, slices.Index(c.names, name))))
}
