package soak

import (
	"slices"

	"github.com/soakgate/soakgate/internal/soak/policy"
)

// clock is the soak's clock of one server (D4), as far as it has run.
type clock struct {
	active []Run // runs of active minutes, in order
	down   []Run // down runs that were not refilled, over the whole window

	start    Minute // of the current run, 0 when there is none
	end      Minute // E of D4
	paused   []Run  // silences subtracted between start and end
	restarts []restart
	holes    []hole // collecting holes and long silences since the first active minute
	elapsed  policy.Duration
}

// restart is an instant at which the clock began anew, and why.
type restart struct {
	at  Minute
	why string
}

// hole is a silence that a waiver may turn from a restart into a pause.
type hole struct {
	Run
	why    string
	waived bool
}

// findingID is what a waiver names.
func (h hole) findingID() string { return "hole=" + h.String() }

// RunStarts tells where the current run of each listed server begins, for the
// servers that have one: the lower bound of the figures Kinds, Tools and
// StrictHours. It needs Activity, Refills, Heartbeats, Replays, Replayed and Registers.
func RunStarts(p policy.Policy, f Figures, t AsOf) []RunStart {
	j := newJudge(p, f, t)
	var out []RunStart
	for _, s := range p.Servers {
		if start := j.clock(s.Name).start; start != 0 {
			out = append(out, RunStart{s.Name, start})
		}
	}
	slices.SortFunc(out, func(a, b RunStart) int { return compare(a.Server, b.Server) })
	return out
}

// clock computes the clock of a server. Figures that were not read look empty
// here; the gates that use the clock ask for them first.
func (j *judge) clock(server string) *clock {
	if c := j.clocks[server]; c != nil {
		return c
	}
	c := &clock{}
	j.clocks[server] = c
	rules, from := j.p.Gates.Duration, j.t.Add(-j.p.LookBack)
	if s, ok := j.p.Server(server); ok && !s.Anchor.IsZero() {
		from = max(from, MinuteOf(s.Anchor))
	}
	var off []Run
	for _, a := range j.f.Activity.Value {
		if a.Server != server {
			continue
		}
		off = append(off, a.Off...)
		if j.countsFor(server, a.Deployment) {
			for _, r := range a.On {
				c.active = append(c.active, r.Run)
			}
		}
	}
	c.active = within(union(c.active), from, j.t)
	c.down = j.unfilled(server)
	if len(c.active) == 0 {
		return c
	}

	first, last := c.active[0].From, c.active[len(c.active)-1].To
	c.start = first
	begin := func(at Minute, why string) {
		c.restarts = append(c.restarts, restart{at, why})
		c.start = max(c.start, at)
	}
	for _, d := range within(c.down, first, j.t) {
		if d.To-d.From <= minutes(rules.HoleAfter) {
			continue
		}
		h := hole{Run: d, why: "no collector ran, and senders did not keep what they sent"}
		h.waived = j.waive(policy.GateDuration, server, h.findingID())
		c.holes = append(c.holes, h)
		if !h.waived {
			begin(d.To, "nobody collected in "+d.String())
		}
	}
	for _, g := range gaps(c.active, first, j.t) {
		length, silence := g.To-g.From, hole{Run: g, why: "silence over " + rules.RestartAfter.String()}
		switch {
		case length > minutes(rules.OffAfter) && overlaps(off, g):
			begin(g.To, "the option was off everywhere in "+g.String())
		case length > minutes(rules.RestartAfter):
			silence.waived = j.waive(policy.GateDuration, server, silence.findingID())
			c.holes = append(c.holes, silence)
			if !silence.waived {
				begin(g.To, "silence in "+g.String())
			}
		}
		if length > minutes(rules.PauseAfter) {
			c.paused = append(c.paused, g)
		}
	}
	for _, h := range c.holes {
		if h.waived {
			c.paused = append(c.paused, h.Run)
		}
	}
	c.end = j.t
	if j.t-last > minutes(j.p.Gates.Freshness.MaxAge) {
		c.end = last
	}
	c.paused = within(union(c.paused), c.start, c.end)
	c.elapsed = span(max(0, c.end-c.start-length(c.paused)))
	return c
}

// unfilled are a server's down runs within the window that were not refilled:
// minutes without a heartbeat of any collector, outside replays that the server
// took part in, in which no call is dated or which leave a silence over
// refill_gap.
func (j *judge) unfilled(server string) []Run {
	from := j.t.Add(-j.p.LookBack)
	covered := slices.Clone(j.f.Heartbeats.Value.Up)
	for _, r := range j.replaysOf(server) {
		// A minute that the declaration covers only in part is not exempt.
		covered = append(covered, Run{MinuteOf(r.From.Add(minuteLessNano)), MinuteOf(r.To)})
	}
	var filled []Run
	for _, r := range j.f.Refills.Value {
		if r.Server == server {
			filled = append(filled, r.Minutes...)
		}
	}
	filled = union(filled)
	var out []Run
	for _, d := range gaps(union(covered), from, j.t) {
		silent := slices.ContainsFunc(gaps(filled, d.From, d.To), func(g Run) bool {
			return g.To-g.From > minutes(j.p.Gates.Duration.RefillGap)
		})
		if silent || !overlaps(filled, d) {
			out = append(out, d)
		}
	}
	return out
}
