package ingest

import (
	"strings"
	"unsafe"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// maybeOurs tells whether a text that nobody named is worth judging. It may be
// wrong towards yes, never towards no: what classification would recognise, or
// count as opaque or unreadable, passes. It lets ordinary lines go by for the
// price of a search.
func maybeOurs(s string) bool {
	return namesMember(s) || maybeRendered(s) || maybeEscaped(s)
}

// namesMember tells whether a text holds, in quotes, a member name that one of
// our objects has at its root: a name alone for envelopes, even those cut short
// (R6, R10, R11), a name before an object for the others (R102, R155, R156).
func namesMember(s string) bool {
	for rest := s; ; {
		at := strings.IndexByte(rest, '"')
		if at < 0 || at+len(`"meta"`) > len(rest) {
			return false
		}
		rest = rest[at+1:]
		switch rest[0] {
		case '_':
			if strings.HasPrefix(rest, `_envelope_version"`) || beforeObject(rest, `_meta"`) {
				return true
			}
		case 'e':
			if strings.HasPrefix(rest, `error_kind"`) || beforeObject(rest, `error"`) {
				return true
			}
		case 'j':
			if strings.HasPrefix(rest, `jsonrpc"`) {
				return true
			}
		case 'm':
			if beforeObject(rest, `meta"`) && strings.Contains(s, `"data"`) {
				return true
			}
		}
	}
}

// beforeObject tells whether s is a name whose value is an object.
func beforeObject(s, name string) bool {
	rest, ok := strings.CutPrefix(s, name)
	if !ok {
		return false
	}
	rest, ok = strings.CutPrefix(skipBlanks(rest), ":")
	return ok && strings.HasPrefix(skipBlanks(rest), "{")
}

// skipBlanks drops what may stand before a text that is ours. It is a loop since
// strings.TrimLeft builds a set first, a tenth of the price of an ordinary line.
func skipBlanks(s string) string {
	for s != "" && (s[0] == ' ' || (s[0] >= '\t' && s[0] <= '\r')) {
		s = s[1:]
	}
	return s
}

// maybeEscaped tells whether a text may be an object whose names are hidden: by
// escaped ASCII characters, or in the quotes of a printed Python dict.
func maybeEscaped(s string) bool {
	return strings.IndexByte(s, '{') >= 0 &&
		(strings.Contains(s, `\u00`) || strings.Contains(s, `'error_kind'`) || strings.Contains(s, `'_envelope_version'`))
}

const toolError = "ToolError"

// saysToolError tells whether a text holds toolError. It looks for the E, which
// ordinary lines have less often than the T of their times: a tenth less for a line.
func saysToolError(s string) bool {
	for from := 0; ; {
		at := strings.IndexByte(s[from:], 'E')
		if at < 0 {
			return false
		}
		at += from
		if strings.HasPrefix(s[at:], "Error") && strings.HasSuffix(s[:at], "Tool") {
			return true
		}
		from = at + 1
	}
}

// maybeRendered tells whether a text can be an agent error as MCP renders it,
// "[code] message" (R161), a tool's error text, or "<error_kind>: <summary>" (R15).
func maybeRendered(s string) bool {
	if saysToolError(s) {
		return true
	}
	s = strings.TrimPrefix(s, "\ufeff")
	for range maxLinks {
		s = skipBlanks(s)
		if len(s) < 3 {
			return false
		}
		if s[0] == '[' {
			return s[1] >= 'a' && s[1] <= 'z'
		}
		if strings.HasPrefix(s, "Error calling tool '") {
			return true
		}
		end := strings.IndexByte(s[:min(len(s), maxLink)], ':')
		if end < 0 || end+1 == len(s) || s[end+1] != ' ' {
			return false
		}
		if isKind(s[:end]) {
			return true
		}
		s = s[end+2:]
	}
	return false
}

// Bounds of the chain of prefixes before a text, as classification has them.
const (
	maxLinks = 16
	maxLink  = 512
)

// isKind tells whether a word is a kind of the taxonomy (R40 to R49).
func isKind(word string) bool {
	switch word {
	case "mcp_input_validation", "tool_not_found", "auth_error", "sandbox_runtime", "sp_api_http",
		"ads_api_http", "rate_limited", "sp_api_client", "ads_api_client", "internal_error":
		return true
	}
	return false
}

// mapMaybeOurs is maybeOurs for a structured body: its own members decide.
func mapMaybeOurs(m pcommon.Map) bool {
	for key, v := range m.All() {
		switch key {
		case "_envelope_version", "error_kind", "jsonrpc", "openbridge_envelope":
			return true
		case "_meta", "error":
			if v.Type() == pcommon.ValueTypeMap {
				return true
			}
		case "meta":
			if _, data := m.Get("data"); data && v.Type() == pcommon.ValueTypeMap {
				return true
			}
		}
	}
	return false
}

// textBytes views a string as bytes without copying it. Classification only
// reads. A copy of each body would cost about a tenth of judging it.
func textBytes(s string) []byte {
	return unsafe.Slice(unsafe.StringData(s), len(s))
}
