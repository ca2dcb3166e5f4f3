package jsontape

import (
	"math"
	"slices"
)

// Parse reads the one JSON value that starts at text[at]; blanks before it and
// text after it are the caller's. It returns the offset after the value. On an
// error Nodes holds what was read so far, and Failed where reading ended.
// Text of 4 GiB and more is refused, since offsets are 32 bits wide.
func (t *Tape) Parse(text []byte, at int) (int, error) {
	t.Text, t.Failed, t.NotUnicode, t.Blanks = text, 0, false, false
	t.Nodes, t.stack = t.Nodes[:0], t.stack[:0]
	t.Repeated, t.OutOfRange = t.Repeated[:0], t.OutOfRange[:0]
	if uint64(len(text)) > math.MaxUint32 {
		return 0, ErrSyntax
	}
	end, err := t.parse(at)
	if err != nil {
		t.Failed = end
	}
	return end, err
}

// parse is a loop over values with the open containers on a stack. Each turn
// reads one value and then closes or continues what it stands in.
func (t *Tape) parse(at int) (int, error) {
	text := t.Text
	var keyStart, keyEnd int
	var keyFlags uint8
	for {
		i := len(t.Nodes)
		if i == cap(t.Nodes) {
			t.grow(len(text) - at)
		}
		t.Nodes = append(t.Nodes, Node{Flags: keyFlags, KeyStart: offset(keyStart), KeyEnd: offset(keyEnd), Start: offset(at)})
		keyStart, keyEnd, keyFlags = 0, 0, 0
		if at >= len(text) {
			t.Nodes = t.Nodes[:i]
			return at, ErrSyntax
		}
		open := false
		switch c := text[at]; c {
		case '{', '[':
			if len(t.stack) == MaxDepth {
				t.Nodes = t.Nodes[:i]
				return at, ErrDepth
			}
			t.stack = append(t.stack, offset(i))
			t.Nodes[i].Kind = Array
			if c == '{' {
				t.Nodes[i].Kind = Object
			}
			at, open = t.skip(at+1), true
			if at < len(text) && text[at] == c+2 { // '}' and ']' are two after their openers
				open = false
				at++
				t.close(at)
			}
		default:
			end, ok := t.scalar(i, c, at)
			if !ok {
				t.Nodes = t.Nodes[:i]
				return end, ErrSyntax
			}
			at = end
		}
		// What follows a complete value: a comma, or the end of what it is in.
		for !open {
			if len(t.stack) == 0 {
				return at, nil
			}
			if at = t.skip(at); at >= len(text) {
				return at, ErrSyntax
			}
			closer := byte('}')
			if t.Nodes[t.stack[len(t.stack)-1]].Kind == Array {
				closer = ']'
			}
			switch text[at] {
			case closer:
				at++
				t.close(at)
			case ',':
				at, open = t.skip(at+1), true
			default:
				return at, ErrSyntax
			}
		}
		if t.Nodes[t.stack[len(t.stack)-1]].Kind == Object {
			end, flags, ok := t.key(at)
			if !ok {
				return end, ErrSyntax
			}
			keyStart, keyEnd, keyFlags = at+1, end-1, flags
			if at = t.skip(end); at >= len(text) || text[at] != ':' {
				return at, ErrSyntax
			}
			at = t.skip(at + 1)
		}
	}
}

// offset narrows an offset or a count of nodes, which Parse has bounded: it
// refuses a text whose offsets do not fit.
func offset(n int) uint32 { return uint32(n) }

// grow makes room for more nodes when rest bytes are still to be read. It
// doubles, where append grows a large slice by a quarter and so copies it many
// times over, and stops at what the text can hold: a value takes two bytes with
// its comma, but for the openers, of which MaxDepth are open.
func (t *Tape) grow(rest int) {
	have := len(t.Nodes)
	t.Nodes = slices.Grow(t.Nodes, min(max(have, 64), max(rest, 0)/2+MaxDepth+1))
}

// key reads a member's name at at: the offset after it, and its flags.
func (t *Tape) key(at int) (int, uint8, bool) {
	if at >= len(t.Text) || t.Text[at] != '"' {
		return at, 0, false
	}
	end, flags, ok := scanString(t.Text, at)
	if flags&NotUnicode != 0 {
		t.NotUnicode = true
	}
	if flags&Escaped != 0 {
		flags = flags&^Escaped | KeyEscaped
	}
	return end, flags, ok
}

// scalar reads the value without parts that starts with c and fills node i.
func (t *Tape) scalar(i int, c byte, at int) (int, bool) {
	n := &t.Nodes[i]
	var flags uint8
	var end int
	ok := false
	switch {
	case c == '"':
		n.Kind = String
		if end, flags, ok = scanString(t.Text, at); flags&NotUnicode != 0 {
			t.NotUnicode = true
		}
	case c == '-' || (c >= '0' && c <= '9'):
		n.Kind = Number
		end, flags, ok = scanNumber(t.Text, at)
		if ok && flags&OutOfRange != 0 && len(t.OutOfRange) < MaxNoted {
			t.OutOfRange = append(t.OutOfRange, offset(i))
		}
	case c == 't':
		n.Kind = True
		end, ok = literal(t.Text, at, "true")
	case c == 'f':
		n.Kind = False
		end, ok = literal(t.Text, at, "false")
	case c == 'n':
		n.Kind = Null
		end, ok = literal(t.Text, at, "null")
	default:
		end = at
	}
	n.Flags |= flags
	n.End, n.Next = offset(end), offset(i)+1
	return end, ok
}

func literal(text []byte, at int, word string) (int, bool) {
	end := at + len(word)
	if end > len(text) || string(text[at:end]) != word {
		return at, false
	}
	return end, true
}

// close ends the innermost container at offset end.
func (t *Tape) close(end int) {
	i := t.stack[len(t.stack)-1]
	t.stack = t.stack[:len(t.stack)-1]
	n := &t.Nodes[i]
	n.End, n.Next = offset(end), offset(len(t.Nodes))
	if n.Kind == Object {
		t.findRepeated(i)
	}
}

// skip is the offset of the first byte from at that is no JSON blank.
func (t *Tape) skip(at int) int {
	if at < len(t.Text) && t.Text[at] > ' ' {
		return at
	}
	return t.skipBlanks(at)
}

func (t *Tape) skipBlanks(at int) int {
	for at < len(t.Text) {
		switch t.Text[at] {
		case ' ', '\n', '\t', '\r':
			t.Blanks = true
			at++
		default:
			return at
		}
	}
	return at
}
