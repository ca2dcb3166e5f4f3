package soak

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/soakgate/soakgate/internal/soak/stats"
)

// offTaxonomy blocks on any kind outside the contract's closed lists (D11).
func (j *judge) offTaxonomy(server string, g *Gate) {
	g.require("", "no error_kind and no normalization kind outside the contract")
	if !j.behaviour(server, g, j.f.Findings.problem("off-taxonomy values")) {
		return
	}
	found := map[string]FindingRow{}
	superseded := map[string]FindingRow{}
	for _, r := range j.f.Findings.Value {
		if r.Server != server || r.BeforeAnchor || r.Count <= 0 || r.What == FindingMalformed {
			continue
		}
		into := superseded
		if j.candidate(server, r.Version) {
			into = found
		}
		id := fmt.Sprintf("%s=%s@%s", r.What, r.Value, r.Version)
		if old, ok := into[id]; ok {
			r.Count, r.First, r.Last = r.Count+old.Count, earlier(r.First, old.First), max(r.Last, old.Last)
		}
		into[id] = r
	}
	var n int64
	for _, id := range sortedKeys(found) {
		r := found[id]
		n += r.Count
		g.find(j, id, fmt.Sprintf("%s %q on version %s: %s times, first %s, last %s", r.What, r.Value, r.Version, number(r.Count), r.First, r.Last))
	}
	for _, id := range sortedKeys(superseded) {
		r := superseded[id]
		g.note("superseded: %s %q on version %s, %s times, last %s, ended by %s", r.What, r.Value, r.Version, number(r.Count), r.Last, j.endedBy(server, r.Version))
	}
	j.noteEarlier(server, g, FindingErrorKind, FindingNormalizedKind)
	g.Observed = fmt.Sprintf("%s with %s outside", plural(n, "record"), plural(int64(len(found)), "value"))
	g.count(n, 0, "0", j.sinceAnchor(server))
	g.settle(StateBlock, "every kind seen is one of the contract's")
}

// unreadable asks that what looks like an envelope can be read (D11).
func (j *judge) unreadable(server string, g *Gate) {
	p0, a := j.p.Gates.Unreadable.MaxRate.Float(), j.p.Alpha.Float()
	g.require("", "shown to be at most "+percent(p0))
	if !j.behaviour(server, g, j.f.Readable.problem("readable and unreadable texts")) {
		return
	}
	var x, cut, readable, inRecent int64
	for _, r := range j.f.Readable.Value {
		if r.Server == server && j.candidate(server, r.Version) {
			x, cut, readable, inRecent = x+r.Unreadable, cut+r.Cut, readable+r.Readable, inRecent+r.Recent
		}
	}
	n := x + readable
	g.rate(x, n, a, percent(p0), j.sinceAnchor(server))
	g.Observed = fmt.Sprintf("%s of %s texts cannot be read, at most %s", number(x), number(n), percent(*g.Measure.High))
	if cut > 0 {
		g.note("%s of them were cut short by an exporter's attribute limit: raise it", number(cut))
	}
	if stats.ShownAbove(x, n, p0, a) {
		g.block("%s of %s texts cannot be read, which shows more than %s", number(x), number(n), percent(p0))
		return
	}
	if why := j.trustProblem(); why != "" {
		g.unknown(why)
		return
	}
	if missing := stats.FurtherClean(x, n, p0, a); missing > 0 {
		g.hold(fmt.Sprintf("%s unreadable of %s texts do not yet show at most %s", number(x), number(n), percent(p0)))
		g.grow(j, missing, inRecent, "readable envelopes or blocks")
		return
	}
	g.pass("%s unreadable of %s texts show at most %s", number(x), number(n), percent(p0))
}

// The results of one item of the conformance suite.
const (
	ItemPass      = "pass"
	ItemFail      = "fail"
	ItemNotTested = "not_tested"
)

// conformanceItems is how many items the suite has (R118 to R123).
const conformanceItems = 6

// latestRun is the newest conformance run of a version that counts at T. Of two
// of the same instants the one with more failed items is taken.
func (j *judge) latestRun(server, version string) (ConformanceRow, bool) {
	var runs []ConformanceRow
	for _, r := range j.f.Conformance.Value {
		if r.Server == server && r.Version == version && counts(r.At, r.RecordedAt, j.at.At) {
			runs = append(runs, r)
		}
	}
	if len(runs) == 0 {
		return ConformanceRow{}, false
	}
	return slices.MaxFunc(runs, func(a, b ConformanceRow) int {
		return compareAll(a.At.Compare(b.At), a.RecordedAt.Compare(b.RecordedAt), compare(len(failures(a)), len(failures(b))), compare(a.Suite, b.Suite), compare(fmt.Sprint(a.Items), fmt.Sprint(b.Items)))
	}), true
}

func failures(r ConformanceRow) []string {
	var failed []string
	for i := range conformanceItems {
		if item := strconv.Itoa(i + 1); r.Items[item] == ItemFail {
			failed = append(failed, item)
		}
	}
	return failed
}

// conformance asks for a recent run of the suite on every candidate (D12). A run
// of another version is no evidence, and an item not tested has not passed.
func (j *judge) conformance(server string, g *Gate) {
	rules := j.p.Gates.Conformance
	g.require("", fmt.Sprintf("each candidate passed the suite within %s", rules.MaxAge))
	if !j.behaviour(server, g, j.f.Conformance.problem("conformance runs")) {
		return
	}
	w := wait{j: j}
	var failed []string
	candidates := j.candidates(server)
	var met int64
	for _, v := range candidates {
		run, ok := j.latestRun(server, v.Version)
		if !ok {
			g.part(v.Version, false, "no run", "a run")
			w.act("a conformance run of version " + v.Version)
			continue
		}
		var untested []string
		for i := range conformanceItems {
			item := strconv.Itoa(i + 1)
			if r := run.Items[item]; r != ItemPass && r != ItemFail && !slices.Contains(rules.AllowNotTested, int64(i+1)) {
				untested = append(untested, item)
			}
		}
		bad, old := failures(run), j.at.At.Sub(run.At) > rules.MaxAge.Std()
		switch {
		case len(bad) > 0:
			failed = append(failed, fmt.Sprintf("version %s failed item %s", v.Version, strings.Join(bad, ", ")))
		case old:
			w.act("a newer conformance run of version " + v.Version)
		case len(untested) > 0:
			w.act(fmt.Sprintf("item %s tested on version %s", strings.Join(untested, ", "), v.Version))
		default:
			met++
			g.lapse(run.At.Add(rules.MaxAge.Std()))
		}
		g.part(v.Version, len(bad) == 0 && !old && len(untested) == 0,
			fmt.Sprintf("run of %s, suite %s; failed: %s; not tested: %s", stamp(run.At), run.Suite, orNone(bad), orNone(untested)), "all pass")
	}
	g.Observed = fmt.Sprintf("%d of %s", met, plural(int64(len(candidates)), "candidate"))
	g.count(met, int64(len(candidates)), "all candidates", "runs of the last "+rules.MaxAge.String())
	switch {
	case len(failed) > 0:
		g.block("%s", strings.Join(failed, "; "))
	case met < int64(len(candidates)):
		w.hold(g, fmt.Sprintf("%d of %s passed the suite within %s", met, plural(int64(len(candidates)), "candidate"), rules.MaxAge))
	default:
		g.pass("every candidate passed the suite")
	}
}

func orNone(items []string) string {
	if len(items) == 0 {
		return "none"
	}
	return strings.Join(items, ", ")
}

// lockstep asks that the candidates of all servers were judged by one version of
// the suite: what flips together is held to the same contract (D12, D19, R108).
func (j *judge) lockstep(_ string, g *Gate) {
	g.require("", "one suite version for the candidates of all servers")
	if why := firstOf(j.f.Versions.problem("versions"), j.f.Conformance.problem("conformance runs")); why != "" {
		g.unknown(why)
		return
	}
	suites := map[string]bool{}
	w := wait{j: j}
	for _, s := range j.p.Servers {
		candidates := j.candidates(s.Name)
		if len(candidates) == 0 {
			w.act("a candidate version of " + s.Name)
		}
		for _, v := range candidates {
			run, ok := j.latestRun(s.Name, v.Version)
			if !ok || run.Suite == "" {
				w.act(fmt.Sprintf("a conformance run of %s %s that names its suite version", s.Name, v.Version))
				continue
			}
			suites[run.Suite] = true
		}
	}
	names := sortedKeys(suites)
	g.Observed = "suite versions: " + orNone(names)
	g.count(int64(len(names)), 1, "1 suite version", "the latest run of each candidate")
	if len(names) > 1 {
		w.act("a run of every candidate on one suite version")
	}
	if len(w.undated) > 0 {
		w.hold(g, fmt.Sprintf("the candidates have not all been judged by one suite version (seen: %s)", orNone(names)))
		return
	}
	g.pass("all candidates were judged by suite version %s", names[0])
}

// legacy blocks when a legacy_error_kind outlives its release (D14, R37): it may
// be sent in the release that reclassified, and in none after it.
func (j *judge) legacy(server string, g *Gate) {
	g.require("", "no legacy_error_kind that an earlier release sent already")
	if !j.behaviour(server, g, j.f.Legacy.problem("legacy kinds")) {
		return
	}
	var rows []LegacyRow
	for _, r := range j.f.Legacy.Value {
		if r.Server == server && r.Count > 0 && !prerelease(r.Version) {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b LegacyRow) int {
		return compareAll(compare(a.Value, b.Value), compare(a.Version, b.Version))
	})
	found := map[string]bool{}
	for _, now := range rows {
		if !j.candidate(server, now.Version) {
			continue
		}
		for _, was := range rows {
			id := fmt.Sprintf("legacy_error_kind=%s@%s", now.Value, now.Version)
			if was.Value == now.Value && !found[id] && j.laterRelease(server, now.Version, was.Version) {
				found[id] = true
				g.find(j, id, fmt.Sprintf("legacy_error_kind %q was sent by version %s and still is by %s (%s times)", now.Value, was.Version, now.Version, number(now.Count)))
			}
		}
	}
	g.Observed = plural(int64(len(found)), "value") + " past the release"
	g.count(int64(len(found)), 0, "0", j.windowOf(j.p.LookBack))
	g.settle(StateBlock, "no legacy_error_kind outlives its release")
}

// declaredDefault blocks when a server's own default is not false before the
// flip: it would be out of step with the others (D14, R142).
func (j *judge) declaredDefault(server string, g *Gate) {
	g.require("", "MCP_SCHEMA_KEY_NORMALIZATION_META declared, with default false")
	if why := j.f.Defaults.problem("declared defaults"); why != "" {
		g.unknown(why)
		return
	}
	var rows []DefaultRow
	for _, r := range j.f.Defaults.Value {
		if r.Server == server && counts(r.At, r.RecordedAt, j.at.At) {
			rows = append(rows, r)
		}
	}
	g.count(int64(len(rows)), 0, "the latest is false", "declared and entered by "+stamp(j.at.At))
	if len(rows) == 0 {
		g.Observed = "nothing declared"
		g.hold(server + " has not declared the default of MCP_SCHEMA_KEY_NORMALIZATION_META").needs("an mcp.capabilities record with env_vars.MCP_SCHEMA_KEY_NORMALIZATION_META.default")
		return
	}
	last := slices.MaxFunc(rows, func(a, b DefaultRow) int {
		return compareAll(a.At.Compare(b.At), a.RecordedAt.Compare(b.RecordedAt), compare(strconv.FormatBool(a.Value), strconv.FormatBool(b.Value)), compare(a.Version, b.Version))
	})
	g.Observed = fmt.Sprintf("default %t, declared by version %s at %s", last.Value, last.Version, stamp(last.At))
	if last.Value {
		g.find(j, "default=true@"+last.Version, fmt.Sprintf("version %s declares default true before the flip", last.Version))
	}
	g.settle(StateBlock, "the declared default is false")
}
