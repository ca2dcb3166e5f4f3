package jsontape

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Masks for eight bytes at a time. They are worth their strangeness: strings
// are nine tenths of an envelope, and BenchmarkParse falls by a third.
const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// special marks, in the high bit of each byte, the bytes of w that end the
// plain run of a string: a quote, a backslash, a control character, or a byte
// that is not ASCII. Bytes after the first mark may be marked wrongly.
func special(w uint64) uint64 {
	quote := w ^ (lowBits * '"')
	slash := w ^ (lowBits * '\\')
	return ((quote - lowBits) | (slash - lowBits) | (w - lowBits*0x20) | w) & highBits
}

// skipPlain is the offset of the first byte from at that special would mark.
func skipPlain(text []byte, at int) int {
	for at+8 <= len(text) {
		if m := special(binary.LittleEndian.Uint64(text[at:])); m != 0 {
			at += bits.TrailingZeros64(m) / 8
			break
		}
		at += 8
	}
	for at < len(text) {
		c := text[at]
		if c == '"' || c == '\\' || c < 0x20 || c >= utf8.RuneSelf {
			break
		}
		at++
	}
	return at
}

// scanString reads the string that opens at text[at]. It returns the offset
// after the closing quote and the flags Escaped and NotUnicode; on a syntax
// error the offset is where it stood and ok is false.
func scanString(text []byte, at int) (end int, flags uint8, ok bool) {
	at++
	start, wide := at, false
	for {
		at = skipPlain(text, at)
		if at >= len(text) {
			return at, 0, false
		}
		switch c := text[at]; {
		case c == '"':
			if wide && !utf8.Valid(text[start:at]) {
				flags |= NotUnicode
			}
			return at + 1, flags, true
		case c == '\\':
			flags |= Escaped
			n, lone := escapeLen(text[at:])
			if n == 0 {
				return at, 0, false
			}
			if lone {
				flags |= NotUnicode
			}
			at += n
		case c < 0x20:
			return at, 0, false
		default:
			wide = true
			for at < len(text) && text[at] >= utf8.RuneSelf {
				at++
			}
		}
	}
}

// escapeLen is the length of the escape that b starts with, both halves of a
// surrogate pair together, or 0 when it is none. lone is true for a surrogate
// without its other half.
func escapeLen(b []byte) (n int, lone bool) {
	if len(b) < 2 {
		return 0, false
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2, false
	case 'u':
		r, ok := hex4(b[2:])
		if !ok {
			return 0, false
		}
		if !utf16.IsSurrogate(r) {
			return 6, false
		}
		if len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
			if low, ok := hex4(b[8:]); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
				return 12, false
			}
		}
		return 6, true
	}
	return 0, false
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// plainEscapes maps the letter of a two-byte escape to what it stands for.
var plainEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// appendDecoded decodes the inside of a string that scanString accepted. What is
// not Unicode becomes U+FFFD or, when faithful, stays what it was: a byte
// itself, and a lone surrogate the three bytes that UTF-8 would have for it.
func appendDecoded(dst, raw []byte, faithful bool) []byte {
	for len(raw) > 0 {
		c := raw[0]
		switch {
		case c == '\\':
			n, lone := escapeLen(raw)
			switch {
			case lone && faithful:
				r, _ := hex4(raw[2:])
				dst = append(dst, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
			case lone:
				dst = utf8.AppendRune(dst, utf8.RuneError)
			case n == 2:
				dst = append(dst, plainEscapes[raw[1]])
			case n == 6:
				r, _ := hex4(raw[2:])
				dst = utf8.AppendRune(dst, r)
			default:
				high, _ := hex4(raw[2:])
				low, _ := hex4(raw[8:])
				dst = utf8.AppendRune(dst, utf16.DecodeRune(high, low))
			}
			raw = raw[n:]
		case c < utf8.RuneSelf:
			n := max(skipPlain(raw, 0), 1)
			dst = append(dst, raw[:n]...)
			raw = raw[n:]
		default:
			r, n := utf8.DecodeRune(raw)
			if faithful {
				dst = append(dst, raw[:n]...)
			} else {
				dst = utf8.AppendRune(dst, r)
			}
			raw = raw[n:]
		}
	}
	return dst
}

func appendIndex(dst []byte, n int) []byte {
	return strconv.AppendInt(append(dst, '/'), int64(n), 10)
}

// appendToken adds one reference token with the escapes of RFC 6901.
func appendToken(dst []byte, key string) []byte {
	dst = append(dst, '/')
	for i := range len(key) {
		switch c := key[i]; c {
		case '~':
			dst = append(dst, '~', '0')
		case '/':
			dst = append(dst, '~', '1')
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
