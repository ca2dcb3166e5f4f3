package soak

import (
	"fmt"
	"math"
	"strings"

	"github.com/soakgate/soakgate/internal/soak/policy"
)

// states says what each gate should be.
func (o *oracle) states() map[GateRef]State {
	out := map[GateRef]State{}
	for _, s := range o.p.Servers {
		for gate, state := range o.server(s.Name) {
			out[GateRef{s.Name, gate}] = state
		}
	}
	for gate, state := range o.overall() {
		out[GateRef{policy.AllServers, gate}] = state
	}
	return out
}

func (o *oracle) decision(states map[GateRef]State) Decision {
	seen := map[State]bool{}
	for _, s := range states {
		seen[s] = true
	}
	switch {
	case seen[StateBlock]:
		return DecisionBlock
	case seen[StateHold]:
		return DecisionHold
	}
	return DecisionFlip
}

func (o *oracle) server(server string) map[policy.Gate]State {
	g := map[policy.Gate]State{}
	live := o.candidates(server)
	start, elapsed, last := o.soaked(server)
	calls := 0
	for _, f := range o.facts {
		if f.server == server && f.production {
			calls++
		}
	}
	g[policy.GateScope] = pick(calls > 0, StatePass, StateHold)
	g[policy.GateDuration] = pick(elapsed >= 14*1440, StatePass, StateHold)
	g[policy.GateFreshness] = pick(last > 0 && o.t-last <= 360, StatePass, StateHold)
	g[policy.GateVersion] = o.version(server, live)
	g[policy.GateDeployments] = o.deployments(server)
	o.behaviour(server, live, g)
	g[policy.GateCoverageKinds], g[policy.GateCoverageTools], g[policy.GateStrictModes] = o.coverage(server, start)
	o.contract(server, live, g)
	o.quality(server, g)
	if calls == 0 {
		for gate, s := range g {
			if s == StatePass {
				g[gate] = StateHold
			}
		}
	}
	return g
}

func (o *oracle) version(server string, live map[string]bool) State {
	first := map[string]int64{}
	for _, f := range o.facts {
		if f.server == server && live[f.version] && f.production && f.option == "on" && f.right {
			if m, ok := first[f.version]; !ok || f.at/60 < m {
				first[f.version] = f.at / 60
			}
		}
	}
	for v := range live {
		if m, ok := first[v]; !ok || o.t-m < 3*1440 {
			return StateHold
		}
	}
	return pick(len(live) > 0, StatePass, StateHold)
}

func installation(source string) bool { return source != "" && source != "host.name" }

func (o *oracle) deployments(server string) State {
	on, off := map[string][]int64{}, map[string]minuteSet{}
	for _, f := range o.facts {
		if f.server != server || !f.production || !installation(f.source) {
			continue
		}
		if on[f.deployment] == nil {
			on[f.deployment], off[f.deployment] = make([]int64, o.t-o.lo), o.none()
		}
		if o.good(f) {
			on[f.deployment][f.at/60-o.lo]++
		} else if f.option != "on" {
			off[f.deployment].add(f.at / 60)
		}
	}
	counted := 0
	for d, minutes := range on {
		first, last := o.t, int64(0)
		for i, n := range minutes {
			if n > 0 {
				first, last = min(first, o.lo+int64(i)), o.lo+int64(i)
			}
		}
		start := first
		for _, s := range stretches(first, o.t, func(m int64) bool { return minutes[m-o.lo] == 0 }) {
			for m := s.from; m < s.to; m++ {
				if s.to-s.from > 60 && off[d].has(m) {
					start = s.to
				}
			}
		}
		calls, days := int64(0), map[int64]bool{}
		for i, n := range minutes {
			if m := o.lo + int64(i); m >= start && n > 0 {
				calls += n
				days[m/1440] = true
			}
		}
		if calls >= 300 && len(days) >= 7 && o.t-(last+1) <= 48*60 {
			counted++
		}
	}
	return pick(counted >= 3, StatePass, StateHold)
}

// behaviour judges what candidates sent: D6, D8, D10.
func (o *oracle) behaviour(server string, live map[string]bool, g map[policy.Gate]State) {
	tries := 1
	replaced := map[string]bool{}
	clean, bad := map[string]int64{}, map[string]int64{}
	var n, x, small, big, huge, known int64
	bytes, answers := map[string]float64{}, map[string]float64{}
	var allBytes, allAnswers float64
	for _, f := range o.facts {
		if f.server != server || !f.production || f.option != "on" || !f.block {
			continue
		}
		if !live[f.version] {
			if f.malformed && !replaced[f.version] {
				replaced[f.version] = true
				tries++
			}
			continue
		}
		d := f.deployment
		if !installation(f.source) {
			d = "nobody"
		}
		if f.size > 2048 {
			big++
		} else if o.good(f) {
			small++
		}
		if f.size > 16384 {
			huge++
		}
		if f.answer > 0 {
			allBytes, allAnswers = allBytes+float64(f.size), allAnswers+float64(f.answer)
		}
		switch {
		case f.malformed:
			x++
			bad[d]++
		case o.good(f):
			n++
			clean[d]++
		}
		if o.good(f) && f.answer > 0 {
			known++
			bytes[d] += float64(f.size)
			answers[d] += float64(f.answer)
		}
		if o.good(f) || f.answer > 0 { // a deployment of the table
			bytes[d] += 0
		}
	}
	alpha := 0.05 * math.Pow(0.5, float64(tries))
	switch {
	case x > 0:
		g[policy.GateMalformed] = StateBlock
	default:
		g[policy.GateMalformed] = pick(cleanEnough(n, 0.01, alpha), StatePass, StateHold)
	}

	most := int64(0)
	for d := range merge(clean, bad) {
		if d != "nobody" {
			most = max(most, clean[d]+bad[d])
		}
	}
	g[policy.GateSpread] = StateHold
	ok, any := true, false
	for d := range merge(clean, bad) {
		if d == "nobody" || clean[d]+bad[d] != most {
			continue
		}
		any = true
		var rest, wrong int64
		for e := range merge(clean, bad) {
			if e != d {
				wrong += bad[e]
				if e != "nobody" {
					rest += clean[e] + bad[e]
				}
			}
		}
		ok = ok && upper(wrong, rest, 0.025) <= 0.01
	}
	if any && ok {
		g[policy.GateSpread] = StatePass
	}

	below, above := shown(big, small+big, 0.01, 0.05)
	switch {
	case huge > 0 || above:
		g[policy.GateBytes] = StateBlock
	default:
		g[policy.GateBytes] = pick(below, StatePass, StateHold)
	}

	g[policy.GateShare] = StateHold
	if n+x > 0 && 2*known >= n+x {
		sumB, sumA := 0.0, 0.0
		for d := range bytes {
			sumB, sumA = sumB+bytes[d], sumA+answers[d]
		}
		ways := [][2]float64{{sumB, sumA}, {allBytes, allAnswers}}
		for d := range bytes {
			ways = append(ways, [2]float64{sumB - bytes[d], sumA - answers[d]})
		}
		within, over := 0, 0
		for _, w := range ways {
			if w[1] > 0 && w[0] <= 0.05*w[1] {
				within++
			} else if w[1] > 0 {
				over++
			}
		}
		switch {
		case within == len(ways):
			g[policy.GateShare] = StatePass
		case over == len(ways):
			g[policy.GateShare] = StateBlock
		}
	}
	if len(live) == 0 {
		for _, gate := range []policy.Gate{policy.GateMalformed, policy.GateSpread, policy.GateBytes, policy.GateShare} {
			g[gate] = StateHold
		}
	}
}

func merge(a, b map[string]int64) map[string]bool {
	keys := map[string]bool{}
	for k := range a {
		keys[k] = true
	}
	for k := range b {
		keys[k] = true
	}
	return keys
}

// upper is Clopper-Pearson by bisection of the binomial tail.
func upper(x, n int64, alpha float64) float64 {
	if n == 0 || x >= n {
		return 1
	}
	tail := func(p float64) float64 {
		term := math.Pow(1-p, float64(n))
		sum := term
		for k := range x {
			term *= float64(n-k) / float64(k+1) * p / (1 - p)
			sum += term
		}
		return sum
	}
	lo, hi := 0.0, 1.0
	for range 200 {
		if mid := (lo + hi) / 2; tail(mid) > alpha {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// coverage is D9, and D14's strict modes: they look at the current run.
func (o *oracle) coverage(server string, start int64) (kinds, tools, modes State) {
	calls, where := map[string]int{}, map[string]map[string]bool{}
	seen, used := map[string]int{}, map[string]int{}
	strict := map[string]bool{}
	passed, rejected := map[string]bool{}, map[string]bool{}
	for _, f := range o.facts {
		if f.server != server || !f.production {
			continue
		}
		seen[f.tool]++
		if f.option != "on" {
			continue
		}
		if f.at/60 >= o.t-1440 {
			strict[f.strict] = true
		}
		if start == 0 || f.at/60 < start {
			continue
		}
		hour := fmt.Sprint(f.deployment, "|", f.at/3600)
		for _, k := range f.kinds {
			if k == "unknown_field_passed_through" {
				passed[hour] = true
			}
			if k == "unknown_field_rejected" {
				rejected[hour] = true
			}
		}
		if !f.right {
			continue
		}
		used[f.tool]++
		if f.malformed || o.overridden(f.server, f.deployment) {
			continue
		}
		for _, k := range f.kinds {
			calls[k]++
			if where[k] == nil {
				where[k] = map[string]bool{}
			}
			if installation(f.source) {
				where[k][f.deployment] = true
			}
		}
	}
	enough := func(k string, deployments int) bool { return calls[k] >= 30 && len(where[k]) >= deployments }
	kinds = pick(enough("renamed", 2) && enough("dropped_alias", 2) && enough("coerced", 2) &&
		(!strict["on"] || enough("unknown_field_rejected", 1)) && (!strict["off"] || enough("unknown_field_passed_through", 1)), StatePass, StateHold)
	tools = StateHold
	for tool, n := range seen {
		if n >= 20 {
			if used[tool] < 20 {
				tools = StateHold
				break
			}
			tools = StatePass
		}
	}
	hours := map[string]int{}
	for h := range passed {
		if rejected[h] {
			d, _, _ := strings.Cut(h, "|")
			hours[d]++
		}
	}
	modes = StatePass
	for _, n := range hours {
		if n > 1 {
			modes = StateHold
		}
	}
	return kinds, tools, modes
}
