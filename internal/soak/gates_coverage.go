package soak

import (
	"fmt"
	"slices"

	"github.com/soakgate/soakgate/internal/soak/policy"
)

// The kinds of normalization (R83).
const (
	kindRenamed       = "renamed"
	kindDroppedAlias  = "dropped_alias"
	kindCoerced       = "coerced"
	kindUnknownPassed = "unknown_field_passed_through"
	kindUnknownReject = "unknown_field_rejected"
)

// runWindow is the window of gates that look at the current run.
func (j *judge) runWindow(server string) string {
	return "the current run, " + Run{j.clock(server).start, j.t}.String()
}

// coverageKinds asks that every kind of normalization was seen enough (D9). The
// two kinds of unknown fields exclude each other by configuration (R86), so each
// is asked for only where a deployment declares that mode.
func (j *judge) coverageKinds(server string, g *Gate) {
	rules := j.p.Gates.CoverageKinds
	g.require("", fmt.Sprintf("each kind in %s calls from %d deployments", number(rules.MinCalls), rules.MinDeployments))
	if why := firstOf(j.f.Kinds.problem("normalization kinds"), j.runProblem(server)); why != "" {
		g.unknown(why)
		return
	}
	type seen struct {
		calls, recent int64
		deployments   map[string]bool
	}
	kinds := map[string]*seen{}
	for _, r := range j.f.Kinds.Value {
		if r.Server != server || !j.countsFor(server, r.Deployment) {
			continue
		}
		s := kinds[r.Kind]
		if s == nil {
			s = &seen{deployments: map[string]bool{}}
			kinds[r.Kind] = s
		}
		s.calls, s.recent = s.calls+r.Calls, s.recent+r.Recent
		if CountedSource(r.Source) && r.Calls > 0 {
			s.deployments[r.Deployment] = true
		}
	}
	w := wait{j: j}
	met, asked := int64(0), int64(0)
	need := func(kind string, deployments int64) {
		s := kinds[kind]
		if s == nil {
			s = &seen{}
		}
		ok := s.calls >= rules.MinCalls && int64(len(s.deployments)) >= deployments
		g.part(kind, ok, fmt.Sprintf("%s from %s", plural(s.calls, "call"), plural(int64(len(s.deployments)), "deployment")), fmt.Sprintf("%s from %s", plural(rules.MinCalls, "call"), plural(deployments, "deployment")))
		asked++
		if ok {
			met++
			return
		}
		if missing := rules.MinCalls - s.calls; missing > 0 {
			w.grow(missing, s.recent, "calls with kind "+kind)
		}
		if missing := deployments - int64(len(s.deployments)); missing > 0 {
			w.act(fmt.Sprintf("kind %s from %s", kind, plural(missing, "more deployment")))
		}
	}
	for _, kind := range []string{kindRenamed, kindDroppedAlias, kindCoerced} {
		need(kind, rules.MinDeployments)
	}
	strictOn, strictOff := j.strictModesDeclared(server)
	for _, k := range []struct {
		kind, mode string
		applies    bool
	}{{kindUnknownReject, "on", strictOn}, {kindUnknownPassed, "off", strictOff}} {
		if k.applies {
			need(k.kind, rules.MinUnknownDeployments)
		} else {
			g.note("%s does not apply: no deployment declares strict mode %s", k.kind, k.mode)
		}
	}
	g.Observed = fmt.Sprintf("%d of %d kinds", met, asked)
	g.count(met, asked, fmt.Sprintf("%d kinds", asked), j.runWindow(server))
	if met < asked {
		w.hold(g, fmt.Sprintf("%d of %d kinds of normalization were seen enough", met, asked))
		return
	}
	g.pass("all %d kinds of normalization that apply were seen enough", asked)
}

// strictModesDeclared tells which modes production deployments declare now.
func (j *judge) strictModesDeclared(server string) (on, off bool) {
	for _, a := range j.f.Activity.Value {
		if a.Server == server {
			on, off = on || a.StrictOn > 0, off || a.StrictOff > 0
		}
	}
	return on, off
}

// unknownTool stands where a server cannot know the tool's name (R24).
const unknownTool = "unknown_tool"

// coverageTools asks that every tool in use was called with the option on (D9).
func (j *judge) coverageTools(server string, g *Gate) {
	rules := j.p.Gates.CoverageTools
	g.require("", fmt.Sprintf("each tool of the inventory in %s calls with the option on", number(rules.MinCalls)))
	if why := firstOf(j.f.Tools.problem("tools"), j.runProblem(server)); why != "" {
		g.unknown(why)
		return
	}
	tools := map[string]ToolRow{}
	for _, r := range j.f.Tools.Value {
		if r.Server == server {
			t := tools[r.Tool]
			tools[r.Tool] = ToolRow{server, r.Tool, t.Seen + r.Seen, t.On + r.On, t.Recent + r.Recent}
		}
	}
	var listed []string
	if s, ok := j.p.Server(server); ok {
		listed = s.Tools
	}
	inventory := slices.Clone(listed)
	for name, t := range tools {
		if t.Seen >= rules.InventoryFrom && name != "" && name != unknownTool {
			inventory = append(inventory, name)
		}
	}
	slices.Sort(inventory)
	inventory = slices.Compact(inventory)
	w := wait{j: j}
	var met int64
	for _, name := range inventory {
		t := tools[name]
		ok := t.On >= rules.MinCalls
		g.part(name, ok, number(t.On)+" calls with the option on", number(rules.MinCalls))
		if ok {
			met++
		} else {
			w.grow(rules.MinCalls-t.On, t.Recent, "calls of tool "+name+" with the option on")
		}
	}
	all := int64(len(inventory))
	g.Observed = fmt.Sprintf("%d of %d tools", met, all)
	g.count(met, all, fmt.Sprintf("%d tools", all), j.runWindow(server))
	switch {
	case all == 0:
		g.hold(fmt.Sprintf("no tool of %s was called %s times, so there is no inventory", server, number(rules.InventoryFrom)))
		g.needs("calls of the tools")
	case met < all:
		w.hold(g, fmt.Sprintf("%d of %d tools were called enough with the option on", met, all))
	default:
		g.pass("all %d tools were called enough with the option on", all)
	}
}

// strictModes holds when one deployment keeps sending both kinds of unknown
// fields: it is then in two modes, and what was seen of it says little (D14).
func (j *judge) strictModes(server string, g *Gate) {
	most := j.p.Gates.StrictModes.MaxHours
	g.require("", fmt.Sprintf("no deployment with both kinds of unknown fields in more than %d clock hours", most))
	if why := firstOf(j.f.StrictHours.problem("strict modes by hour"), j.runProblem(server)); why != "" {
		g.unknown(why)
		return
	}
	hours := map[string]int64{}
	for _, r := range j.f.StrictHours.Value {
		if r.Server == server {
			hours[r.Deployment] += r.Hours
		}
	}
	var worst int64
	w := wait{j: j}
	for _, id := range sortedKeys(hours) {
		worst = max(worst, hours[id])
		g.part(id, hours[id] <= most, plural(hours[id], "hour"), fmt.Sprintf("at most %d", most))
		if hours[id] > most {
			w.act("one strict mode throughout deployment " + id)
		}
	}
	g.Observed = plural(worst, "hour") + " at most"
	g.count(worst, most, plural(most, "hour"), j.runWindow(server))
	if len(w.undated) > 0 {
		w.hold(g, fmt.Sprintf("%s in two strict modes, with both %s and %s", plural(int64(len(w.undated)), "deployment"), kindUnknownPassed, kindUnknownReject))
		return
	}
	g.pass("no deployment stays in two strict modes")
}

// Stratum is one cell of the table of coverage: shown, never decided by (D9).
type Stratum struct {
	Server     string `json:"server"`
	Kind       string `json:"kind"`
	Tool       string `json:"tool"`
	Deployment string `json:"deployment"`
	Calls      int64  `json:"calls"`
}

// Strata is the table server x kind x tool x deployment of the listed servers.
func Strata(p policy.Policy, f Figures) []Stratum {
	cells := map[Stratum]int64{}
	for _, r := range f.Kinds.Value {
		if _, ok := p.Server(r.Server); ok {
			cells[Stratum{r.Server, r.Kind, r.Tool, r.Deployment, 0}] += r.Calls
		}
	}
	out := make([]Stratum, 0, len(cells))
	for cell, n := range cells {
		cell.Calls = n
		out = append(out, cell)
	}
	slices.SortFunc(out, func(a, b Stratum) int {
		return compareAll(compare(a.Server, b.Server), compare(a.Kind, b.Kind), compare(a.Tool, b.Tool), compare(a.Deployment, b.Deployment))
	})
	return out
}
