package classify

import (
	"strconv"
	"time"

	"github.com/soakgate/soakgate/internal/classify/jsontape"
)

// isMetaSuccess tells whether meta is the telemetry of a successful answer: an
// object with a member of ours (R102), or whatever stands under _meta when the
// sender says that this is telemetry (R78).
func (w *judging) isMetaSuccess(t *jsontape.Tape, meta uint32) bool {
	if meta == 0 {
		return false
	}
	if w.p.Event == EventResponseMeta {
		return true
	}
	if t.Nodes[meta].Kind != jsontape.Object {
		return false
	}
	m := telemetryOf(t, meta)
	return m != telemetryMembers{}
}

func (w *judging) metaSuccess(t *jsontape.Tape, root, meta uint32) {
	w.recognise(ShapeMetaSuccess, t, root)
	w.telemetry(t, meta)
	w.schema(&w.meta, t)
	w.hygiene(t)
}

// telemetryMembers are the nodes of the members of _meta that are ours.
type telemetryMembers struct{ normalized, rateLimit, retryAfter, warnings uint32 }

func telemetryOf(t *jsontape.Tape, meta uint32) (m telemetryMembers) {
	for j := range t.Children(meta) {
		switch {
		case t.KeyIs(j, "normalized"):
			m.normalized = j
		case t.KeyIs(j, "rate_limit"):
			m.rateLimit = j
		case t.KeyIs(j, "retry_after_seconds"):
			m.retryAfter = j
		case t.KeyIs(j, "warnings"):
			m.warnings = j
		}
	}
	return m
}

// telemetry reads _meta (R78 to R101). What is absent or of a wrong type stays
// unset; the schema says whether that is a violation.
func (w *judging) telemetry(t *jsontape.Tape, meta uint32) {
	if meta == 0 {
		return
	}
	d := w.dst
	d.MetaBytes = len(t.Value(meta))
	if t.Nodes[meta].Kind != jsontape.Object {
		return
	}
	m := telemetryOf(t, meta)
	if m.normalized != 0 {
		d.HasNormalized = true
		d.NormalizedBytes = Some(lengthUint32(len(`"normalized":`) + compactLen(t, m.normalized)))
		w.normalized(t, m.normalized)
	}
	if m.rateLimit != 0 {
		w.rateLimit(t, m.rateLimit)
	}
	if f := numberOf(t, m.retryAfter); f.Set && f.Value >= 0 {
		d.RetryAfterSeconds = f
	}
	if m.warnings != 0 {
		w.warningRows(t, m.warnings)
	}
}

// normalized reads the events of _meta.normalized (R82 to R88).
func (w *judging) normalized(t *jsontape.Tape, list uint32) {
	d := w.dst
	if t.Nodes[list].Kind != jsontape.Array {
		d.Events, d.OffEvents = 1, 1
		return
	}
	for row := range t.Children(list) {
		d.Events++
		if kind, _ := t.Member(row, "kind"); !w.events[w.textOf(t, kind).Value] {
			d.OffEvents++
		}
		if t.Nodes[row].Kind != jsontape.Object {
			continue
		}
		if len(d.Normalized) == MaxRows {
			d.Cut.Normalized++
			continue
		}
		var n Normalization
		for j := range t.Children(row) {
			switch {
			case t.KeyIs(j, "kind"):
				n.Kind = w.textOf(t, j)
			case t.KeyIs(j, "from"):
				n.From = w.textOf(t, j)
			case t.KeyIs(j, "to"):
				n.To = w.textOf(t, j)
			case t.KeyIs(j, "field"):
				n.Field = w.textOf(t, j)
			case t.KeyIs(j, "canonical"):
				n.Canonical = w.textOf(t, j)
			case t.KeyIs(j, "from_type"):
				n.FromType = w.textOf(t, j)
			case t.KeyIs(j, "to_type"):
				n.ToType = w.textOf(t, j)
			case t.KeyIs(j, "reason"):
				n.Reason = w.textOf(t, j)
			}
		}
		d.Normalized = append(d.Normalized, n)
	}
}

// rateLimit reads _meta.rate_limit (R90 to R94): numbers and texts apart, and
// nothing when no member has a legal type.
func (w *judging) rateLimit(t *jsontape.Tape, i uint32) {
	if t.Nodes[i].Kind != jsontape.Object {
		return
	}
	var r RateLimit
	for j := range t.Children(i) {
		switch {
		case t.KeyIs(j, "limit_per_second"):
			r.LimitPerSecond, r.LimitPerSecondText = numberOf(t, j), w.textOf(t, j)
		case t.KeyIs(j, "remaining"):
			r.Remaining, r.RemainingText = numberOf(t, j), w.textOf(t, j)
		case t.KeyIs(j, "reset_at"):
			r.ResetAtText = w.textOf(t, j)
		}
	}
	if r.ResetAtText.Set {
		r.ResetAt = instant(r.ResetAtText.Value)
	}
	if r != (RateLimit{}) {
		w.dst.RateLimit = Some(r)
	}
}

// warningRows reads the rows of _meta.warnings (R99 to R101).
func (w *judging) warningRows(t *jsontape.Tape, list uint32) {
	if t.Nodes[list].Kind != jsontape.Array {
		return
	}
	for row := range t.Children(list) {
		if t.Nodes[row].Kind != jsontape.Object {
			continue
		}
		var out Warning
		for j := range t.Children(row) {
			switch {
			case t.KeyIs(j, "kind"):
				out.Kind = w.textOf(t, j)
				if out.Kind.Set && !w.warningListed(out.Kind.Value) {
					w.adviseAt(RuleWarningKindUnlisted, t, j, "this kind of warning is not in the server's vocabulary; it is kept and counted as it is")
				}
			case t.KeyIs(j, "summary"):
				out.Summary = w.textOf(t, j)
			}
		}
		if len(w.dst.Warnings) == MaxRows {
			w.dst.Cut.Warnings++
			continue
		}
		w.dst.Warnings = append(w.dst.Warnings, out)
	}
}

// warningListed tells whether the declared server, or any when none of the two
// with a vocabulary is declared, lists that kind.
func (w *judging) warningListed(kind string) bool {
	servers, listed := w.warnings[kind]
	declared := familyBit(w.p.Family)
	return listed && (declared == 0 || servers&declared != 0)
}

// compactLen is the length of node i's text without the blanks between tokens.
func compactLen(t *jsontape.Tape, i uint32) int {
	b := t.Value(i)
	if !t.Blanks {
		return len(b)
	}
	n, inString := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case inString && c == '\\':
			n, i = n+2, i+1
		case c == '"':
			inString = !inString
			n++
		case inString || c > ' ':
			n++
		}
	}
	return n
}

// Bounds of an epoch time in text, in seconds: 2001 to 2106. Below, the text
// is more likely a count of seconds to wait than a date.
const (
	minEpoch = 1_000_000_000
	maxEpoch = 4_294_944_000
)

// instant reads a time as upstream services write it: ISO 8601 with a zone, an
// HTTP date, or epoch seconds. Anything else is absent, never a guess (R92).
func instant(text string) Optional[time.Time] {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		if !(seconds >= minEpoch && seconds < maxEpoch) {
			return Optional[time.Time]{}
		}
		return Some(time.UnixMilli(int64(seconds * 1000)).UTC())
	}
	for _, layout := range [...]string{time.RFC3339Nano, time.RFC1123} {
		at, err := time.Parse(layout, text)
		if err == nil && at.Unix() >= 0 && at.Unix() < maxEpoch {
			return Some(at.UTC())
		}
	}
	return Optional[time.Time]{}
}
