package soak

import (
	"iter"
	"time"
)

// Since is the earliest hour mark from which a state has not changed (D18).
type Since struct {
	At time.Time `json:"at"`
	// Open is true when the state was the same at every mark looked at, so that
	// it may be older.
	Open bool `json:"open"`
}

// HourMarks are the whole hours before t, newest first: the as-of instants whose
// verdicts MarkSince compares. A mark needs figures read for it; those of a later
// instant cannot tell what had arrived by then.
func HourMarks(t AsOf, n int) []AsOf {
	marks := make([]AsOf, 0, n)
	for at := t.At.UTC().Truncate(time.Hour); len(marks) < n; at = at.Add(-time.Hour) {
		if at.Before(t.At) {
			marks = append(marks, AsOf{at, t.AllEvents})
		}
	}
	return marks
}

// MarkSince fills in since when the verdict and each of its gates are in their
// state, from verdicts of the same policy at the hour marks before, newest first.
// It stops asking once every state has changed.
func MarkSince(v *Verdict, earlier iter.Seq[Verdict]) {
	marked := v.AsOf.At
	v.Since = &Since{marked, true}
	for i := range v.Gates {
		v.Gates[i].Since = &Since{marked, true}
	}
	extend := func(s *Since, same bool, at time.Time) bool {
		switch {
		case !s.Open:
		case same:
			s.At = at
		default:
			s.Open = false
		}
		return s.Open
	}
	for old := range earlier {
		states := map[GateRef]State{}
		for _, g := range old.Gates {
			states[GateRef{g.Server, g.Gate}] = g.State
		}
		open := extend(v.Since, old.Decision == v.Decision, old.AsOf.At)
		for i, g := range v.Gates {
			if extend(v.Gates[i].Since, states[GateRef{g.Server, g.Gate}] == g.State, old.AsOf.At) {
				open = true
			}
		}
		if !open {
			return
		}
	}
}
