package store

import (
	"github.com/ClickHouse/ch-go/proto"

	"github.com/soakgate/soakgate/internal/classify"
)

// nested is what the columns of a Nested have in common: their rows end at the
// same offsets, so these are counted once and not by column.
type nested struct {
	ends    proto.ColUInt64
	members []*proto.ColUInt64 // where each column keeps its offsets
}

// end ends a row behind the elements that have been appended so far.
func (n *nested) end(elements int) { n.ends = append(n.ends, uint64(elements)) }

// share gives all columns their offsets. It comes before they are encoded.
func (n *nested) share() {
	for _, m := range n.members {
		*m = n.ends
	}
}

func (n *nested) reset() { n.ends = n.ends[:0] }

func (c *Columns) eachNested(do func(*nested)) {
	for _, n := range []*nested{&c.violations.nested, &c.advisories.nested, &c.normalized.nested, &c.warnings.nested} {
		do(n)
	}
}

// findings is a Nested(rule, path, message).
type findings struct {
	nested
	rule, path, message proto.ColArr[string]
}

func newFindings() *findings {
	f := &findings{
		rule:    proto.ColArr[string]{Data: newLowText()},
		path:    proto.ColArr[string]{Data: new(proto.ColStr)},
		message: proto.ColArr[string]{Data: newLowText()},
	}
	f.members = []*proto.ColUInt64{&f.rule.Offsets, &f.path.Offsets, &f.message.Offsets}
	return f
}

func (f *findings) append(rows []classify.Finding) {
	for i := range rows {
		f.rule.Data.Append(string(rows[i].Rule))
		f.path.Data.Append(rows[i].Path)
		f.message.Data.Append(rows[i].Message)
	}
	f.end(f.rule.Data.Rows())
}

// normalizations is the Nested of _meta.normalized.
type normalizations struct {
	nested
	columns [8]proto.ColArr[proto.Nullable[string]]
}

func newNormalizations() *normalizations {
	n := &normalizations{}
	for i := range n.columns {
		n.columns[i].Data = newOptionalText()
		n.members = append(n.members, &n.columns[i].Offsets)
	}
	return n
}

func (n *normalizations) append(events []classify.Normalization) {
	for j := range events {
		e := &events[j]
		for i, v := range [...]*classify.Optional[string]{&e.Kind, &e.From, &e.To, &e.Field, &e.Canonical, &e.FromType, &e.ToType, &e.Reason} {
			n.columns[i].Data.Append(nullable(*v))
		}
	}
	n.end(n.columns[0].Data.Rows())
}

// warnings is the Nested of _meta.warnings.
type warnings struct {
	nested
	kind, summary proto.ColArr[proto.Nullable[string]]
}

func newWarnings() *warnings {
	w := &warnings{
		kind:    proto.ColArr[proto.Nullable[string]]{Data: newOptionalText()},
		summary: proto.ColArr[proto.Nullable[string]]{Data: proto.NewColNullable[string](new(proto.ColStr))},
	}
	w.members = []*proto.ColUInt64{&w.kind.Offsets, &w.summary.Offsets}
	return w
}

func (w *warnings) append(rows []classify.Warning) {
	for i := range rows {
		w.kind.Data.Append(nullable(rows[i].Kind))
		w.summary.Data.Append(nullable(rows[i].Summary))
	}
	w.end(w.kind.Data.Rows())
}
