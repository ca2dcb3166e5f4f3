// Package jsontape parses JSON text into a flat list of nodes that point into
// the text. One pass checks the grammar of RFC 8259 strictly and finds, by the
// way, what a contract on JSON hygiene asks: repeated member names, numbers
// beyond a double, text that is not Unicode, and depth. It copies nothing,
// holds no recursion, and refuses to judge: what a finding means is not its
// business.
package jsontape

import "errors"

// Kind is the JSON type of a node.
type Kind uint8

// The kinds. The zero value is no kind of a parsed node.
const (
	Invalid Kind = iota
	Null
	False
	True
	Number
	String
	Array
	Object
)

// Flags of a node.
const (
	// KeyEscaped is set when the member's name holds a backslash.
	KeyEscaped = 1 << iota
	// Escaped is set when the string holds a backslash.
	Escaped
	// Overridden is set on a member whose name comes again later in the same
	// object: the last one counts (R16).
	Overridden
	// OutOfRange is set on a number that is no finite double (R17).
	OutOfRange
	// NotUnicode is set when the string or the member's name holds a lone
	// surrogate or bytes that are not UTF-8 (R18).
	NotUnicode
	// Integral is set on a number without fraction and exponent.
	Integral
)

// MaxDepth is how many arrays and objects may be open at once. The contract
// asks for 200 levels and lets a reader refuse more than 1,000 (R20); a fixed
// bound also fixes the size of the stack.
const MaxDepth = 1000

// ErrDepth reports a value with more than MaxDepth levels.
var ErrDepth = errors.New("more than 1000 levels of nesting")

// ErrSyntax reports text that is not JSON.
var ErrSyntax = errors.New("not JSON")

// Node is one value of the text. Offsets count bytes from the text's start.
type Node struct {
	Kind  Kind
	Flags uint8
	// KeyStart and KeyEnd enclose the member's name without its quotes. Both
	// are 0 when the node is no member.
	KeyStart, KeyEnd uint32
	// Start and End enclose the value; a string's quotes are within. End is 0
	// on a container that a syntax error left open.
	Start, End uint32
	// Next is the index of the node after this one and all it holds.
	Next uint32
}

// Has tells whether any of the flags is set.
func (n *Node) Has(flags uint8) bool { return n.Flags&flags != 0 }

// Tape is the nodes of one value, in the order of the text: a container comes
// before what it holds. Its buffers are reused by the next Parse.
type Tape struct {
	Text  []byte
	Nodes []Node
	// Repeated lists members whose name stood before in the same object, and
	// OutOfRange numbers beyond a double: the first MaxNoted of each.
	Repeated, OutOfRange []uint32
	// NotUnicode is true when any node has that flag.
	NotUnicode bool
	// Blanks is true when blanks stand between tokens of the value.
	Blanks bool
	// Failed is the offset at which Parse gave up, when it did.
	Failed int

	stack   []uint32
	names   nameTable
	scratch []byte
}

// MaxNoted bounds Repeated and OutOfRange. The flags are on every node; the
// lists are for reports, and no reader wants more of them.
const MaxNoted = 100

// Len is the number of nodes.
func (t *Tape) Len() uint32 { return offset(len(t.Nodes)) }

// Value gives the bytes of node i as they stand in the text.
func (t *Tape) Value(i uint32) []byte {
	n := &t.Nodes[i]
	return t.Text[n.Start:n.End]
}

// Children iterates over what container i holds, overridden members left out.
func (t *Tape) Children(i uint32) func(yield func(uint32) bool) {
	return func(yield func(uint32) bool) {
		end := t.Nodes[i].Next
		for j := i + 1; j < end; j = t.Nodes[j].Next {
			if t.Nodes[j].Has(Overridden) {
				continue
			}
			if !yield(j) {
				return
			}
		}
	}
}

// Member finds the member of that name in object i. It is false when there is
// none, or i is no object.
func (t *Tape) Member(i uint32, name string) (uint32, bool) {
	if t.Nodes[i].Kind != Object {
		return 0, false
	}
	end := t.Nodes[i].Next
	for j := i + 1; j < end; j = t.Nodes[j].Next {
		if !t.Nodes[j].Has(Overridden) && t.KeyIs(j, name) {
			return j, true
		}
	}
	return 0, false
}

// KeyIs tells whether member j has that name.
func (t *Tape) KeyIs(j uint32, name string) bool {
	n := &t.Nodes[j]
	if n.Has(KeyEscaped | NotUnicode) {
		return t.Key(j) == name
	}
	return string(t.Text[n.KeyStart:n.KeyEnd]) == name
}

// Key decodes the name of member j.
func (t *Tape) Key(j uint32) string {
	n := &t.Nodes[j]
	raw := t.Text[n.KeyStart:n.KeyEnd]
	if !n.Has(KeyEscaped | NotUnicode) {
		return string(raw)
	}
	return string(appendDecoded(nil, raw, false))
}

// Text of a string node without its quotes, undecoded. See Plain.
func (t *Tape) raw(i uint32) []byte {
	n := &t.Nodes[i]
	return t.Text[n.Start+1 : n.End-1]
}

// Plain gives the bytes of string node i without a copy, and false when they
// need decoding.
func (t *Tape) Plain(i uint32) ([]byte, bool) {
	return t.raw(i), !t.Nodes[i].Has(Escaped | NotUnicode)
}

// StringIs tells whether node i is the string s.
func (t *Tape) StringIs(i uint32, s string) bool {
	if t.Nodes[i].Kind != String {
		return false
	}
	if raw, plain := t.Plain(i); plain {
		return string(raw) == s
	}
	return t.String(i) == s
}

// String decodes string node i. Lone surrogates and bytes that are not UTF-8
// become U+FFFD.
func (t *Tape) String(i uint32) string {
	raw, plain := t.Plain(i)
	if plain {
		return string(raw)
	}
	return string(appendDecoded(nil, raw, false))
}

// AppendString is String, appended to dst.
func (t *Tape) AppendString(dst []byte, i uint32) []byte {
	raw, plain := t.Plain(i)
	if plain {
		return append(dst, raw...)
	}
	return appendDecoded(dst, raw, false)
}

// Pointer is the JSON Pointer (RFC 6901) of node i within root.
func (t *Tape) Pointer(root, i uint32) string {
	return string(t.AppendPointer(nil, root, i))
}

// AppendPointer is Pointer, appended to dst.
func (t *Tape) AppendPointer(dst []byte, root, i uint32) []byte {
	for at := root; at != i; {
		inArray := t.Nodes[at].Kind == Array
		child := at + 1
		for n := 0; ; n++ {
			if next := t.Nodes[child].Next; i >= next {
				child = next
				continue
			}
			if inArray {
				dst = appendIndex(dst, n)
			} else {
				dst = appendToken(dst, t.Key(child))
			}
			break
		}
		at = child
	}
	return dst
}
