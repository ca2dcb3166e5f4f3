package store

import (
	"bytes"
	"regexp"
	"unicode/utf8"
)

// maxKeptPayload bounds the payload text kept with a record, in bytes. Real
// envelopes are below 2 KiB; the size before the cut is in payload_bytes.
const maxKeptPayload = 64 << 10

// secrets are the credentials that error texts of these servers were seen to
// carry: bearer tokens, Login with Amazon tokens and client secrets, AWS access
// keys, JSON web tokens. The pattern runs only where the marker is found.
var secrets = []struct {
	marker  marker
	pattern *regexp.Regexp
}{
	{marker{"Bearer ", 0}, bearer},
	{marker{"bearer ", 0}, bearer},
	{marker{"Atz", 2}, regexp.MustCompile(`Atz[ar]\|[A-Za-z0-9_~+/=-]{8,}`)},
	{marker{"amzn1.oa2-cs.", 2}, regexp.MustCompile(`amzn1\.oa2-cs\.[A-Za-z0-9.]+`)},
	{marker{"AKIA", 1}, regexp.MustCompile(`AKIA[A-Z0-9]{16}`)},
	{marker{"eyJ", 2}, regexp.MustCompile(`eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`)},
}

var bearer = regexp.MustCompile(`[Bb]earer [A-Za-z0-9._~+/|-]{8,}=*`)

// marker is a text that is looked for by the one of its letters that is rarest in
// envelopes. bytes.Contains looks for the first, and most payloads are full of
// e's: a seventh of all the time of a request.
type marker struct {
	text string
	rare int
}

func (m marker) in(p []byte) bool {
	for at := 0; ; at++ {
		next := bytes.IndexByte(p[at:], m.text[m.rare])
		if next < 0 {
			return false
		}
		at += next
		if start := at - m.rare; start >= 0 && len(p)-start >= len(m.text) && string(p[start:start+len(m.text)]) == m.text {
			return true
		}
	}
}

// redacted stands where a credential was.
const redacted = "[redacted]"

// keptPayload is the text of a payload as it is stored: cut to maxKeptPayload,
// at the end of a character, with credentials taken out.
func keptPayload(p []byte) []byte {
	if len(p) > maxKeptPayload {
		cut := maxKeptPayload
		for cut > maxKeptPayload-utf8.UTFMax && !utf8.RuneStart(p[cut]) {
			cut--
		}
		p = p[:cut]
	}
	for _, s := range secrets {
		if s.marker.in(p) {
			p = s.pattern.ReplaceAllLiteral(p, []byte(redacted))
		}
	}
	return p
}
