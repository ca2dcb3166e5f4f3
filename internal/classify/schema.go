package classify

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/soakgate/soakgate/internal/classify/jsontape"
)

// schema judges the recognised object by a schema. The fast twin accepts what is
// plainly valid; the library says what is wrong with the rest.
func (w *judging) schema(j *judge, t *jsontape.Tape) {
	if j.fast.Accepts(t, w.root) {
		return
	}
	w.bySchema(j, t)
}

// bySchema has the library judge the recognised object. Errors at a number beyond
// a double are dropped: hygiene reports it, and its value is not used (R17).
func (w *judging) bySchema(j *judge, t *jsontape.Tape) {
	root := w.root
	unused := map[string]bool{}
	for _, i := range t.OutOfRange {
		if i > root && i < t.Nodes[root].Next {
			unused[t.Pointer(root, i)] = true
		}
	}
	for _, f := range j.findings(t, root) {
		if !unused[f.Path] {
			w.violate(f.Rule, f.Path, f.Message)
		}
	}
}

// findings is what the library says of node i.
func (j *judge) findings(t *jsontape.Tape, i uint32) []Finding {
	in := j.fast.Instance(t, i)
	return findingsOf(j.slow.Validate(in.Value), in.Location)
}

// findingsOf turns the library's tree of errors into findings: one a leaf.
// locate turns the place of an error into the place to report.
func findingsOf(err error, locate func([]string) []string) []Finding {
	var tree *jsonschema.ValidationError
	if !errors.As(err, &tree) {
		return nil
	}
	return appendFindings(nil, tree, locate)
}

func appendFindings(out []Finding, e *jsonschema.ValidationError, locate func([]string) []string) []Finding {
	path := pointerOf(locate(e.InstanceLocation))
	add := func(rule Rule, message string) {
		out = append(out, Finding{Rule: rule, Path: path, Message: path + ": " + message})
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			at := path + "/" + name
			out = append(out, Finding{Rule: RuleRequired, Path: at, Message: at + ": expected this member, and it is missing"})
		}
	case *kind.Type:
		add(RuleType, "expected "+strings.Join(k.Want, " or ")+", got "+k.Got)
	case *kind.Enum:
		add(RuleEnum, "expected one of "+constants(k.Want))
	case *kind.Const:
		add(RuleConst, "expected "+constant(k.Want))
	case *kind.Minimum:
		add(RuleMinimum, "expected "+k.Want.RatString()+" or more")
	case *kind.MinItems:
		add(RuleMinItems, "expected "+strconv.Itoa(k.Want)+" item or more, or no such member at all")
	case *kind.AnyOf:
		add(RuleAtLeastOne, "expected at least one of "+strings.Join(missingOf(e), ", "))
	case *kind.Not:
		add(RulePlacement, "expected no such member here: it belongs under /_meta")
	default: // groups and references: what is wrong is below them
		for _, cause := range e.Causes {
			out = appendFindings(out, cause, locate)
		}
	}
	return out
}

// missingOf lists the members of which one would have met an anyOf.
func missingOf(e *jsonschema.ValidationError) []string {
	var out []string
	if k, ok := e.ErrorKind.(*kind.Required); ok {
		out = append(out, k.Missing...)
	}
	for _, cause := range e.Causes {
		out = append(out, missingOf(cause)...)
	}
	return out
}

func constants(values []any) string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = constant(v)
	}
	return strings.Join(out, ", ")
}

// constant prints a constant of a schema, never a value of a payload.
func constant(v any) string {
	return fmt.Sprint(v)
}

// pointerOf joins reference tokens to a JSON Pointer.
func pointerOf(tokens []string) string {
	var b strings.Builder
	for _, token := range tokens {
		b.WriteByte('/')
		b.WriteString(pointerEscapes.Replace(token))
	}
	return b.String()
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")
