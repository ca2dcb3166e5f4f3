package jsontape

import (
	"math"
	"strconv"
)

// safeDigits is a count of digits that cannot overflow a double, whose largest
// value has 309.
const safeDigits = 300

// scanNumber reads the number that starts at text[at]: the offset after it, the
// flags OutOfRange and Integral, and whether it is one.
func scanNumber(text []byte, at int) (end int, flags uint8, ok bool) {
	start := at
	if text[at] == '-' {
		at++
	}
	whole := at
	at = skipDigits(text, at)
	if at == whole || (text[whole] == '0' && at > whole+1) {
		return at, 0, false
	}
	flags = Integral
	if at < len(text) && text[at] == '.' {
		flags = 0
		from := at + 1
		if at = skipDigits(text, from); at == from {
			return at, 0, false
		}
	}
	exponent := false
	if at < len(text) && (text[at] == 'e' || text[at] == 'E') {
		flags, exponent = 0, true
		at++
		if at < len(text) && (text[at] == '+' || text[at] == '-') {
			at++
		}
		from := at
		if at = skipDigits(text, from); at == from {
			return at, 0, false
		}
	}
	if exponent || at-start > safeDigits {
		if _, finite := parseFloat(text[start:at]); !finite {
			flags |= OutOfRange
		}
	}
	return at, flags, true
}

func skipDigits(text []byte, at int) int {
	for at < len(text) && text[at] >= '0' && text[at] <= '9' {
		at++
	}
	return at
}

// parseFloat is the nearest double of a number, and false when there is none.
// A number too small for a double is 0, which is finite; a negative one is the
// double next to 0, since its sign is what a minimum asks for (R96).
func parseFloat(b []byte) (float64, bool) {
	f, err := strconv.ParseFloat(string(b), 64)
	if f == 0 && b[0] == '-' && !isZero(b[1:]) {
		return -math.SmallestNonzeroFloat64, true
	}
	return f, err == nil || !math.IsInf(f, 0)
}

// isZero tells whether a number without its sign is 0 as it is written.
func isZero(b []byte) bool {
	for _, c := range b {
		switch {
		case c >= '1' && c <= '9':
			return false
		case c == 'e' || c == 'E':
			return true
		}
	}
	return true
}

// Float is the value of number node i, and false when it is out of range.
func (t *Tape) Float(i uint32) (float64, bool) {
	if t.Nodes[i].Has(OutOfRange) {
		return 0, false
	}
	return parseFloat(t.Value(i))
}

// maxExact bounds the doubles that stand for one integer each.
const maxExact = 1 << 53

// Int is the value of number node i when it is an integer that an int64 holds,
// however it is written: 1, 1.0 and 10e-1 are the same integer.
func (t *Tape) Int(i uint32) (int64, bool) {
	n := &t.Nodes[i]
	if n.Has(Integral) {
		v, err := strconv.ParseInt(string(t.Value(i)), 10, 64)
		if err != nil {
			return 0, false
		}
		return v, true
	}
	f, ok := t.Float(i)
	if !ok || f != math.Trunc(f) || math.Abs(f) > maxExact {
		return 0, false
	}
	return int64(f), true
}

// IsInteger tells whether number node i has no fraction: what JSON Schema
// calls an integer.
func (t *Tape) IsInteger(i uint32) bool {
	if t.Nodes[i].Has(Integral) {
		return true
	}
	f, ok := t.Float(i)
	return ok && f == math.Trunc(f)
}
