package soak

import (
	"fmt"
	"slices"
	"time"

	"github.com/soakgate/soakgate/internal/soak/policy"
)

// duration asks for enough elapsed time with the option on (D4).
func (j *judge) duration(server string, g *Gate) {
	rules := j.p.Gates.Duration
	g.require("", "at least "+rules.Min.String()+" elapsed")
	if why := j.runProblem(server); why != "" {
		g.unknown(why)
		return
	}
	c := j.clock(server)
	for _, h := range c.holes {
		if h.waived {
			g.Findings = append(g.Findings, Finding{ID: h.findingID(), Text: h.why + " in " + h.String(), Waived: true, Waivable: true})
		}
	}
	if c.start == 0 {
		g.Observed = "0s elapsed"
		g.count(0, int64(rules.Min), rules.Min.String(), j.windowOf(j.p.LookBack))
		g.hold("the clock has not started: " + server + " has no active minute").needs("production calls of " + server + " with the option on")
		return
	}
	window := Run{c.start, c.end}.String()
	g.count(int64(c.elapsed), int64(rules.Min), rules.Min.String(), window)
	g.Observed = fmt.Sprintf("%s elapsed since %s", c.elapsed, c.start)
	for _, r := range c.restarts {
		g.note("restarted at %s: %s", r.at, r.why)
	}
	for _, h := range c.holes {
		if !h.waived {
			g.note("a waiver may accept finding %q", h.findingID())
		}
	}
	for _, p := range c.paused {
		g.note("paused in %s: silence is no evidence", p)
	}
	if c.elapsed >= rules.Min {
		if g.settle(StateHold, fmt.Sprintf("%s have elapsed with the option on", c.elapsed)); g.State == StateWaived {
			g.Why = fmt.Sprintf("%s have elapsed with the option on, %s", c.elapsed, g.Why)
		}
		return
	}
	missing := rules.Min - c.elapsed
	why := fmt.Sprintf("%s of %s have elapsed since %s", c.elapsed, rules.Min, c.start)
	if c.end < j.t {
		g.hold(why + ", and the clock stands since " + c.end.String()).needs(missing.String() + " more, and calls to start the clock again")
		return
	}
	g.hold(why).by(j.t.Add(missing).Time(), missing.String()+" more with traffic and without a hole")
}

// deploymentRun is the current on-run of one deployment (D5).
type deploymentRun struct {
	calls int64
	days  int64
	last  Minute // end of the last active minute, 0 when never or now off
	today bool   // the day of T is among days
}

// onRun gives a deployment's current on-run: from its last switching on, where
// off means calls with the option off in a silence longer than off_after.
func (j *judge) onRun(on []CallRun, off []Run) deploymentRun {
	plain := make([]Run, len(on))
	for i, r := range on {
		plain[i] = r.Run
	}
	plain = union(plain)
	if len(plain) == 0 {
		return deploymentRun{}
	}
	start := plain[0].From
	for _, gap := range gaps(plain, start, j.t) {
		if gap.To-gap.From > minutes(j.p.Gates.Deployments.OffAfter) && overlaps(off, gap) {
			start = gap.To
		}
	}
	var d deploymentRun
	days := map[int64]bool{}
	for _, r := range on {
		if r.From < start {
			continue
		}
		d.calls += r.Calls
		d.last = max(d.last, r.To)
		for day := dayOf(r.From); day <= dayOf(r.To-1); day++ {
			days[day] = true
		}
	}
	d.days, d.today = int64(len(days)), days[dayOf(j.t)]
	return d
}

const minutesADay = 24 * 60

func dayOf(m Minute) int64 { return floorDiv(int64(m), minutesADay) }

// deployments asks for enough installations with the option on (D5).
func (j *judge) deployments(server string, g *Gate) {
	rules := j.p.Gates.Deployments
	g.require("", fmt.Sprintf("at least %s, each with %s on %s and seen within %s", plural(rules.Min, "deployment"), plural(rules.MinCalls, "call"), plural(rules.MinDays, "day"), rules.SeenWithin))
	if why := firstOf(j.trustProblem(), j.f.Activity.problem("runs of activity"), j.f.Registers.problem("the registers")); why != "" {
		g.unknown(why)
		return
	}
	type rows struct {
		on     []CallRun
		off    []Run
		recent int64
	}
	byID := map[string]*rows{}
	for _, a := range j.f.Activity.Value {
		switch {
		case a.Server != server:
			continue
		case !CountedSource(a.Source):
			if len(a.On) > 0 {
				g.note("not counted: %q is named by %s only; set mcp.deployment.id", a.Deployment, sourceName(a.Source))
			}
			continue
		case !j.countsFor(server, a.Deployment):
			g.note("not counted: %q is taken out by an override", a.Deployment)
			continue
		}
		r := byID[a.Deployment]
		if r == nil {
			r = &rows{}
			byID[a.Deployment] = r
		}
		r.on, r.off, r.recent = append(r.on, a.On...), append(r.off, a.Off...), r.recent+a.Recent
	}
	slices.Sort(g.Notes)
	var passing int64
	var lapses []Minute
	var soonest []time.Time
	for _, id := range sortedKeys(byID) {
		r := byID[id]
		d := j.onRun(r.on, r.off)
		fresh := d.last != 0 && j.t-d.last <= minutes(rules.SeenWithin)
		ok := d.calls >= rules.MinCalls && d.days >= rules.MinDays && fresh
		g.part(id, ok, fmt.Sprintf("%s on %s, last seen %s", plural(d.calls, "call"), plural(d.days, "day"), d.last),
			fmt.Sprintf("%s on %s, within %s", plural(rules.MinCalls, "call"), plural(rules.MinDays, "day"), rules.SeenWithin))
		if ok {
			passing++
			lapses = append(lapses, d.last.Add(rules.SeenWithin))
		} else if at, can := j.deploymentETA(d, fresh, r.recent); can {
			soonest = append(soonest, at)
		}
	}
	g.Observed = fmt.Sprintf("%d of %s count", passing, plural(int64(len(byID)), "deployment"))
	g.count(passing, rules.Min, plural(rules.Min, "deployment"), "each deployment's current run with the option on")
	if passing >= rules.Min {
		slices.Sort(lapses)
		// The pass lasts until so many have gone silent that too few are left.
		g.lapse(lapses[passing-rules.Min].Time())
		g.pass("%s of the %d required", plural(passing, "deployment"), rules.Min)
		return
	}
	missing := rules.Min - passing
	g.hold(fmt.Sprintf("%s of the %d required", plural(passing, "deployment"), rules.Min))
	slices.SortFunc(soonest, time.Time.Compare)
	if int64(len(soonest)) >= missing {
		g.by(soonest[missing-1], plural(missing, "more deployment")+" with enough calls and days")
		return
	}
	g.needs(plural(missing, "more production deployment") + " with the option on")
}

func sourceName(source string) string {
	if source == "" {
		return "nothing"
	}
	return source
}

// deploymentETA is when a deployment can count at the earliest: enough calls at
// its present rate, and a call on every further day.
func (j *judge) deploymentETA(d deploymentRun, fresh bool, inRecent int64) (time.Time, bool) {
	rules := j.p.Gates.Deployments
	if !fresh {
		return time.Time{}, false
	}
	at := j.at.At
	if missing := rules.MinCalls - d.calls; missing > 0 {
		reached, ok := j.reach(missing, inRecent)
		if !ok {
			return time.Time{}, false
		}
		at = reached
	}
	if missing := rules.MinDays - d.days; missing > 0 {
		if !d.today {
			missing--
		}
		first := Minute((dayOf(j.t) + missing) * minutesADay).Time()
		if first.After(at) {
			at = first
		}
	}
	return at, true
}

// freshness holds when a server has gone silent (D15).
func (j *judge) freshness(server string, g *Gate) {
	age := j.p.Gates.Freshness.MaxAge
	g.require("", "an active minute at most "+age.String()+" ago")
	if why := firstOf(j.trustProblem(), j.f.Activity.problem("runs of activity"), j.f.Registers.problem("the registers")); why != "" {
		g.unknown(why)
		return
	}
	active := j.clock(server).active
	if len(active) == 0 {
		g.Observed = "no active minute"
		g.count(0, 0, age.String(), j.windowOf(j.p.LookBack))
		g.hold(server + " has no active minute").needs("production calls of " + server + " with the option on")
		return
	}
	last := active[len(active)-1].To
	silent := span(j.t - last)
	g.Observed = fmt.Sprintf("silent for %s, since %s", silent, last)
	g.count(int64(silent), int64(age), age.String(), "from the last active minute to "+j.t.String())
	if silent > age {
		g.hold(fmt.Sprintf("%s has been silent for %s, since %s", server, silent, last)).needs("production calls of " + server + " with the option on")
		return
	}
	g.lapse(last.Add(age).Time())
	g.pass("the last active minute of %s ended %s ago", server, silent)
}

// collection holds when too much of the window was collected by nobody (D15).
func (j *judge) collection(server string, g *Gate) {
	rules := j.p.Gates.Collection
	g.require("", fmt.Sprintf("at most %s of the last %s without a collector and not refilled", percent(rules.MaxDown.Float()), rules.Window))
	if why := firstOf(j.trustProblem(), j.f.Heartbeats.problem("heartbeats"), j.f.Refills.problem("refilled minutes"), j.f.Replays.problem("replays"), j.f.Replayed.problem("replayed calls")); why != "" {
		g.unknown(why)
		return
	}
	runs := within(j.unfilled(server), j.t.Add(-rules.Window), j.t)
	down, all := int64(length(runs)), int64(minutes(rules.Window))
	g.Observed = fmt.Sprintf("%s of %s minutes (%s)", number(down), number(all), percent(float64(down)/float64(all)))
	g.count(down, all, percent(rules.MaxDown.Float()), j.windowOf(rules.Window))
	for _, r := range runs {
		g.note("nobody collected in %s", r)
	}
	if atMost(down, all, rules.MaxDown) {
		g.pass("a collector ran, or senders kept what they had, in all but %s minutes", number(down))
		return
	}
	excess := down - all*int64(rules.MaxDown)/int64(policy.One)
	g.hold(fmt.Sprintf("nobody collected in %s of %s minutes, over %s", number(down), number(all), percent(rules.MaxDown.Float())))
	g.by(leaving(runs, Minute(excess)).Add(rules.Window).Time(), "the holes to leave the window of "+rules.Window.String())
}

// leaving is the minute by which the first n minutes of the runs have passed.
func leaving(runs []Run, n Minute) Minute {
	var last Minute
	for _, r := range runs {
		last = r.From + min(n, r.To-r.From)
		if n -= min(n, r.To-r.From); n == 0 {
			break
		}
	}
	return last
}
