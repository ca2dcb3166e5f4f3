// Package locate finds the envelope in a text: the text as one JSON value, or
// the leftmost complete object in it that is an envelope. It does so in time
// linear in the text, whatever the text is. It refuses to judge what it finds.
package locate

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/soakgate/soakgate/internal/classify/jsontape"
)

// Outcome says what a text turned out to hold.
type Outcome uint8

// The outcomes.
const (
	Nothing  Outcome = iota // no envelope, and the text is no JSON value
	Value                   // one JSON value that is no object
	Object                  // one JSON object and blanks
	Embedded                // an envelope with other text around it
	TooDeep                 // a value with more levels than are read
)

// Place is where a text holds its object.
type Place struct {
	Tape *jsontape.Tape
	Root uint32
	// Trailing is true when text that is not blank follows the object (R4).
	Trailing bool
	// Purports is true when the text holds the quoted name of an envelope's
	// member outside every complete object (R6).
	Purports bool
}

// Scanner finds the object in a text (R4). It keeps its tapes between texts.
// The zero value is ready; it is not safe for concurrent use.
type Scanner struct {
	free   []*jsontape.Tape
	used   []*jsontape.Tape
	failed []attempt
}

// attempt is a parse that failed, kept for what it saw before it failed.
type attempt struct {
	tape   *jsontape.Tape
	cursor uint32 // the first node that may stand at or after the scan
}

// maxKeptNodes bounds the tape that is kept for the next text, in nodes of
// 28 bytes. Larger ones are left to the garbage collector.
const maxKeptNodes = 1 << 17

// Release makes every tape free again. Places of this scanner are void then.
func (s *Scanner) Release() {
	s.free = append(s.free, s.used...)
	s.used, s.failed = s.used[:0], s.failed[:0]
	s.free = slices.DeleteFunc(s.free, func(t *jsontape.Tape) bool {
		t.Text = nil
		return cap(t.Nodes) > maxKeptNodes
	})
}

func (s *Scanner) tape() *jsontape.Tape {
	n := len(s.free)
	if n == 0 {
		s.free = append(s.free, new(jsontape.Tape))
		n = 1
	}
	t := s.free[n-1]
	s.free = s.free[:n-1]
	s.used = append(s.used, t)
	return t
}

// Locate finds what text holds: the text as one JSON value, or else the
// leftmost complete object in it that is an envelope (R4, R6).
func (s *Scanner) Locate(text []byte) (Place, Outcome) {
	start := SkipBlanks(text)
	if start == len(text) {
		return Place{}, Nothing
	}
	if text[start] != '{' {
		t := s.tape()
		end, err := t.Parse(text, start)
		switch {
		case errors.Is(err, jsontape.ErrDepth):
			return Place{}, TooDeep
		case err == nil && Blank(text[end:]):
			return Place{}, Value
		}
	}
	return s.scan(text, start)
}

// scan looks at each '{' from the left. It is linear although a parse may fail
// late, because of this: two parses that both fail can cover the same byte only
// when one takes it for part of a string and the other does not (a quote turns
// both, and a backslash outside a string ends a parse). So at most two cover a
// byte, and a '{' that a failed parse saw as the start of a value needs no
// parse of its own: it ended, or failed, in the same way.
func (s *Scanner) scan(text []byte, start int) (Place, Outcome) {
	var found Place
	outside := start // start of the text outside complete objects
	for at := start; ; {
		n := bytes.IndexByte(text[at:], '{')
		if n < 0 {
			found.Purports = found.Purports || purports(text[outside:])
			return found, Nothing
		}
		at += n
		t, root, seen := s.seen(at)
		if !seen {
			t = s.tape()
			_, err := t.Parse(text, at)
			if errors.Is(err, jsontape.ErrDepth) {
				return Place{}, TooDeep
			}
			if err != nil {
				s.failed = append(s.failed, attempt{tape: t})
				at++
				continue
			}
		}
		end := int(t.Nodes[root].End)
		if end == 0 { // open where an earlier parse failed
			at++
			continue
		}
		whole := at == start && Blank(text[end:])
		if whole || Candidate(t, root) {
			found = Place{Tape: t, Root: root, Trailing: !Blank(text[end:])}
			if whole {
				return found, Object
			}
			return found, Embedded
		}
		found.Purports = found.Purports || purports(text[outside:at])
		at, outside = end, end
		if !seen {
			s.drop(t)
		}
	}
}

// seen finds the object that a failed parse saw at that offset.
func (s *Scanner) seen(at int) (*jsontape.Tape, uint32, bool) {
	kept := s.failed[:0]
	var t *jsontape.Tape
	var root uint32
	for _, a := range s.failed {
		if a.tape.Failed <= at {
			s.drop(a.tape)
			continue
		}
		nodes := a.tape.Nodes
		end := a.tape.Len()
		for a.cursor < end && int(nodes[a.cursor].Start) < at {
			a.cursor++
		}
		if a.cursor < end && int(nodes[a.cursor].Start) == at {
			t, root = a.tape, a.cursor
		}
		kept = append(kept, a)
	}
	s.failed = kept
	return t, root, t != nil
}

// drop gives back one tape before release does.
func (s *Scanner) drop(t *jsontape.Tape) {
	for i, u := range s.used {
		if u == t {
			s.used = append(s.used[:i], s.used[i+1:]...)
			s.free = append(s.free, t)
			return
		}
	}
}

// blanks are the bytes that may stand around an object.
const blanks = " \t\r\n\v\f"

// Blank tells whether b holds nothing else.
func Blank(b []byte) bool { return SkipBlanks(b) == len(b) }

// SkipBlanks counts the blanks that b starts with.
func SkipBlanks(b []byte) int {
	for i, c := range b {
		if c > ' ' || strings.IndexByte(blanks, c) < 0 {
			return i
		}
	}
	return len(b)
}

// purports tells whether b holds the quoted name of an envelope's member (R6).
func purports(b []byte) bool {
	return bytes.Contains(b, []byte(`"_envelope_version"`)) || bytes.Contains(b, []byte(`"error_kind"`))
}

// Candidate tells whether object root is an envelope, valid or not (R10).
func Candidate(t *jsontape.Tape, root uint32) bool {
	if _, ok := t.Member(root, "_envelope_version"); ok {
		return true
	}
	_, kind := t.Member(root, "error_kind")
	_, code := t.Member(root, "error_code")
	return kind && code
}
