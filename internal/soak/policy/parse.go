package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // D19's zone must load in an image without zone files

	"github.com/soakgate/soakgate/internal/soak/strictyaml"
)

// Parse reads a policy file. What the file leaves out has the default of the
// definitions; an empty file, an unknown key, a misspelt gate, a value of the
// wrong type and a list of no servers are errors, each with line and name.
func Parse(data []byte) (Policy, error) {
	p := Default()
	p.Version = 0 // must be written
	lines, err := strictyaml.Decode(data, &p)
	if err == nil {
		err = p.check(lines)
	}
	if err != nil {
		return Policy{}, fmt.Errorf("read soak policy: %w", err)
	}
	return p, nil
}

// FromCanonical reads what Canonical wrote, and checks it like a file.
func FromCanonical(data []byte) (Policy, error) {
	var p Policy
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		return Policy{}, fmt.Errorf("read canonical policy: %w", err)
	}
	if err := p.check(nil); err != nil {
		return Policy{}, fmt.Errorf("read canonical policy: %w", err)
	}
	return p, nil
}

// minGap is the least length that a rule about silence may have. Readers join
// runs of active minutes over gaps up to a quarter of an hour, so shorter
// silences are not in the figures.
const minGap = 16 * Minute

// maxRate keeps four times a tolerated rate below one (D7).
const maxRate Rate = 200_000

type checker struct {
	lines strictyaml.Lines
	errs  []error
}

func (c *checker) need(ok bool, path, format string, args ...any) {
	if !ok {
		c.errs = append(c.errs, c.lines.At(path, format, args...))
	}
}

func (p Policy) check(lines strictyaml.Lines) error {
	c := &checker{lines: lines}
	c.need(p.Version == FormatVersion, "version", "want version: %d, got %d", FormatVersion, p.Version)
	c.need(p.Name != "", "name", "want a name: outputs and evidence cite it")
	c.need(!p.InForceSince.IsZero(), "in_force_since", "want the instant since when the policy is in force")
	c.need(len(p.Servers) > 0, "servers", "want at least one server: an empty list would judge nothing")
	p.checkServers(c)
	p.checkThresholds(c)
	p.checkLockstep(c)
	p.checkWaivers(c)
	for i, ch := range p.Changes {
		path := fmt.Sprintf("changes[%d]", i)
		c.need(slices.Contains(Keys(), ch.Key), path+".key", "unknown threshold %q; want a key such as gates.malformed.max_rate", ch.Key)
		c.need(!ch.At.IsZero(), path+".at", "want the instant of the change")
	}
	return errors.Join(c.errs...)
}

func (p Policy) checkServers(c *checker) {
	seen := map[string]bool{}
	name := func(path, n string) {
		c.need(n != "" && n != AllServers && strings.TrimSpace(n) == n, path, "want a server's name, got %q", n)
		c.need(!seen[n], path, "server %q stands in the policy twice", n)
		seen[n] = true
	}
	for i, s := range p.Servers {
		path := fmt.Sprintf("servers[%d]", i)
		name(path+".name", s.Name)
		for j, tool := range s.Tools {
			c.need(tool != "", fmt.Sprintf("%s.tools[%d]", path, j), "want a tool's name")
		}
	}
	for i, e := range p.Exclude {
		path := fmt.Sprintf("exclude[%d]", i)
		name(path+".name", e.Name)
		c.need(e.Reason != "", path+".reason", "want the reason why %q is not judged", e.Name)
	}
}

func (p Policy) checkThresholds(c *checker) {
	rate := func(path string, r, most Rate) {
		c.need(r > 0 && r <= most, path, "want a rate above 0 and at most %s, got %s", most, r)
	}
	length := func(path string, d, least Duration) {
		c.need(d >= least, path, "want at least %s, got %s", least, d)
		c.need(d%Minute == 0, path, "want whole minutes, got %s", d)
	}
	count := func(path string, n, least int64) {
		c.need(n >= least, path, "want at least %d, got %d", least, n)
	}
	g := p.Gates
	rate("alpha", p.Alpha, maxRate)
	length("look_back", p.LookBack, Day)
	length("candidate_window", p.CandidateWindow, Hour)
	length("gates.version.min_age", g.Version.MinAge, Minute)
	length("gates.duration.min", g.Duration.Min, Minute)
	length("gates.duration.off_after", g.Duration.OffAfter, minGap)
	length("gates.duration.hole_after", g.Duration.HoleAfter, minGap)
	length("gates.duration.refill_gap", g.Duration.RefillGap, Minute)
	length("gates.duration.pause_after", g.Duration.PauseAfter, minGap)
	length("gates.duration.restart_after", g.Duration.RestartAfter, minGap)
	c.need(g.Duration.Min < p.LookBack, "look_back", "want more than gates.duration.min (%s), got %s", g.Duration.Min, p.LookBack)
	count("gates.deployments.min", g.Deployments.Min, 1)
	count("gates.deployments.min_calls", g.Deployments.MinCalls, 1)
	count("gates.deployments.min_days", g.Deployments.MinDays, 1)
	length("gates.deployments.seen_within", g.Deployments.SeenWithin, Minute)
	length("gates.deployments.off_after", g.Deployments.OffAfter, minGap)
	rate("gates.malformed.max_rate", g.Malformed.MaxRate, maxRate)
	count("gates.malformed.max_seen", g.Malformed.MaxSeen, 0)
	rate("gates.spread.max_rate", g.Spread.MaxRate, maxRate)
	count("gates.coverage_kinds.min_calls", g.CoverageKinds.MinCalls, 1)
	count("gates.coverage_kinds.min_deployments", g.CoverageKinds.MinDeployments, 1)
	count("gates.coverage_kinds.min_unknown_deployments", g.CoverageKinds.MinUnknownDeployments, 1)
	count("gates.coverage_tools.inventory_from", g.CoverageTools.InventoryFrom, 1)
	count("gates.coverage_tools.min_calls", g.CoverageTools.MinCalls, 1)
	count("gates.bytes.p99", g.Bytes.P99, 1)
	rate("gates.bytes.tail_rate", g.Bytes.TailRate, maxRate)
	c.need(g.Bytes.Max >= g.Bytes.P99, "gates.bytes.max", "want at least gates.bytes.p99 (%d), got %d", g.Bytes.P99, g.Bytes.Max)
	rate("gates.share.max", g.Share.Max, One)
	rate("gates.share.min_known", g.Share.MinKnown, One)
	rate("gates.unreadable.max_rate", g.Unreadable.MaxRate, maxRate)
	length("gates.conformance.max_age", g.Conformance.MaxAge, Minute)
	for i, item := range g.Conformance.AllowNotTested {
		c.need(item >= 1 && item <= 6, fmt.Sprintf("gates.conformance.allow_not_tested[%d]", i), "want an item between 1 and 6, got %d", item)
	}
	length("gates.complaints.review_max_age", g.Complaints.ReviewMaxAge, Minute)
	count("gates.strict_modes.max_hours", g.StrictModes.MaxHours, 0)
	length("gates.collection.window", g.Collection.Window, Hour)
	rate("gates.collection.max_down", g.Collection.MaxDown, One)
	length("gates.freshness.max_age", g.Freshness.MaxAge, minGap)
	length("gates.lateness.window", g.Lateness.Window, Hour)
	length("gates.lateness.late", g.Lateness.Late, Minute)
	rate("gates.lateness.max_share", g.Lateness.MaxShare, One)
	length("gates.clocks.behind", g.Clocks.Behind, Minute)
	length("gates.clocks.ahead", g.Clocks.Ahead, Minute)
	length("gates.clocks.steady", g.Clocks.Steady, Minute)
	count("gates.clocks.min_days", g.Clocks.MinDays, 1)
	length("gates.clocks.window", g.Clocks.Window, Day)
	rate("gates.clocks.max_share", g.Clocks.MaxShare, One)
	length("gates.collectors.heartbeat_max_age", g.Collectors.HeartbeatMaxAge, Minute)
	c.need(g.Collectors.PendingMaxAge > 0, "gates.collectors.pending_max_age", "want more than 0s")
}

func (p Policy) checkLockstep(c *checker) {
	_, err := time.LoadLocation(p.Lockstep.Zone)
	c.need(err == nil && p.Lockstep.Zone != "" && p.Lockstep.Zone != "Local", "lockstep.zone", "want an IANA zone such as Europe/Berlin, got %q", p.Lockstep.Zone)
	c.need(len(p.Lockstep.Days) > 0, "lockstep.days", "want at least one day")
	for i, day := range p.Lockstep.Days {
		c.need(slices.Contains(weekdays, day), fmt.Sprintf("lockstep.days[%d]", i), "want one of %s, got %q", strings.Join(weekdays, ", "), day)
	}
	_, _, err = p.Lockstep.cutOff()
	c.need(err == nil, "lockstep.cut_off", "%v", err)
}

func (p Policy) checkWaivers(c *checker) {
	for i, w := range p.Waivers {
		path := fmt.Sprintf("waivers[%d]", i)
		known := slices.Contains(ServerGates, w.Gate) || slices.Contains(OverallGates, w.Gate)
		c.need(known, path+".gate", "unknown gate %q", w.Gate)
		c.need(!known || waivable[w.Gate], path+".gate", "gate %q has no finding that can be waived", w.Gate)
		_, listed := p.Server(w.Server)
		c.need(listed || w.Server == AllServers, path+".server", "server %q is not listed in the policy", w.Server)
		c.need((w.Server == AllServers) == (w.Gate == GateScope), path+".server", "gate %q wants %s", w.Gate, serverWanted(w.Gate))
		c.need(w.Finding != "", path+".finding", "want the exact finding, as the verdict prints it")
		c.need(w.Reason != "", path+".reason", "want a reason")
		c.need(w.Who != "", path+".who", "want who accepted it")
		c.need(!w.From.IsZero(), path+".from", "want an instant")
		c.need(!w.Entered.IsZero(), path+".entered", "want the instant at which the waiver was entered")
		c.need(w.Until.After(w.From), path+".until", "want an instant after from")
	}
}

func serverWanted(g Gate) string {
	if g == GateScope {
		return `server: "*" and the unlisted server's name as the finding`
	}
	return "the name of a listed server"
}
