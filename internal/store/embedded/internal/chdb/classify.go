package chdb

import (
	"errors"
	"unsafe"
)

// Class says what a statement does to state that outlives it, as the engine's
// own parser sees it.
type Class uint32

// The classes, with the numbers of the C header.
const (
	ClassReadOnly       Class = 0
	ClassMutating       Class = 1
	ClassMutatingGlobal Class = 2
	ClassControl        Class = 3
	ClassUnknown        Class = 4
)

// analysis is chdb_query_analysis_v1.
type analysis struct{ size, statements, _, class uint32 }

// Classify parses a text and says what class it has and how many statements it
// holds. A text that does not parse is ClassUnknown with 0 statements.
func (c *Conn) Classify(query string) (Class, int, error) {
	out := analysis{size: uint32(unsafe.Sizeof(analysis{}))}
	if c.lib.classify(c.inner, bytesOf(query), uintptr(len(query)), nil, 0, &out) != 0 {
		return ClassUnknown, 0, errors.New("the engine could not classify the statement")
	}
	return Class(out.class), int(out.statements), nil
}
