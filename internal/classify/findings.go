package classify

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/soakgate/soakgate/internal/classify/jsontape"
)

// The rules of the contract. rules.json in package schemas describes each.
const (
	RuleRequired     Rule = "required"
	RuleType         Rule = "type"
	RuleEnum         Rule = "enum"
	RuleConst        Rule = "const"
	RuleMinimum      Rule = "minimum"
	RuleMinItems     Rule = "minItems"
	RuleAtLeastOne   Rule = "at_least_one"
	RulePairing      Rule = "pairing"
	RuleServerScope  Rule = "server_scope"
	RuleCodePattern  Rule = "code_pattern"
	RuleReserved     Rule = "reserved"
	RulePlacement    Rule = "placement"
	RuleDuplicateKey Rule = "duplicate_key"
	RuleNumberRange  Rule = "number_range"
	RuleTrailingData Rule = "trailing_data"
	RuleInvalidJSON  Rule = "invalid_json"
	RuleNestingDepth Rule = "nesting_depth"

	RuleCodeUnlisted        Rule = "code_unlisted"
	RuleWarningKindUnlisted Rule = "warning_kind_unlisted"
	RuleToolEmpty           Rule = "tool_empty"
	RuleNestedEnvelope      Rule = "nested_envelope"
	RuleBOMStripped         Rule = "bom_stripped"
	RuleLoneSurrogate       Rule = "lone_surrogate"
	RuleDecimalString       Rule = "decimal_string"
	RuleNoNull              Rule = "no_null"
	RuleResetAtMonthStart   Rule = "reset_at_month_start"
)

// maxGathered bounds the findings of a judgement before they are sorted: all
// that the schemas can report of arrays cut at fastschema.MaxRejectedItems.
const maxGathered = 4096

func (w *judging) violate(rule Rule, path, message string) {
	gather(&w.dst.Violations, &w.dst.Cut.Violations, rule, path, message)
}

func (w *judging) advise(rule Rule, path, message string) {
	gather(&w.dst.Advisories, &w.dst.Cut.Advisories, rule, path, message)
}

func gather(list *[]Finding, cut *int, rule Rule, path, message string) {
	if len(*list) == maxGathered {
		*cut++
		return
	}
	*list = append(*list, Finding{Rule: rule, Path: path, Message: message[:min(len(message), MaxMessage)]})
}

// violateAt reports node i of the recognised object.
func (w *judging) violateAt(rule Rule, t *jsontape.Tape, i uint32, message string) {
	path := w.pointer(t, i)
	w.violate(rule, path, path+": "+message)
}

func (w *judging) adviseAt(rule Rule, t *jsontape.Tape, i uint32, message string) {
	if len(w.dst.Advisories) == maxGathered {
		w.dst.Cut.Advisories++
		return
	}
	path := w.pointer(t, i)
	w.advise(rule, path, path+": "+message)
}

// pointer is the JSON Pointer of node i, cut to the deepest ancestor that
// MaxPath holds.
func (w *judging) pointer(t *jsontape.Tape, i uint32) string {
	w.path = t.AppendPointer(w.path[:0], w.root, i)
	for len(w.path) > MaxPath {
		w.path = w.path[:max(bytes.LastIndexByte(w.path[:MaxPath+1], '/'), 0)]
	}
	return string(w.path)
}

// settle puts findings in order, drops repeats, and cuts them at MaxFindings.
// It returns how many it cut.
func settle(list *[]Finding) int {
	l := *list
	if len(l) < 2 {
		return 0
	}
	slices.SortFunc(l, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message))
	})
	l = slices.CompactFunc(l, func(a, b Finding) bool { return a.Path == b.Path && a.Rule == b.Rule })
	cut := max(len(l)-MaxFindings, 0)
	*list = l[:len(l)-cut]
	return cut
}
