package classify

import (
	"bytes"
	"strings"

	"github.com/soakgate/soakgate/internal/classify/jsontape"
	"github.com/soakgate/soakgate/internal/classify/locate"
)

// envelope judges the envelope at root, whose members are not yet looked up.
func (w *judging) envelope(t *jsontape.Tape, root uint32) {
	m := membersOf(t, root)
	w.envelopeMembers(t, root, &m)
}

// envelopeMembers judges the envelope at root: first what it says, then the
// schema, then the rules a schema cannot hold.
func (w *judging) envelopeMembers(t *jsontape.Tape, root uint32, m *members) {
	d := w.dst
	w.recognise(ShapeEnvelope, t, root)
	d.ErrorKind = w.textOf(t, m[mErrorKind])
	d.MistypedKind = m[mErrorKind] != 0 && !d.ErrorKind.Set
	d.ErrorCode = w.textOf(t, m[mErrorCode])
	d.LegacyErrorKind = w.textOf(t, m[mLegacy])
	d.Tool = w.textOf(t, m[mTool])
	if i := m[mRetryable]; i != 0 {
		kind := t.Nodes[i].Kind
		d.Retryable = Optional[bool]{kind == jsontape.True, kind == jsontape.True || kind == jsontape.False}
	}
	if i := m[mVersion]; i != 0 && t.Nodes[i].Kind == jsontape.Number {
		v, ok := t.Int(i)
		d.EnvelopeVersion = Optional[int64]{v, ok}
	}
	if d.Family == FamilyUnknown {
		d.Family = w.infer(d.ErrorKind, d.ErrorCode)
	}
	w.telemetry(t, m[mMeta])
	w.schema(&w.contract.envelope, t)
	w.vocabulary(d)
	if d.Tool.Set && d.Tool.Value == "" {
		w.advise(RuleToolEmpty, "/tool", `/tool: expected the tool's name, or "unknown_tool" when it cannot be known`)
	}
	w.nestedEnvelopes(t, m[mDetails])
	w.hygiene(t)
}

// vocabulary applies the rules of kinds and codes: scope (R52, R69), reserved
// and malformed codes (R64, R70, R73), unlisted ones (R76), and pairing (R62).
func (w *judging) vocabulary(d *Judgement) {
	kind, known := kindRow{}, false
	if d.ErrorKind.Set {
		kind, known = w.kinds[d.ErrorKind.Value]
		d.OffTaxonomy = !known
		if row, foreign := outOfScope(w.taxonomy.KindScopes, w.p.Family, d.ErrorKind.Value); foreign {
			w.violate(RuleServerScope, "/error_kind", "/error_kind: "+row.Prefix+"* kinds are for server "+row.Server+
				" only ("+row.Rule+"); the declared server is "+string(w.p.Family))
		}
	}
	if !d.ErrorCode.Set {
		return
	}
	code := d.ErrorCode.Value
	if row, foreign := outOfScope(w.taxonomy.CodeScopes, w.p.Family, code); foreign {
		w.violate(RuleServerScope, "/error_code", "/error_code: this code is for server "+row.Server+
			" only ("+row.Rule+"); the declared server is "+string(w.p.Family))
	}
	row, listed := w.codes[code]
	switch {
	case listed:
		if row.status != 0 {
			d.HTTPStatus = Some(row.status)
		}
		if known && row.kinds&kind.bit == 0 {
			w.violate(RulePairing, "/error_kind", "/error_kind: expected "+strings.Join(w.kindNames(row.kinds), " or ")+
				" beside this error_code ("+row.rule+")")
		}
	case w.isReserved(code):
	case w.isMalformed(code):
	default:
		w.advise(RuleCodeUnlisted, "/error_code", "/error_code: this code is not in the contract's vocabulary; it is kept and counted as it is")
		if known && kind.demands != "" {
			w.violate(RulePairing, "/error_kind", "/error_kind: this kind goes with error_code "+kind.demands+" only ("+kind.rule+")")
		}
	}
}

// isReserved reports a code that must not be sent (R70).
func (w *judging) isReserved(code string) bool {
	r, ok := w.reserved[code]
	if ok {
		w.violate(RuleReserved, "/error_code", "/error_code: this code is reserved and must not be sent; send "+r.Use+" ("+r.Rule+")")
	}
	return ok
}

// isMalformed reports a code in a namespace of which it is no member (R64, R73).
func (w *judging) isMalformed(code string) bool {
	for _, p := range w.closed {
		if strings.HasPrefix(code, p.prefix) {
			w.violate(RuleCodePattern, "/error_code", "/error_code: expected "+p.expected+" ("+p.rule+")")
			return true
		}
	}
	return false
}

// nestedEnvelopes looks for envelopes in the texts of details[].issue (R13).
func (w *judging) nestedEnvelopes(t *jsontape.Tape, details uint32) {
	if details == 0 || t.Nodes[details].Kind != jsontape.Array {
		return
	}
	for row := range t.Children(details) {
		i, ok := t.Member(row, "issue")
		if !ok || t.Nodes[i].Kind != jsontape.String {
			continue
		}
		text, plain := t.Plain(i)
		if !plain {
			w.issue = t.AppendString(w.issue[:0], i)
			text = w.issue
		}
		if bytes.IndexByte(text, '{') < 0 {
			continue
		}
		w.nestedEnvelope(t, i, text)
		w.nested.Release()
	}
}

// complete are the members that every envelope has (R22).
var complete = [...]string{
	"error_kind", "tool", "summary", "details", "hints", "examples", "error_code", "retryable", "_envelope_version",
}

// isComplete tells whether object root is a complete v1 envelope, the only one
// that could be sent in place of what it stands in (R13).
func (w *judging) isComplete(t *jsontape.Tape, root uint32) bool {
	version := uint32(0)
	for _, name := range complete { // the last is the version
		var ok bool
		if version, ok = t.Member(root, name); !ok {
			return false
		}
	}
	if t.Nodes[version].Kind != jsontape.Number {
		return false
	}
	v, ok := t.Int(version)
	return ok && v == w.taxonomy.EnvelopeVersion
}

func (w *judging) nestedEnvelope(t *jsontape.Tape, issue uint32, text []byte) {
	at, out := w.nested.Locate(bytes.TrimPrefix(text, []byte("\ufeff")))
	if (out != locate.Object && out != locate.Embedded) || !w.isComplete(at.Tape, at.Root) {
		return
	}
	w.adviseAt(RuleNestedEnvelope, t, issue, "this text holds an envelope of its own; send that one in place of this")
	if d := w.dst; !d.InnerErrorKind.Set && !d.InnerErrorCode.Set {
		m := membersOf(at.Tape, at.Root)
		d.InnerErrorKind = w.textOf(at.Tape, m[mErrorKind])
		d.InnerErrorCode = w.textOf(at.Tape, m[mErrorCode])
	}
}
