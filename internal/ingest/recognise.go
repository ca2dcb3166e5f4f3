package ingest

import (
	"strings"
	"unsafe"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// maybeOurs tells whether a text that nobody named is worth judging. It may be
// wrong towards yes, never towards no: everything that classification could
// recognise, or count as opaque or unreadable, passes. It lets ordinary log
// lines go by for the price of a search.
func maybeOurs(s string) bool {
	if strings.IndexByte(s, '{') < 0 {
		return maybeRendered(s)
	}
	for _, marker := range markers {
		if strings.Contains(s, marker) {
			return true
		}
	}
	return maybeRendered(s)
}

// markers are the member names that every recognised object has one of
// (R10, R11, R102, R155, R156), and the word that marks a tool's error text.
var markers = []string{`error_kind`, `_envelope_version`, `_meta"`, `"jsonrpc"`, `"error"`, `"meta"`, toolError}

const toolError = "ToolError"

// maybeRendered tells whether a text can be an agent error as MCP renders it,
// "[code] message" (R161), or a tool's error text.
func maybeRendered(s string) bool {
	trimmed := strings.TrimLeft(s, " \t\r\n\ufeff")
	if len(trimmed) > 2 && trimmed[0] == '[' && trimmed[1] >= 'a' && trimmed[1] <= 'z' {
		return true
	}
	return strings.Contains(s, toolError)
}

// mapMaybeOurs is maybeOurs for a structured body: its own members decide.
func mapMaybeOurs(m pcommon.Map) bool {
	for key := range m.All() {
		switch key {
		case "_envelope_version", "error_kind", "_meta", "jsonrpc", "error", "meta", "openbridge_envelope":
			return true
		}
	}
	return false
}

// textBytes views a string as bytes without copying it. Classification only
// reads. A copy of each body would cost about a tenth of judging it.
func textBytes(s string) []byte {
	return unsafe.Slice(unsafe.StringData(s), len(s))
}
