package soak

import (
	"fmt"
	"slices"
	"strings"

	"github.com/soakgate/soakgate/internal/soak/policy"
)

// complaints asks that somebody looked, and that nothing is open (D13).
func (j *judge) complaints(server string, g *Gate) {
	age := j.p.Gates.Complaints.ReviewMaxAge
	g.require("", fmt.Sprintf("none open, every fix in the candidates, and a review within %s", age))
	if why := j.f.Registers.problem("the registers"); why != "" {
		g.unknown(why)
		return
	}
	var open []string
	w := wait{j: j}
	all := 0
	for _, c := range j.f.Registers.Value.complaints(j.at.At) {
		if c.Server != server {
			continue
		}
		all++
		if c.Open {
			open = append(open, fmt.Sprintf("%s (%s) since %s", c.ID, c.Kind, stamp(c.Since)))
			continue
		}
		how := "not ours"
		if !c.NotOurs {
			how = "fixed in " + c.FixedIn
			for _, v := range j.candidates(server) {
				if order, ok := j.compareVersions(server, v.Version, c.FixedIn); !ok || order < 0 {
					w.act(fmt.Sprintf("version %s, which fixes complaint %s, in place of %s", c.FixedIn, c.ID, v.Version))
				}
			}
		}
		g.note("resolved: %s (%s), %s, %s", c.ID, c.Kind, how, c.Ref)
	}
	g.Observed = fmt.Sprintf("%d open of %d complaints", len(open), all)
	g.count(int64(len(open)), int64(all), "0 open", "entered by "+stamp(j.at.At))
	if len(open) > 0 {
		g.block("open complaints: %s", strings.Join(open, ", "))
		return
	}
	if why := j.f.Versions.problem("versions"); why != "" {
		g.unknown(why)
		return
	}
	review, ok := j.f.Registers.Value.reviewed(server, j.at.At)
	switch {
	case !ok:
		w.act("a review: nobody has said that they looked for complaints")
	case j.at.At.Sub(review.At) > age.Std():
		w.act(fmt.Sprintf("a new review: the last, by %s, is of %s", review.By, stamp(review.At)))
	default:
		g.lapse(review.At.Add(age.Std()))
	}
	if len(w.undated) > 0 {
		w.hold(g, "no complaint is open, but that is no evidence yet: "+strings.Join(w.undated, "; "))
		return
	}
	g.pass("no complaint is open; %s looked at %s", review.By, stamp(review.At))
}

// strayComplaints blocks on open complaints about servers that the policy does
// not know: a misspelt name must not hide one.
func (j *judge) strayComplaints(_ string, g *Gate) {
	g.require("", "no open complaint about a server that the policy does not name")
	if why := j.f.Registers.problem("the registers"); why != "" {
		g.unknown(why)
		return
	}
	var open []string
	for _, c := range j.f.Registers.Value.complaints(j.at.At) {
		_, listed := j.p.Server(c.Server)
		_, excluded := j.p.Excluded(c.Server)
		if c.Open && !listed && !excluded {
			open = append(open, fmt.Sprintf("%s about %q", c.ID, c.Server))
		}
	}
	g.Observed = fmt.Sprintf("%d open", len(open))
	g.count(int64(len(open)), 0, "0 open", "entered by "+stamp(j.at.At))
	if len(open) > 0 {
		g.block("open complaints about servers that the policy does not name: %s", strings.Join(open, ", "))
		return
	}
	g.pass("every open complaint is about a server that the policy names")
}

// replaysOf are the declared replays that a server has records of (D16).
func (j *judge) replaysOf(server string) []Replay {
	var out []Replay
	for _, r := range j.f.Replays.Value {
		used := slices.ContainsFunc(j.f.Replayed.Value, func(u ReplayedRow) bool {
			return u.Server == server && u.Replay == r.ID && u.Calls > 0
		})
		if used && counts(r.At, r.RecordedAt, j.at.At) {
			out = append(out, r)
		}
	}
	return out
}

// replays holds when evidence was replayed, unless the policy allows it, and
// always when a replay was not declared (D16).
func (j *judge) replays(server string, g *Gate) {
	g.require("", "no replayed calls")
	if j.p.AllowReplay {
		g.Required = "replayed calls only of declared replays"
	}
	if why := firstOf(j.f.Replays.problem("replays"), j.f.Replayed.problem("replayed calls")); why != "" {
		g.unknown(why)
		return
	}
	w := wait{j: j}
	var calls int64
	var ids []string
	for _, u := range j.f.Replayed.Value {
		if u.Server != server || u.Calls <= 0 {
			continue
		}
		calls += u.Calls
		if !slices.Contains(ids, u.Replay) {
			ids = append(ids, u.Replay)
		}
		covered := slices.ContainsFunc(j.replaysOf(server), func(r Replay) bool {
			return r.ID == u.Replay && MinuteOf(r.From) <= u.First && u.Last <= MinuteOf(r.To.Add(minuteLessNano))
		})
		if !covered {
			w.act(fmt.Sprintf("a declaration of replay %q that covers %s to %s", u.Replay, u.First, u.Last))
		}
	}
	slices.Sort(ids)
	g.Observed = fmt.Sprintf("%s replayed calls (%s)", number(calls), orNone(ids))
	g.count(calls, 0, g.Required, j.windowOf(j.p.LookBack))
	switch {
	case len(w.undated) > 0:
		slices.Sort(w.undated)
		w.hold(g, "replayed calls are not covered by a declaration")
	case calls > 0 && !j.p.AllowReplay:
		g.hold(fmt.Sprintf("the evidence rests on replayed data: %s calls of %s", number(calls), strings.Join(ids, ", ")))
		g.needs("live data, or a policy with allow_replay")
	case calls > 0:
		g.pass("rests on replayed data, which the policy allows: %s", strings.Join(ids, ", "))
	default:
		g.pass("no call was replayed")
	}
}

// replayed tells whether any listed server has replayed production calls.
func (j *judge) replayed() bool {
	return slices.ContainsFunc(j.p.Servers, func(s policy.Server) bool {
		return slices.ContainsFunc(j.f.Replayed.Value, func(u ReplayedRow) bool { return u.Server == s.Name && u.Calls > 0 })
	})
}
