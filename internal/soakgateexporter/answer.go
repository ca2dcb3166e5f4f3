package soakgateexporter

import (
	"context"
	"slices"

	"github.com/soakgate/soakgate/internal/classify"
	"github.com/soakgate/soakgate/internal/findings"
	"github.com/soakgate/soakgate/internal/store"
)

// answer gathers what the sender of a request is told, where its receiver asked
// for that, and the records that it wants in quarantine only.
type answer struct {
	report     *findings.Report // nil when nobody asked
	found      findings.Found
	last       int // index of the newest invalid log record or span
	quarantine *store.Quarantine
}

func (a *answer) reset() {
	a.report, a.last = nil, -1
	a.found = findings.Found{}
	if a.quarantine != nil {
		a.quarantine.Reset()
	}
}

// begin starts a request of seen log records or spans.
func (a *answer) begin(ctx context.Context, seen int) {
	a.report = findings.FromContext(ctx)
	a.found.Seen = seen
}

// take looks at a record, and tells whether it is kept in quarantine only. A
// span may give several records; it counts once, and its valid records stay.
func (a *answer) take(r *classify.Record, place store.Place) (quarantined bool) {
	if a.report == nil {
		return false
	}
	if r.Hint != "" && !slices.Contains(a.found.Hints, r.Hint) {
		a.found.Hints = append(a.found.Hints, r.Hint)
	}
	if len(r.Violations) == 0 {
		return false
	}
	if r.Index != a.last {
		a.last = r.Index
		a.found.Invalid++
		if a.report.RejectInvalid {
			a.found.Rejected++
		}
		if len(a.found.Named) < findings.MaxNamed {
			v := &r.Violations[0]
			a.found.Named = append(a.found.Named, findings.Finding{Index: r.Index, Rule: string(v.Rule), Message: v.Message})
		}
	}
	if !a.report.RejectInvalid {
		return false
	}
	if a.quarantine == nil {
		a.quarantine = store.NewQuarantine()
	}
	a.quarantine.Append(r, place)
	return true
}

// deliver tells the receiver, once all is on disk.
func (a *answer) deliver() {
	if a.report != nil {
		a.report.Deliver(a.found)
	}
}
