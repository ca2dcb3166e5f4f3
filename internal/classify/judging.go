package classify

import (
	"github.com/soakgate/soakgate/internal/classify/jsontape"
	"github.com/soakgate/soakgate/internal/classify/locate"
)

// judging is one judgement being made, with the scratch space for it.
type judging struct {
	*contract
	dst *Judgement
	p   Payload

	scan   locate.Scanner
	nested locate.Scanner // for texts inside a text that is still being read (R13)
	issue  []byte
	path   []byte
	words  recentWords
	// toolError is p.ToolError, or what the text itself says.
	toolError bool
	// failed is true when the text is known to tell of a failed call.
	failed bool
	// root is the node of the recognised object, which paths start from.
	root uint32
}

func (w *judging) begin(ct *contract, dst *Judgement, p Payload) {
	w.contract, w.dst, w.p = ct, dst, p
	w.toolError = p.ToolError
	w.failed = p.ToolError || p.Event == EventErrorEnvelope
	w.root = 0
	if p.Family != "" {
		dst.Family = p.Family
	}
}

// finish orders what was found and lets go of the payload.
func (w *judging) finish() {
	d := w.dst
	d.Cut.Violations += settle(&d.Violations)
	d.Cut.Advisories += settle(&d.Advisories)
	d.Valid = d.Recognized && len(d.Violations) == 0
	w.scan.Release()
	w.nested.Release()
	if cap(w.issue) > MaxMessage*16 {
		w.issue = nil
	}
	w.contract, w.dst, w.p = nil, nil, Payload{}
}

// Hints for texts that were not recognised.
const (
	hintPrintedDict = "the text is the printed form of a Python dict, not JSON: log the dict itself as the body, or json.dumps of it"
	hintTruncated   = "the text names members of an envelope but holds no complete JSON object: check the length limits of the SDK and of every hop for cut attributes, and NaN or Infinity in the numbers"
)

// text judges the text of a carrier, or, unwrapped, one found within a
// JSON-RPC message.
func (w *judging) text(text []byte, unwrapped bool) {
	if len(text) > MaxPayload {
		w.violate(RuleInvalidJSON, "", "the text is longer than 16777216 bytes, which is the most that is read")
		return
	}
	if len(text) >= 3 && string(text[:3]) == "\ufeff" {
		text = text[3:]
		w.advise(RuleBOMStripped, "", "the text starts with a byte-order mark, which was dropped")
	}
	at, out := w.scan.Locate(text)
	switch out {
	case locate.Object:
		w.object(at.Tape, at.Root, unwrapped)
	case locate.Embedded:
		w.envelope(at.Tape, at.Root)
		if at.Trailing {
			w.violate(RuleTrailingData, "", "the text goes on after the envelope's closing brace; nothing but blanks is expected there")
		}
	case locate.TooDeep:
		w.violate(RuleNestingDepth, "", "more than 1000 levels of arrays and objects; at most 200 are expected")
	case locate.Value:
		w.dst.Opaque = w.failed
	case locate.Nothing:
		w.prose(text, at.Purports)
	}
}

// prose judges a text without an envelope in it.
func (w *judging) prose(text []byte, purports bool) {
	rest, before := w.stripPrefixes(text)
	if before.toolError {
		w.toolError, w.failed = true, true
	}
	switch {
	case !before.foreign && w.renderedAgentError(rest):
	case purports:
		w.violate(RuleInvalidJSON, "", "members of an envelope are named here, and no complete JSON object is found that holds them")
		w.dst.Hint = hintTruncated
	default:
		w.dst.Opaque = w.failed || before.kind
		if printedDict(rest) {
			w.dst.Opaque, w.dst.Hint = true, hintPrintedDict
		}
	}
}

// object judges a text that is one JSON object, in the order of R11.
func (w *judging) object(t *jsontape.Tape, root uint32, unwrapped bool) {
	m := membersOf(t, root)
	switch {
	case !unwrapped && m[mJSONRPC] != 0 && (m[mResult] != 0 || m[mError] != 0):
		w.unwrap(t, &m)
	case m[mVersion] != 0 || (m[mErrorKind] != 0 && m[mErrorCode] != 0):
		w.envelopeMembers(t, root, &m)
	case w.isAgentError(t, &m):
		w.agentErrorBody(t, root, m[mError])
	case w.isAgentSuccess(t, &m):
		w.agentSuccessBody(t, root, &m)
	case w.isMetaSuccess(t, m[mMeta]):
		w.metaSuccess(t, root, m[mMeta])
	default:
		w.dst.Opaque = w.failed
	}
}

// recognise records that the object at root has that shape.
func (w *judging) recognise(shape Shape, t *jsontape.Tape, root uint32) {
	w.root = root
	w.recogniseText(shape, t.Value(root))
}

// recogniseText records that text has that shape.
func (w *judging) recogniseText(shape Shape, text []byte) {
	d := w.dst
	d.Recognized, d.Opaque, d.Shape, d.Object = true, false, shape, text
	if (shape == ShapeAgentError || shape == ShapeAgentSuccess) && d.Family == FamilyUnknown {
		d.Family = FamilyAgentAPI // R53
	}
}

// textOf is string node i as an Optional, absent when it is no string.
func (w *judging) textOf(t *jsontape.Tape, i uint32) Optional[string] {
	if i == 0 || t.Nodes[i].Kind != jsontape.String {
		return Optional[string]{}
	}
	if raw, plain := t.Plain(i); plain {
		return Some(w.words.of(raw))
	}
	return Some(t.String(i))
}

// numberOf is number node i as an Optional, absent when it is no finite number.
func numberOf(t *jsontape.Tape, i uint32) Optional[float64] {
	if i == 0 || t.Nodes[i].Kind != jsontape.Number {
		return Optional[float64]{}
	}
	f, ok := t.Float(i)
	return Optional[float64]{f, ok}
}
