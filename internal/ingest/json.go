package ingest

import (
	"encoding/base64"
	"math"
	"strconv"
	"unicode/utf8"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// maxValueDepth bounds the nesting of a structured body that is written as
// JSON. It lies above the depth that classification accepts (R20), so that a
// deeper structure is still refused there, by name, and never overflows a stack.
const maxValueDepth = 2048

// appendJSON writes a value as compact JSON: what a sender that ships text
// would have sent. Members keep their order and repeats (R16); a number that
// JSON cannot hold becomes 1e999, which classification reports as out of range
// (R17); bytes become base64; an empty value is null.
func appendJSON(dst []byte, v pcommon.Value, depth int) []byte {
	if depth > maxValueDepth {
		return append(dst, "null"...)
	}
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return appendString(dst, v.Str())
	case pcommon.ValueTypeBool:
		return strconv.AppendBool(dst, v.Bool())
	case pcommon.ValueTypeInt:
		return strconv.AppendInt(dst, v.Int(), 10)
	case pcommon.ValueTypeDouble:
		return appendDouble(dst, v.Double())
	case pcommon.ValueTypeBytes:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, v.Bytes().AsRaw())
		return append(dst, '"')
	case pcommon.ValueTypeSlice:
		dst = append(dst, '[')
		for i, e := range v.Slice().All() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendJSON(dst, e, depth+1)
		}
		return append(dst, ']')
	case pcommon.ValueTypeMap:
		dst = append(dst, '{')
		first := true
		for k, e := range v.Map().All() {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = append(appendString(dst, k), ':')
			dst = appendJSON(dst, e, depth+1)
		}
		return append(dst, '}')
	case pcommon.ValueTypeEmpty:
	}
	return append(dst, "null"...)
}

func appendDouble(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "1e999"...)
	}
	// Shortest form, with an exponent only where a plain number would be long.
	format := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(dst, f, format, -1, 64)
}

const hexDigits = "0123456789abcdef"

// appendString writes a JSON string. Bytes that are not UTF-8 become U+FFFD.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(dst, s[start:i]...)
				dst = append(dst, "\uFFFD"...)
				start = i + 1
			}
			i += size
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}
