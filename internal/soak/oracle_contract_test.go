package soak

import (
	"slices"
	"strings"
	"time"

	"github.com/soakgate/soakgate/internal/soak/policy"
)

// contract is D11 to D14.
func (o *oracle) contract(server string, live map[string]bool, g map[policy.Gate]State) {
	kinds := []string{"renamed", "dropped_alias", "coerced", "unknown_field_passed_through", "unknown_field_rejected"}
	off := false
	var unread, read int64
	for _, f := range o.facts {
		if f.server != server || !f.production || f.option != "on" || !live[f.version] {
			continue
		}
		off = off || f.errorKind != ""
		for _, k := range f.kinds {
			off = off || !slices.Contains(kinds, k)
		}
		if f.unreadable {
			unread++
		} else if (f.block || f.envelope) && f.right {
			read++
		}
	}
	g[policy.GateOffTaxonomy] = pick(off, StateBlock, pick(len(live) > 0, StatePass, StateHold))
	below, above := shown(unread, unread+read, 0.02, 0.05)
	g[policy.GateUnreadable] = pick(above, StateBlock, pick(below, StatePass, StateHold))

	g[policy.GateConformance] = pick(len(live) > 0, StatePass, StateHold)
	for v := range live {
		var run *ConformanceRow
		for _, r := range o.w.conformance {
			if r.Server == server && r.Version == v && o.entered(r.At, r.RecordedAt) && (run == nil || r.At.After(run.At)) {
				run = &r
			}
		}
		state := StatePass
		switch {
		case run == nil || o.at.Sub(run.At) > 14*24*time.Hour:
			state = StateHold
		default:
			for _, item := range []string{"1", "2", "3", "4", "6"} {
				if run.Items[item] == "not_tested" {
					state = StateHold
				}
			}
		}
		if run != nil {
			for _, result := range run.Items {
				if result == "fail" {
					state = StateBlock
				}
			}
		}
		if state == StateBlock || g[policy.GateConformance] == StatePass {
			g[policy.GateConformance] = state
		}
	}

	g[policy.GateComplaints] = o.complaints(server, live)
	g[policy.GateLegacy] = pick(len(live) > 0, StatePass, StateHold)
	var legacies []seenFact
	for _, f := range o.facts {
		if f.legacy != "" {
			legacies = append(legacies, f)
		}
	}
	for _, now := range legacies {
		for _, was := range legacies {
			if was.legacy != now.legacy || now.server != server || was.server != server || !live[now.version] {
				continue
			}
			if now.production && was.production && !strings.Contains(now.version+was.version, "-rc") && release(now.version) > release(was.version) {
				g[policy.GateLegacy] = StateBlock
			}
		}
	}

	var declared *DefaultRow
	for _, d := range o.w.defaults {
		if d.Server == server && o.entered(d.At, d.RecordedAt) && (declared == nil || d.At.After(declared.At)) {
			declared = &d
		}
	}
	g[policy.GateDeclaredDefault] = StateHold
	if declared != nil {
		g[policy.GateDeclaredDefault] = pick(declared.Value, StateBlock, StatePass)
	}
}

// release of the versions that histories use: major.minor as text.
func release(v string) string { return v[:strings.LastIndex(v, ".")] }

func (o *oracle) complaints(server string, live map[string]bool) State {
	open, fixes := map[string]bool{}, map[string]string{}
	entries := slices.Clone(o.w.registers.Complaints)
	slices.SortStableFunc(entries, func(a, b Complaint) int { return a.At.Compare(b.At) })
	for _, c := range entries {
		if c.Server != server || !o.entered(c.At, c.RecordedAt) {
			continue
		}
		if c.Action == "resolve" && c.Ref != "" {
			open[c.ID], fixes[c.ID] = false, c.FixedIn
		} else {
			open[c.ID] = true
		}
	}
	state := StateHold
	for _, r := range o.w.registers.Reviews {
		if r.Server == server && o.entered(r.At, r.RecordedAt) && o.at.Sub(r.At) <= 7*24*time.Hour {
			state = StatePass
		}
	}
	for id, isOpen := range open {
		for v := range live {
			// Versions of histories order as text; "build-7" has no order with them.
			if !isOpen && (v < fixes[id] || v == "build-7") {
				state = StateHold
			}
		}
	}
	for _, isOpen := range open {
		if isOpen {
			return StateBlock
		}
	}
	return state
}

// quality is D15 and D16 by server.
func (o *oracle) quality(server string, g map[policy.Gate]State) {
	lost := 0
	for m := o.t - 14*1440; m < o.t; m++ {
		if o.lostMinutes(server).has(m) {
			lost++
		}
	}
	g[policy.GateCollection] = pick(float64(lost) <= 0.01*14*1440, StatePass, StateHold)
	var received, late, records, wrong, replays float64
	uncovered := false
	for _, f := range o.facts {
		if f.server != server || !f.production {
			continue
		}
		if f.replay != "" {
			replays++
			covered := false
			for _, r := range o.w.replays {
				covered = covered || r.ID == f.replay && o.entered(r.At, r.RecordedAt) && f.at/60 >= r.From.Unix()/60 && f.at < r.To.Unix()+60
			}
			uncovered = uncovered || !covered
			continue
		}
		if f.got >= (o.t-7*1440)*60 && f.got < o.t*60 {
			received++
			if f.got-f.at > 86400 {
				late++
			}
		}
		if f.got/86400 >= (o.t-14*1440)/1440 {
			records++
			if o.bad[f.who] {
				wrong++
			}
		}
	}
	g[policy.GateLateness] = pick(received > 0 && late <= 0.01*received || received == 0 && replays > 0, StatePass, StateHold)
	g[policy.GateClocks] = pick(records > 0 && wrong <= 0.001*records || records == 0 && replays > 0, StatePass, StateHold)
	g[policy.GateReplays] = pick(replays == 0 || o.p.AllowReplay && !uncovered, StatePass, StateHold)
}

func (o *oracle) overall() map[policy.Gate]State {
	g := map[policy.Gate]State{}
	stranger := false
	for _, f := range o.facts {
		if f.server != "sp" && f.server != "ads" && f.server != "openbridge" && f.production {
			stranger = true
		}
	}
	g[policy.GateScope] = pick(stranger, StateHold, StatePass)
	g[policy.GateComplaints] = StatePass
	for _, c := range o.w.registers.Complaints {
		if c.Server == "spp" && o.entered(c.At, c.RecordedAt) {
			g[policy.GateComplaints] = StateBlock // histories never resolve these
		}
	}
	suites, missing := map[string]bool{}, false
	for _, server := range []string{"sp", "ads"} {
		live := o.candidates(server)
		missing = missing || len(live) == 0
		for v := range live {
			found := false
			for _, r := range o.w.conformance {
				if r.Server == server && r.Version == v && o.entered(r.At, r.RecordedAt) {
					suites[r.Suite] = true // histories have one run a version
					found = true
				}
			}
			missing = missing || !found
		}
	}
	g[policy.GateLockstep] = pick(!missing && len(suites) == 1, StatePass, StateHold)
	var rejected int64
	for _, r := range o.w.rejected {
		rejected += r.Count
	}
	g[policy.GateRejected] = pick(rejected == 0, StatePass, StateHold)
	balanced, alive := o.w.books.Distinct == o.w.books.Sealed && int64(o.w.books.SealedThrough) >= o.t-10, true
	for _, c := range o.w.collectors {
		balanced = balanced && c.Accepted == c.Inserted+c.Rejected+c.Parked+c.Backlog
		alive = alive && (c.Retired || o.at.Sub(c.At) <= 10*time.Minute && c.BacklogAgeMS <= 60_000 && c.ParkedBatches == 0)
	}
	g[policy.GateBooks], g[policy.GateCollectors] = pick(balanced, StatePass, StateHold), pick(alive, StatePass, StateHold)
	return g
}
