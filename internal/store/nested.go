package store

import (
	"github.com/soakgate/soakgate/internal/classify"
	"github.com/soakgate/soakgate/internal/store/native"
)

// findings is a Nested(rule, path, message).
type findings struct {
	*native.Nested
	rule, message *native.Low
	path          *native.Text
}

func newFindings(b *native.Block, name string) findings {
	n := b.Nested(name)
	return findings{Nested: n, rule: n.Low("rule"), path: n.Text("path"), message: n.Low("message")}
}

func (f *findings) add(rows []classify.Finding) {
	for i := range rows {
		f.Add()
		f.rule.Set(string(rows[i].Rule))
		f.path.Set(rows[i].Path)
		f.message.Set(rows[i].Message)
	}
}

// normalizations is the Nested of _meta.normalized.
type normalizations struct {
	*native.Nested
	kind, from, to, field, canonical, fromType, toType, reason *native.OptionalLow
}

func newNormalizations(b *native.Block) normalizations {
	n := b.Nested("normalized")
	return normalizations{
		Nested: n,
		kind:   n.OptionalLow("kind"), from: n.OptionalLow("from"), to: n.OptionalLow("to"), field: n.OptionalLow("field"),
		canonical: n.OptionalLow("canonical"), fromType: n.OptionalLow("from_type"), toType: n.OptionalLow("to_type"), reason: n.OptionalLow("reason"),
	}
}

func (n *normalizations) add(events []classify.Normalization) {
	for i := range events {
		e := &events[i]
		n.Add()
		n.kind.Set(e.Kind.Value, e.Kind.Set)
		n.from.Set(e.From.Value, e.From.Set)
		n.to.Set(e.To.Value, e.To.Set)
		n.field.Set(e.Field.Value, e.Field.Set)
		n.canonical.Set(e.Canonical.Value, e.Canonical.Set)
		n.fromType.Set(e.FromType.Value, e.FromType.Set)
		n.toType.Set(e.ToType.Value, e.ToType.Set)
		n.reason.Set(e.Reason.Value, e.Reason.Set)
	}
}

// warnings is the Nested of _meta.warnings.
type warnings struct {
	*native.Nested
	kind    *native.OptionalLow
	summary *native.OptionalText
}

func newWarnings(b *native.Block) warnings {
	n := b.Nested("warnings")
	return warnings{Nested: n, kind: n.OptionalLow("kind"), summary: n.OptionalText("summary")}
}

func (w *warnings) add(rows []classify.Warning) {
	for i := range rows {
		w.Add()
		w.kind.Set(rows[i].Kind.Value, rows[i].Kind.Set)
		w.summary.Set(rows[i].Summary.Value, rows[i].Summary.Set)
	}
}
