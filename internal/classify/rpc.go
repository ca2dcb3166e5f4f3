package classify

import "github.com/soakgate/soakgate/internal/classify/jsontape"

// unwrap judges what a JSON-RPC message carries: error.message, else
// result.structuredContent, else result.content[0].text (R1, R8, R11). The
// first that is recognised counts; the same object twice is one record.
func (w *judging) unwrap(t *jsontape.Tape, m *members) {
	if m[mError] != 0 {
		w.failed = true
		if message, ok := t.Member(m[mError], "message"); ok && w.carried(t, message) {
			return
		}
	}
	result := m[mResult]
	if result == 0 {
		w.dst.Opaque = w.dst.Opaque || len(w.dst.Violations) == 0
		return
	}
	if isError, ok := t.Member(result, "isError"); ok && t.Nodes[isError].Kind == jsontape.True {
		w.failed = true
	}
	text, hasText := contentText(t, result)
	if structured, ok := t.Member(result, "structuredContent"); ok && t.Nodes[structured].Kind == jsontape.Object {
		w.object(t, structured, true)
	}
	if !w.dst.Recognized && hasText {
		w.carried(t, text)
	}
	if !w.dst.Recognized {
		w.dst.Opaque = (w.dst.Opaque || w.failed) && len(w.dst.Violations) == 0
	}
}

// carried judges a member that carries a payload: text, or the object itself.
// It tells whether something was recognised.
func (w *judging) carried(t *jsontape.Tape, i uint32) bool {
	switch t.Nodes[i].Kind {
	case jsontape.Object:
		w.object(t, i, true)
	case jsontape.String:
		raw, plain := t.Plain(i)
		if !plain {
			// Decoded into memory of its own, since Object will alias it.
			raw = t.AppendString(nil, i)
		}
		w.text(raw, true)
	}
	return w.dst.Recognized
}

// contentText is the node of result.content[0].text.
func contentText(t *jsontape.Tape, result uint32) (uint32, bool) {
	content, ok := t.Member(result, "content")
	if !ok || t.Nodes[content].Kind != jsontape.Array || t.Nodes[content].Next == content+1 {
		return 0, false
	}
	return t.Member(content+1, "text")
}
