package soak

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/soakgate/soakgate/internal/soak/policy"
)

const minuteLessNano = time.Minute - time.Nanosecond

// recent is the window whose rate an ETA extrapolates (D18).
const recent = 7 * policy.Day

// Production tells whether an environment's evidence counts (D2).
func Production(environment string) bool {
	return strings.ToLower(strings.TrimSpace(environment)) == "production"
}

// CountedSource tells whether a deployment_source identifies an installation. A
// host is a pod, and a deployment without a name is none (D5).
func CountedSource(source string) bool {
	switch source {
	case "mcp.deployment.id", "service.namespace", "k8s.namespace.name":
		return true
	}
	return false
}

// Judge applies the policy to the figures at T. It reads nothing else, changes
// neither, and gives the same verdict for the same arguments, bit for bit.
func Judge(p policy.Policy, f Figures, t AsOf) Verdict {
	j := newJudge(p, f, t)
	v := Verdict{
		Version: VerdictVersion, AsOf: AsOf{t.At.UTC(), t.AllEvents}, TelemetryBefore: j.t.Time(),
		Policy: j.policyRef(), ReplayedData: false,
		Servers: []ServerRef{}, Excluded: []ServerRef{}, Waivers: []WaiverUse{}, Notes: []string{},
		Deciding: []GateRef{}, Unknown: []GateRef{}, NoDate: []string{},
	}
	demanded := demand(p)
	for _, ref := range demanded {
		v.Gates = append(v.Gates, j.gate(ref))
	}
	decision, deciding, unknown := decide(v.Gates, demanded)
	v.Decision = decision
	v.Deciding = append(v.Deciding, deciding...)
	v.Unknown = append(v.Unknown, unknown...)
	j.describe(&v)
	return v
}

// judge is one judgement at work.
type judge struct {
	p  policy.Policy
	f  Figures
	at AsOf
	t  Minute // telemetry counts before it

	// What was worked out, by server.
	clocks     map[string]*clock
	versionsOf map[string][]VersionRow

	used  map[int]bool // waivers that accepted a finding, by index
	trust *string      // what trustProblem said, once asked
}

func newJudge(p policy.Policy, f Figures, t AsOf) *judge {
	return &judge{p: p, f: f, at: t, t: t.Minute(), clocks: map[string]*clock{}, versionsOf: map[string][]VersionRow{}, used: map[int]bool{}}
}

// gate judges one gate. Whatever a gate found, it is unknown when the figures
// belong to another question, and no gate of a server that was never seen passes.
func (j *judge) gate(ref GateRef) Gate {
	g := Gate{Server: ref.Server, Gate: ref.Gate}
	if why := j.foreign(); why != "" {
		g.State, g.Why = StateUnknown, why
		return g
	}
	rule := serverRules[ref.Gate]
	if ref.Server == policy.AllServers {
		rule = overallRules[ref.Gate]
	}
	if rule == nil {
		g.State, g.Why = StateUnknown, "the program has no rule for this gate"
		return g
	}
	rule(j, ref.Server, &g)
	if ref.Server != policy.AllServers && (g.State == StatePass || g.State == StateWaived) {
		switch {
		case !j.f.Servers.OK:
			g.unknown(j.f.Servers.problem("the servers seen"))
		case j.productionCalls(ref.Server) == 0:
			g.hold("no production call of " + ref.Server + " was seen, so nothing can be said of it").needs("production calls of " + ref.Server)
		}
	}
	return g
}

// A rule judges one gate of one server, or of policy.AllServers.
type rule func(j *judge, server string, g *Gate)

var serverRules = map[policy.Gate]rule{
	policy.GateScope:           (*judge).scope,
	policy.GateVersion:         (*judge).version,
	policy.GateDuration:        (*judge).duration,
	policy.GateDeployments:     (*judge).deployments,
	policy.GateMalformed:       (*judge).malformed,
	policy.GateSpread:          (*judge).spread,
	policy.GateCoverageKinds:   (*judge).coverageKinds,
	policy.GateCoverageTools:   (*judge).coverageTools,
	policy.GateBytes:           (*judge).bytes,
	policy.GateShare:           (*judge).share,
	policy.GateOffTaxonomy:     (*judge).offTaxonomy,
	policy.GateUnreadable:      (*judge).unreadable,
	policy.GateConformance:     (*judge).conformance,
	policy.GateComplaints:      (*judge).complaints,
	policy.GateLegacy:          (*judge).legacy,
	policy.GateDeclaredDefault: (*judge).declaredDefault,
	policy.GateStrictModes:     (*judge).strictModes,
	policy.GateCollection:      (*judge).collection,
	policy.GateFreshness:       (*judge).freshness,
	policy.GateLateness:        (*judge).lateness,
	policy.GateClocks:          (*judge).trustedClocks,
	policy.GateReplays:         (*judge).replays,
}

var overallRules = map[policy.Gate]rule{
	policy.GateScope:      (*judge).unlisted,
	policy.GateComplaints: (*judge).strayComplaints,
	policy.GateLockstep:   (*judge).lockstep,
	policy.GateRejected:   (*judge).rejected,
	policy.GateBooks:      (*judge).books,
	policy.GateCollectors: (*judge).collectors,
}

// foreign says why the figures cannot answer for this policy and instant, or
// "". What is older than what the store keeps cannot be judged (D1).
func (j *judge) foreign() string {
	b := j.f.Bounds
	if !b.AsOf.At.Equal(j.at.At) || b.AsOf.AllEvents != j.at.AllEvents {
		return fmt.Sprintf("the figures were read as of %s, not as of %s", b.AsOf.At.UTC().Format(time.RFC3339Nano), j.at.At.UTC().Format(time.RFC3339Nano))
	}
	if j.f.Version != FiguresVersion {
		return fmt.Sprintf("the figures have version %d, this program judges version %d", j.f.Version, FiguresVersion)
	}
	if !j.f.Kept.OK {
		return j.f.Kept.problem("the bounds of what the store keeps")
	}
	if why := j.f.contradiction(j.t); why != "" {
		return why
	}
	kept := j.f.Kept.Value
	if kept.Oldest != 0 && j.t <= kept.Oldest {
		return "the as-of instant lies before the oldest minute kept, " + kept.Oldest.String()
	}
	for _, s := range j.p.Servers {
		switch {
		case s.Anchor.IsZero() && kept.Oldest != 0 && kept.Oldest < j.t.Add(-j.p.LookBack):
			return "calls of " + kept.Oldest.String() + " lie further back than look_back, so the first call of " + s.Name + " may be one of them: fix its anchor in the policy"
		case !s.Anchor.IsZero() && MinuteOf(s.Anchor) < j.t.Add(-j.p.LookBack):
			return "the anchor of " + s.Name + " lies further back than look_back"
		case !kept.Expired:
		case s.Anchor.IsZero():
			return "rows older than " + kept.Oldest.String() + " have expired, so the first call of " + s.Name + " is not known: fix its anchor in the policy"
		case MinuteOf(s.Anchor) < kept.Oldest:
			return "the anchor of " + s.Name + " lies before the oldest minute kept, " + kept.Oldest.String()
		}
	}
	return ""
}

// trustProblem says why evidence for a flip cannot be told from records with
// wrong clocks, or "". Evidence against does not ask.
func (j *judge) trustProblem() string {
	if j.trust == nil {
		j.trust = new(j.compareTrust())
	}
	return *j.trust
}

func (j *judge) compareTrust() string {
	if !j.f.Lateness.OK {
		return j.f.Lateness.problem("lateness by instance")
	}
	read := slices.SortedFunc(slices.Values(j.f.Bounds.Untrusted), compareInstance)
	if !slices.Equal(read, Untrusted(j.p, j.f.Lateness.Value)) {
		return "the figures were read with another set of untrusted clocks than the policy gives"
	}
	return ""
}

// runProblem says why the current run of a server is not known, or why figures
// read from its start belong to another run.
func (j *judge) runProblem(server string) string {
	f := j.f
	if why := firstOf(j.trustProblem(), f.Activity.problem("runs of activity"), f.Refills.problem("refilled minutes"),
		f.Heartbeats.problem("heartbeats"), f.Replays.problem("replays"), f.Replayed.problem("replayed calls"), f.Registers.problem("the registers")); why != "" {
		return why
	}
	var from Minute
	for _, s := range f.Bounds.RunStarts {
		if s.Server == server {
			from = s.From
		}
	}
	if start := j.clock(server).start; from != start {
		return fmt.Sprintf("the figures were read from %s, but the current run begins at %s", from, start)
	}
	return ""
}

func firstOf(problems ...string) string {
	for _, p := range problems {
		if p != "" {
			return p
		}
	}
	return ""
}

// candidates are a server's candidate versions (D3), ordered by name.
func (j *judge) candidates(server string) []VersionRow {
	var out []VersionRow
	for _, v := range j.versions(server) {
		if v.Live > 0 {
			out = append(out, v)
		}
	}
	return out
}

func (j *judge) candidate(server, version string) bool {
	return slices.ContainsFunc(j.versions(server), func(v VersionRow) bool { return v.Version == version && v.Live > 0 })
}

// versions are a server's versions, one row each, ordered by name.
func (j *judge) versions(server string) []VersionRow {
	if out, ok := j.versionsOf[server]; ok {
		return out
	}
	byName := map[string]VersionRow{}
	for _, v := range j.f.Versions.Value {
		if v.Server != server {
			continue
		}
		w, ok := byName[v.Version]
		if ok {
			v.First, v.FirstOn = earlier(v.First, w.First), earlier(v.FirstOn, w.FirstOn)
			v.LastOn, v.Live = max(v.LastOn, w.LastOn), v.Live+w.Live
		}
		byName[v.Version] = v
	}
	var out []VersionRow
	for _, name := range sortedKeys(byName) {
		out = append(out, byName[name])
	}
	j.versionsOf[server] = out
	return out
}

// earlier is the earlier of two minutes, of which 0 is none.
func earlier(a, b Minute) Minute {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// countsFor tells whether a deployment's records may be evidence for a flip:
// they may unless an override takes it out.
func (j *judge) countsFor(server, deployment string) bool {
	return !j.f.Registers.Value.overridden(server, deployment, j.at.At)
}

func (j *judge) productionCalls(server string) int64 {
	var n int64
	for _, r := range j.f.Servers.Value {
		if r.Server == server && Production(r.Environment) {
			n += r.Calls
		}
	}
	return n
}

// waive accepts a finding if a waiver in force at T names exactly it (D17).
func (j *judge) waive(gate policy.Gate, server, finding string) bool {
	waived := false
	for i, w := range j.p.Waivers {
		if w.Gate == gate && w.Server == server && w.Finding == finding && j.waiverStatus(w) == WaiverUnused {
			j.used[i], waived = true, true
		}
	}
	return waived
}

// waiverStatus is a waiver's status before it is known whether it was used.
func (j *judge) waiverStatus(w policy.Waiver) string {
	switch {
	case w.Entered.After(j.at.At):
		return WaiverNotEntered
	case j.at.At.Before(w.From):
		return WaiverNotYet
	case !j.at.At.Before(w.Until):
		return WaiverExpired
	}
	return WaiverUnused
}

// waiverEnd is the earliest end of the waivers that accepted findings of a gate.
func (j *judge) waiverEnd(ref GateRef) *time.Time {
	var end *time.Time
	for i, w := range j.p.Waivers {
		if j.used[i] && w.Gate == ref.Gate && w.Server == ref.Server {
			end = sooner(end, w.Until)
		}
	}
	return end
}

func sooner(a *time.Time, b time.Time) *time.Time {
	if b = b.UTC(); a == nil || b.Before(*a) {
		return &b
	}
	return a
}
