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
// keys, JSON web tokens. A marker is cheap to look for; the pattern runs only
// where one is found.
var secrets = []struct {
	marker  []byte
	pattern *regexp.Regexp
}{
	{[]byte("earer "), regexp.MustCompile(`[Bb]earer [A-Za-z0-9._~+/|-]{8,}=*`)},
	{[]byte("Atz"), regexp.MustCompile(`Atz[ar]\|[A-Za-z0-9_~+/=-]{8,}`)},
	{[]byte("amzn1.oa2-cs."), regexp.MustCompile(`amzn1\.oa2-cs\.[A-Za-z0-9.]+`)},
	{[]byte("AKIA"), regexp.MustCompile(`AKIA[A-Z0-9]{16}`)},
	{[]byte("eyJ"), regexp.MustCompile(`eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`)},
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
		if bytes.Contains(p, s.marker) {
			p = s.pattern.ReplaceAllLiteral(p, []byte(redacted))
		}
	}
	return p
}
