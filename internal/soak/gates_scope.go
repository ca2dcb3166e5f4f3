package soak

import (
	"fmt"
	"slices"

	"github.com/soakgate/soakgate/internal/soak/policy"
)

// scope holds a listed server until it was seen in production (D2).
func (j *judge) scope(server string, g *Gate) {
	g.require("", "production calls")
	if why := j.f.Servers.problem("the servers seen"); why != "" {
		g.unknown(why)
		return
	}
	calls := j.productionCalls(server)
	g.count(calls, 0, "at least 1 call", j.windowOf(j.p.LookBack))
	g.Observed = number(calls) + " production calls"
	for _, r := range j.f.Servers.Value {
		if r.Server == server && !Production(r.Environment) {
			g.note("not counted: %s calls with deployment.environment.name %q", number(r.Calls), r.Environment)
		}
	}
	slices.Sort(g.Notes)
	if calls == 0 {
		g.hold(server + " is listed in the policy and was never seen in production").needs("production calls of " + server)
		return
	}
	g.pass("%s was seen in production", server)
}

// unlisted holds for servers in production that the policy does not speak of (D2).
func (j *judge) unlisted(_ string, g *Gate) {
	g.require("", "every server with production calls is listed, or excluded by name")
	if why := j.f.Servers.problem("the servers seen"); why != "" {
		g.unknown(why)
		return
	}
	calls := map[string]int64{}
	for _, r := range j.f.Servers.Value {
		_, listed := j.p.Server(r.Server)
		_, excluded := j.p.Excluded(r.Server)
		if Production(r.Environment) && r.Calls > 0 && !listed && !excluded {
			calls[r.Server] += r.Calls
		}
	}
	for _, name := range sortedKeys(calls) {
		g.find(j, name, fmt.Sprintf("unlisted server %q with %s production calls", name, number(calls[name])))
	}
	g.Observed = plural(int64(len(calls)), "unlisted server")
	g.count(int64(len(calls)), 0, "0 servers", j.windowOf(j.p.LookBack))
	if g.settle(StateHold, "every server seen in production is listed or excluded"); g.State == StateHold {
		g.needs("the server listed or excluded in the policy")
	}
}

// version holds until every candidate version has been seen long enough (D3).
func (j *judge) version(server string, g *Gate) {
	age := j.p.Gates.Version.MinAge
	g.require("", fmt.Sprintf("every candidate first seen at least %s ago", age))
	if why := firstOf(j.f.Versions.problem("versions"), j.trustProblem()); why != "" {
		g.unknown(why)
		return
	}
	candidates := j.candidates(server)
	if len(candidates) == 0 {
		j.noCandidate(server, g)
		return
	}
	w := wait{j: j}
	youngest, met := candidates[0], int64(0)
	for _, v := range candidates {
		old := v.FirstOn != 0 && j.t-v.FirstOn >= minutes(age)
		g.part(v.Version, old, "first seen "+v.FirstOn.String(), "at least "+age.String()+" ago")
		switch {
		case old:
			met++
		case v.FirstOn == 0:
			w.act("a call of version " + v.Version + " from an instance with a right clock")
		default:
			w.until(v.FirstOn.Add(age).Time(), "version "+v.Version+" to be "+age.String()+" old")
		}
		if v.FirstOn > youngest.FirstOn || v.FirstOn == 0 {
			youngest = v
		}
	}
	g.count(met, int64(len(candidates)), age.String(), j.windowOf(j.p.LookBack))
	g.Observed = fmt.Sprintf("%s, the youngest (%s) first seen %s", plural(int64(len(candidates)), "candidate"), youngest.Version, youngest.FirstOn)
	if len(w.dated)+len(w.undated) > 0 {
		w.hold(g, fmt.Sprintf("candidate version %s was first seen %s", youngest.Version, youngest.FirstOn))
		return
	}
	g.pass("every candidate version has been seen for %s or more", age)
}

// noCandidate holds a gate on behaviour that has nothing to judge.
func (j *judge) noCandidate(server string, g *Gate) {
	why := fmt.Sprintf("no version of %s served a production call with the option on in the last %s", server, j.p.CandidateWindow)
	g.Observed = "no candidate version"
	g.count(0, 0, g.Required, j.windowOf(j.p.CandidateWindow))
	g.hold(why).needs("production calls of " + server + " with MCP_SCHEMA_KEY_NORMALIZATION_META on")
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// behaviour prepares a gate on the behaviour of candidate versions. It reports
// false when the gate has been settled: unread, or nothing to judge.
func (j *judge) behaviour(server string, g *Gate, problem string) bool {
	if why := firstOf(j.f.Versions.problem("versions"), problem); why != "" {
		g.unknown(why)
		return false
	}
	if len(j.candidates(server)) == 0 {
		j.noCandidate(server, g)
		return false
	}
	return true
}

// endedBy names the version that followed a superseded one.
func (j *judge) endedBy(server, version string) string {
	var first, next Minute
	for _, v := range j.versions(server) {
		if v.Version == version {
			first = v.First
		}
	}
	name := ""
	for _, v := range j.versions(server) {
		if v.First > first && (next == 0 || v.First < next) {
			name, next = v.Version, v.First
		}
	}
	if name == "" {
		return "no later version"
	}
	return "version " + name
}

// anchor says from when blocks of a server count.
func (j *judge) anchor(server string) string {
	if s, ok := j.p.Server(server); ok && !s.Anchor.IsZero() {
		return stamp(s.Anchor) + " (fixed by the policy)"
	}
	var first Minute
	for _, v := range j.versions(server) {
		first = earlier(first, v.FirstOn)
	}
	if first == 0 {
		return ""
	}
	return first.String() + " (the first call with the option on)"
}

// sinceAnchor is the window of gates that never forget.
func (j *judge) sinceAnchor(server string) string {
	anchor := j.anchor(server)
	if anchor == "" {
		anchor = "the first call with the option on"
	}
	return "candidate versions, from " + anchor + " to " + j.t.String()
}

// windowOf names the last d before T.
func (j *judge) windowOf(d policy.Duration) string {
	return Run{j.t.Add(-d), j.t}.String()
}
