package classify

import (
	"bytes"
	"regexp"
	"strconv"

	"github.com/soakgate/soakgate/internal/classify/locate"
)

// prefix matches one link of the chain that SDKs and the sandbox put before a
// message: "ToolError: ", "MontyRuntimeError: ", "Error calling tool 'x': " (R3).
var prefix = regexp.MustCompile(`^\s*(?:([A-Za-z_][A-Za-z0-9_.]*)|Error calling tool '[^'\n]{0,200}'): `)

// maxPrefixes bounds the chain. Three links are the longest seen.
const maxPrefixes = 16

// maxPrefix bounds one link in bytes.
const maxPrefix = 512

// chain is what the prefixes of a text say of it.
type chain struct {
	toolError bool // one names a ToolError (R2, R161)
	kind      bool // one is an error kind: the older form "<error_kind>: <summary>" (R15)
	foreign   bool // one names no error, as in "WARNING: "
}

// stripPrefixes drops the chain of prefixes and tells what they say.
func (w *judging) stripPrefixes(text []byte) (rest []byte, c chain) {
	for range maxPrefixes {
		m := prefix.FindSubmatch(text[:min(len(text), maxPrefix)])
		if m == nil {
			break
		}
		if len(m[1]) == 0 || bytes.HasSuffix(m[1], []byte("ToolError")) {
			c.toolError = true
		}
		_, known := w.kinds[string(m[1])]
		c.kind = c.kind || known
		c.foreign = c.foreign || (len(m[1]) > 0 && !bytes.HasSuffix(m[1], []byte("Error")))
		text = text[len(m[0]):]
	}
	return text[locate.SkipBlanks(text):], c
}

// maxAgentCode bounds the code in a rendered agent error, in bytes.
const maxAgentCode = 64

var (
	snakeCase  = regexp.MustCompile(`^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$`)
	retryAfter = regexp.MustCompile(`^([0-9]{1,12}(?:\.[0-9]{1,9})?)s`)
)

// renderedAgentError recognises "[code] message", the form an agent API error
// has over MCP (R161). A code that is not listed needs a ToolError around it, so
// that "[warn] ..." of some logger is none.
func (w *judging) renderedAgentError(text []byte) bool {
	end := bytes.IndexByte(text[:min(len(text), maxAgentCode+2)], ']')
	if end < 2 || text[0] != '[' || len(text) < end+3 || text[end+1] != ' ' || locate.Blank(text[end+1:]) {
		return false
	}
	code := text[1:end]
	_, listed := w.agent[string(code)]
	if !listed && (!w.toolError || !snakeCase.Match(code)) {
		return false
	}
	w.recogniseText(ShapeAgentError, text)
	w.dst.ErrorCode = Some(w.words.of(code))
	if !listed {
		w.adviseUnlistedAgentCode()
	}
	w.dst.RetryAfterSeconds = renderedRetryAfter(text[end:])
	return true
}

// renderedRetryAfter reads "Retry after Ns." where it stands last.
func renderedRetryAfter(text []byte) Optional[float64] {
	const words = "Retry after "
	at := bytes.LastIndex(text, []byte(words))
	if at < 0 {
		return Optional[float64]{}
	}
	text = text[at+len(words):]
	m := retryAfter.FindSubmatch(text[:min(len(text), maxPrefix)])
	if m == nil {
		return Optional[float64]{}
	}
	f, err := strconv.ParseFloat(string(m[1]), 64)
	return Optional[float64]{f, err == nil}
}

// printedDict recognises the printed form of a Python dict that holds an
// envelope.
func printedDict(text []byte) bool {
	return len(text) > 0 && text[0] == '{' &&
		(bytes.Contains(text, []byte(`'error_kind'`)) || bytes.Contains(text, []byte(`'_envelope_version'`)))
}
