package classify

import "github.com/soakgate/soakgate/internal/classify/jsontape"

// hygiene reports what is wrong with the JSON of the recognised object (R16 to R18).
func (w *judging) hygiene(t *jsontape.Tape) {
	root := w.root
	end := t.Nodes[root].Next
	for _, i := range t.Repeated {
		if i > root && i < end {
			w.violateAt(RuleDuplicateKey, t, i, "the member comes more than once in its object; the last one counts")
		}
	}
	for _, i := range t.OutOfRange {
		if i > root && i < end {
			w.violateAt(RuleNumberRange, t, i, "expected a number that a double can hold; the value is not used")
		}
	}
	if !t.NotUnicode {
		return
	}
	for i := root; i < end; i++ {
		if t.Nodes[i].Has(jsontape.NotUnicode) {
			w.advise(RuleLoneSurrogate, "", "a text holds a lone surrogate, or bytes that are not UTF-8; U+FFFD is stored in its place")
			return
		}
	}
}
