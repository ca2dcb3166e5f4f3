package soak

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// lateness holds when much of what came lately was old: what is still under way
// cannot be known (D15).
func (j *judge) lateness(server string, g *Gate) {
	rules := j.p.Gates.Lateness
	g.require("", fmt.Sprintf("at most %s of the last %s more than %s late", percent(rules.MaxShare.Float()), rules.Window, rules.Late))
	if why := firstOf(j.f.Arrivals.problem("arrivals"), j.f.Replayed.problem("replayed calls")); why != "" {
		g.unknown(why)
		return
	}
	var a ArrivalRow
	for _, r := range j.f.Arrivals.Value {
		if r.Server == server {
			a.Received, a.Late, a.Replayed = a.Received+r.Received, a.Late+r.Late, a.Replayed+r.Replayed
		}
	}
	g.Observed = fmt.Sprintf("%s of %s records", number(a.Late), number(a.Received))
	g.count(a.Late, a.Received, percent(rules.MaxShare.Float()), "received in "+j.windowOf(rules.Window))
	switch {
	case a.Received == 0 && a.Replayed > 0:
		g.pass("all records received were replayed, and their lateness is declared")
	case a.Received == 0:
		g.hold("nothing was received from " + server + " in the last " + rules.Window.String()).needs("records of " + server)
	case !atMost(a.Late, a.Received, rules.MaxShare):
		g.hold(fmt.Sprintf("%s of %s records received came more than %s late; more may be under way", number(a.Late), number(a.Received), rules.Late))
		g.by(j.t.Add(rules.Window).Time(), "the late records to leave the window")
	default:
		g.pass("%s of %s records received came more than %s late", number(a.Late), number(a.Received), rules.Late)
	}
}

// trustedClocks holds when too many records came from clocks that are wrong (D15).
func (j *judge) trustedClocks(server string, g *Gate) {
	rules := j.p.Gates.Clocks
	g.require("", fmt.Sprintf("at most %s of the records of the last %s from untrusted clocks", percent(rules.MaxShare.Float()), rules.Window))
	if why := firstOf(j.f.Lateness.problem("lateness by instance"), j.f.Replayed.problem("replayed calls")); why != "" {
		g.unknown(why)
		return
	}
	wrong := Untrusted(j.p, j.f.Lateness.Value)
	from := dayOf(j.t.Add(-rules.Window))
	var all, bad int64
	named := map[string]bool{}
	for _, r := range j.f.Lateness.Value {
		if r.Server != server || r.Day < from {
			continue
		}
		all += r.Records
		if slices.Contains(wrong, Instance{r.Server, r.Deployment, r.Instance}) {
			bad += r.Records
			named[r.Deployment+"/"+r.Instance] = true
		}
	}
	names := sortedKeys(named)
	g.Observed = fmt.Sprintf("%s of %s records, instances: %s", number(bad), number(all), orNone(names))
	g.count(bad, all, percent(rules.MaxShare.Float()), "received in "+j.windowOf(rules.Window))
	replayed := slices.ContainsFunc(j.f.Replayed.Value, func(u ReplayedRow) bool { return u.Server == server && u.Calls > 0 })
	switch {
	case all == 0 && replayed:
		g.pass("all records were replayed, and their times are declared")
	case all == 0:
		g.hold("nothing was received from " + server + " in the last " + rules.Window.String()).needs("records of " + server)
	case !atMost(bad, all, rules.MaxShare):
		g.hold(fmt.Sprintf("%s of %s records came from instances whose clocks are wrong: %s", number(bad), number(all), strings.Join(names, ", ")))
		g.needs("right clocks on " + strings.Join(names, ", "))
	default:
		g.pass("%s of %s records came from untrusted clocks", number(bad), number(all))
	}
}

// rejected holds until every rejected record is explained (D15).
func (j *judge) rejected(_ string, g *Gate) {
	g.require("", "no rejected record that is not explained")
	if why := j.f.Rejected.problem("rejected records"); why != "" {
		g.unknown(why)
		return
	}
	by := map[string]int64{}
	var n int64
	for _, r := range j.f.Rejected.Value {
		if r.Count > 0 {
			by[r.Reason] += r.Count
			n += r.Count
		}
	}
	g.Observed = number(n) + " not explained"
	g.count(n, 0, "0", "received by "+stamp(j.at.At))
	if n == 0 {
		g.pass("no rejected record is unexplained")
		return
	}
	var reasons []string
	for _, reason := range sortedKeys(by) {
		reasons = append(reasons, fmt.Sprintf("%s (%s)", reason, number(by[reason])))
	}
	g.hold(fmt.Sprintf("%s rejected records are not explained: %s", number(n), strings.Join(reasons, ", ")))
	g.needs("collector rejected replay, or explain")
}

// books holds when what collectors took and what the store has do not agree
// (D15, design decision 10), or when what arrived has not been sealed yet.
func (j *judge) books(_ string, g *Gate) {
	g.require("", "accepted = inserted + rejected + parked + backlog for each collector; distinct records = sealed counts, up to T")
	if why := firstOf(j.f.Books.problem("the books"), j.f.Heartbeats.problem("heartbeats")); why != "" {
		g.unknown(why)
		return
	}
	var off []string
	for _, c := range j.f.Heartbeats.Value.Collectors {
		if sum := c.Inserted + c.Rejected + c.Parked + c.Backlog; sum != c.Accepted {
			off = append(off, fmt.Sprintf("collector %s (journal %s) accepted %s records and accounts for %s", c.Name, c.Journal, number(c.Accepted), number(sum)))
		}
	}
	slices.Sort(off)
	b := j.f.Books.Value
	if b.Distinct != b.Sealed {
		off = append(off, fmt.Sprintf("the store has %s distinct records and its seals counted %s", number(b.Distinct), number(b.Sealed)))
	}
	if behind := j.t - b.SealedThrough; behind > minutes(j.p.Gates.Collectors.HeartbeatMaxAge) {
		off = append(off, "the rollups are sealed through "+b.SealedThrough.String()+" only")
	}
	g.Observed = fmt.Sprintf("%s distinct, %s sealed, through %s", number(b.Distinct), number(b.Sealed), b.SealedThrough)
	g.count(b.Sealed, b.Distinct, "equal", "slices of arrival before "+b.SealedThrough.String())
	if len(off) > 0 {
		g.hold("the books do not balance: " + strings.Join(off, "; ")).needs("collector check, which says where")
		return
	}
	g.pass("the books balance")
}

// collectors asks that collectors are alive and have stored what they took
// (D15). One that fell silent may hold records that nobody has seen: its journal is
// drained, or an operator retires it.
func (j *judge) collectors(_ string, g *Gate) {
	rules := j.p.Gates.Collectors
	g.require("", fmt.Sprintf("a heartbeat within %s, and nothing older than %s waiting to be stored", rules.HeartbeatMaxAge, rules.PendingMaxAge))
	if why := j.f.Heartbeats.problem("heartbeats"); why != "" {
		g.unknown(why)
		return
	}
	all := slices.SortedFunc(slices.Values(j.f.Heartbeats.Value.Collectors), func(a, b Collector) int {
		return compareAll(compare(a.Name, b.Name), compare(a.Journal, b.Journal))
	})
	w := wait{j: j}
	var newest time.Time
	live := int64(0)
	for _, c := range all {
		if c.At.After(newest) {
			newest = c.At
		}
		if c.Retired {
			g.note("retired: collector %s (journal %s), last seen %s", c.Name, c.Journal, stamp(c.At))
			continue
		}
		who := fmt.Sprintf("collector %s (journal %s)", c.Name, c.Journal)
		switch {
		case j.at.At.Sub(c.At) > rules.HeartbeatMaxAge.Std():
			w.act(who + ", silent since " + stamp(c.At) + ", to come back and drain its journal, or to be retired")
		case c.BacklogAgeMS > milliseconds(rules.PendingMaxAge):
			w.act(fmt.Sprintf("%s to store %s records, the oldest of which waits for %s", who, number(c.Backlog), time.Duration(c.BacklogAgeMS)*time.Millisecond))
		case c.ParkedBatches > 0:
			w.act(fmt.Sprintf("%s to store %s parked batches", who, number(c.ParkedBatches)))
		default:
			live++
		}
	}
	g.Observed = fmt.Sprintf("%d of %s live and drained", live, plural(int64(len(all)), "collector"))
	g.count(live, int64(len(all)), rules.HeartbeatMaxAge.String(), "the newest heartbeat of each, before "+stamp(j.at.At))
	switch {
	case newest.IsZero():
		g.hold("no collector has sent a heartbeat").needs("a running collector")
	case j.at.At.Sub(newest) > rules.HeartbeatMaxAge.Std():
		w.act("a running collector")
		w.hold(g, "no collector has sent a heartbeat since "+stamp(newest))
	case len(w.undated) > 0:
		w.hold(g, fmt.Sprintf("%d of %d collectors are live and have stored what they took", live, len(all)))
	default:
		g.pass("all collectors are live and have stored what they took")
	}
}
