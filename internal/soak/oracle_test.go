package soak

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/soakgate/soakgate/internal/soak/policy"
)

// oracle re-reads the raw facts of a world, minute by minute and record by
// record, and says by the definitions alone what each gate should be. It shares
// no code with the gates, no aggregation, and no statistics: it is slow and
// plain on purpose.
type oracle struct {
	w     world
	p     policy.Policy
	at    time.Time
	t     int64 // minute of at
	lo    int64 // first minute looked at
	facts []seenFact
	bad   map[string]bool // instances with wrong clocks
	lost  map[string]minuteSet
}

// seenFact is a fact that had arrived, and what the oracle worked out about it.
type seenFact struct {
	*fact
	who               string // the instance
	production, right bool   // of a production server; with a right clock
}

// minuteSet marks minutes from a first one on.
type minuteSet struct {
	lo int64
	in []bool
}

func (o *oracle) none() minuteSet { return minuteSet{o.lo, make([]bool, o.t-o.lo)} }

func (s minuteSet) has(m int64) bool { return s.in[m-s.lo] }
func (s minuteSet) add(m int64)      { s.in[m-s.lo] = true }

func newOracle(w world, p policy.Policy, at time.Time) *oracle {
	o := &oracle{w: w, p: p, at: at, t: at.Unix() / 60, bad: map[string]bool{}, lost: map[string]minuteSet{}}
	o.lo = o.t - int64(p.LookBack)/60
	arrived := map[int]int{}
	for i := range w.facts {
		f := &w.facts[i]
		if f.got > at.Unix() || f.at/60 >= o.t || f.at/60 < o.lo {
			continue
		}
		production := strings.ToLower(strings.Trim(f.env, " ")) == "production"
		seen := seenFact{fact: f, who: f.server + "|" + f.deployment + "|" + f.instance, production: production}
		if n, ok := arrived[f.id]; !ok {
			arrived[f.id] = len(o.facts)
			o.facts = append(o.facts, seen)
		} else if f.got < o.facts[n].got {
			o.facts[n] = seen
		}
	}
	least := map[string]map[int64]int64{}
	for _, f := range o.facts {
		if !f.production || f.replay != "" {
			continue
		}
		if least[f.who] == nil {
			least[f.who] = map[int64]int64{}
		}
		if l, ok := least[f.who][f.got/86400]; !ok || f.got-f.at < l {
			least[f.who][f.got/86400] = f.got - f.at
		}
	}
	for instance, days := range least {
		var over []int64
		under := 0
		for _, l := range days {
			if l > 3600 {
				over = append(over, l)
			}
			if l < -300 {
				under++
			}
		}
		slices.Sort(over)
		if len(over) >= 2 && 2*len(over) > len(days) && over[len(over)-1]-over[0] <= 600 {
			o.bad[instance] = true
		}
		if 2*under > len(days) {
			o.bad[instance] = true
		}
	}
	for i := range o.facts {
		f := &o.facts[i]
		f.right = !o.bad[f.who] && f.at/60 <= f.got/60+5
	}
	return o
}

// good tells whether a fact may be evidence for a flip.
func (o *oracle) good(f seenFact) bool {
	return f.production && f.option == "on" && f.right && !o.overridden(f.server, f.deployment)
}

func (o *oracle) entered(at, recorded time.Time) bool {
	return at.Before(o.at) && !recorded.After(o.at)
}

func (o *oracle) overridden(server, deployment string) bool {
	for _, v := range o.w.registers.Overrides {
		if v.Server == server && v.Deployment == deployment && o.entered(v.At, v.RecordedAt) {
			return true // histories never put one back
		}
	}
	return false
}

// candidates are the versions with a call with the option on in the last day.
func (o *oracle) candidates(server string) map[string]bool {
	live := map[string]bool{}
	for _, f := range o.facts {
		if f.server == server && f.production && f.option == "on" && f.at/60 >= o.t-1440 {
			live[f.version] = true
		}
	}
	return live
}

// silences of a server: stretches of minutes in which no minute is active, after
// the first active one; the last may reach to T.
type silence struct{ from, to int64 }

func stretches(from, to int64, in func(m int64) bool) []silence {
	var out []silence
	for m := from; m < to; m++ {
		if !in(m) {
			continue
		}
		if n := len(out); n > 0 && out[n-1].to == m {
			out[n-1].to++
		} else {
			out = append(out, silence{m, m + 1})
		}
	}
	return out
}

// lostMinutes are the minutes of a server's down runs that were not refilled.
func (o *oracle) lostMinutes(server string) minuteSet {
	if lost, ok := o.lost[server]; ok {
		return lost
	}
	beat, called, lost := o.none(), o.none(), o.none()
	o.lost[server] = lost
	for _, r := range o.w.up {
		for m := max(int64(r.From), o.lo); m < min(int64(r.To), o.t); m++ {
			beat.add(m)
		}
	}
	replays := map[string]bool{}
	for _, f := range o.facts {
		if f.server == server && f.production {
			if f.right {
				called.add(f.at / 60)
			}
			replays[f.replay] = true
		}
	}
	for _, r := range o.w.replays {
		if replays[r.ID] && o.entered(r.At, r.RecordedAt) {
			for m := o.lo; m < o.t; m++ {
				if m*60 >= r.From.Unix() && (m+1)*60 <= r.To.Unix() {
					beat.add(m)
				}
			}
		}
	}
	for _, d := range stretches(o.lo, o.t, func(m int64) bool { return !beat.has(m) }) {
		longest, calls := int64(0), false
		for _, s := range stretches(d.from, d.to, func(m int64) bool { return !called.has(m) }) {
			longest = max(longest, s.to-s.from)
		}
		for m := d.from; m < d.to; m++ {
			calls = calls || called.has(m)
		}
		if longest > 30 || !calls {
			for m := d.from; m < d.to; m++ {
				lost.add(m)
			}
		}
	}
	return lost
}

// soaked is D4: the start of the current run and the elapsed minutes.
func (o *oracle) soaked(server string) (start, elapsed, last int64) {
	active, off := o.none(), o.none()
	first := int64(0)
	for _, f := range o.facts {
		if f.server != server || !f.production {
			continue
		}
		if f.option != "on" {
			off.add(f.at / 60)
		}
		if o.good(f) {
			active.add(f.at / 60)
			if first == 0 || f.at/60 < first {
				first = f.at / 60
			}
			last = max(last, f.at/60+1)
		}
	}
	if first == 0 {
		return 0, 0, 0
	}
	start = first
	lost := o.lostMinutes(server)
	for _, d := range stretches(first, o.t, func(m int64) bool { return lost.has(m) }) {
		if d.to-d.from > 30 {
			start = max(start, d.to)
		}
	}
	paused := o.none()
	for _, s := range stretches(first, o.t, func(m int64) bool { return !active.has(m) }) {
		wasOff := false
		for m := s.from; m < s.to; m++ {
			wasOff = wasOff || off.has(m)
		}
		long := s.to - s.from
		if long > 60 && wasOff || long > 72*60 {
			start = max(start, s.to)
		}
		if long > 6*60 {
			for m := s.from; m < s.to; m++ {
				paused.add(m)
			}
		}
	}
	end := o.t
	if o.t-last > 6*60 {
		end = last
	}
	for m := start; m < end; m++ {
		if !paused.has(m) {
			elapsed++
		}
	}
	return start, elapsed, last
}

// logPower is the logarithm of a power.
func logPower(base float64, n int64) float64 { return float64(n) * math.Log(base) }

// shown is D7, written out.
func shown(x, n int64, p0, alpha float64) (below, above bool) {
	if n == 0 {
		return false, false
	}
	term := func(f float64) float64 { return logPower(f, x) + logPower((1-f*p0)/(1-p0), n-x) }
	m := 0.0
	if x == 0 {
		m += 0.5 * math.Exp(-logPower(1-p0, n))
	}
	for _, f := range []float64{0.125, 0.25, 0.5} {
		m += math.Exp(term(f)) / 6
	}
	n2 := 0.0
	for _, f := range []float64{1.5, 2, 4} {
		n2 += math.Exp(term(f)) / 3
	}
	return m >= 1/alpha, n2 >= 1/alpha
}

// cleanEnough tells by multiplying whether n clean ones bound the rate by r.
func cleanEnough(n int64, r, alpha float64) bool {
	left := 1.0
	for range n {
		if left *= 1 - r; left <= alpha {
			return true
		}
	}
	return false
}

func pick(cond bool, yes, no State) State {
	if cond {
		return yes
	}
	return no
}

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

// contract is D11 to D14.
func (o *oracle) contract(server string, live map[string]bool, g map[policy.Gate]State) {
	kinds := []string{"renamed", "dropped_alias", "coerced", "unknown_field_passed_through", "unknown_field_rejected"}
	off := false
	var unread, read int64
	for _, f := range o.facts {
		if f.server != server || !f.production || f.option != "on" || !live[f.version] {
			continue
		}
		off = off || f.errorKind != ""
		for _, k := range f.kinds {
			off = off || !slices.Contains(kinds, k)
		}
		if f.unreadable {
			unread++
		} else if (f.block || f.envelope) && f.right {
			read++
		}
	}
	g[policy.GateOffTaxonomy] = pick(off, StateBlock, pick(len(live) > 0, StatePass, StateHold))
	below, above := shown(unread, unread+read, 0.02, 0.05)
	g[policy.GateUnreadable] = pick(above, StateBlock, pick(below, StatePass, StateHold))

	g[policy.GateConformance] = pick(len(live) > 0, StatePass, StateHold)
	for v := range live {
		var run *ConformanceRow
		for _, r := range o.w.conformance {
			if r.Server == server && r.Version == v && o.entered(r.At, r.RecordedAt) && (run == nil || r.At.After(run.At)) {
				run = &r
			}
		}
		state := StatePass
		switch {
		case run == nil || o.at.Sub(run.At) > 14*24*time.Hour:
			state = StateHold
		default:
			for _, item := range []string{"1", "2", "3", "4", "6"} {
				if run.Items[item] == "not_tested" {
					state = StateHold
				}
			}
		}
		if run != nil {
			for _, result := range run.Items {
				if result == "fail" {
					state = StateBlock
				}
			}
		}
		if state == StateBlock || g[policy.GateConformance] == StatePass {
			g[policy.GateConformance] = state
		}
	}

	g[policy.GateComplaints] = o.complaints(server, live)
	g[policy.GateLegacy] = pick(len(live) > 0, StatePass, StateHold)
	var legacies []seenFact
	for _, f := range o.facts {
		if f.legacy != "" {
			legacies = append(legacies, f)
		}
	}
	for _, now := range legacies {
		for _, was := range legacies {
			if was.legacy != now.legacy || now.server != server || was.server != server || !live[now.version] {
				continue
			}
			if now.production && was.production && !strings.Contains(now.version+was.version, "-rc") && release(now.version) > release(was.version) {
				g[policy.GateLegacy] = StateBlock
			}
		}
	}

	var declared *DefaultRow
	for _, d := range o.w.defaults {
		if d.Server == server && o.entered(d.At, d.RecordedAt) && (declared == nil || d.At.After(declared.At)) {
			declared = &d
		}
	}
	g[policy.GateDeclaredDefault] = StateHold
	if declared != nil {
		g[policy.GateDeclaredDefault] = pick(declared.Value, StateBlock, StatePass)
	}
}

// release of the versions that histories use: major.minor as text.
func release(v string) string { return v[:strings.LastIndex(v, ".")] }

func (o *oracle) complaints(server string, live map[string]bool) State {
	open, fixes := map[string]bool{}, map[string]string{}
	entries := slices.Clone(o.w.registers.Complaints)
	slices.SortStableFunc(entries, func(a, b Complaint) int { return a.At.Compare(b.At) })
	for _, c := range entries {
		if c.Server != server || !o.entered(c.At, c.RecordedAt) {
			continue
		}
		if c.Action == "resolve" && c.Ref != "" {
			open[c.ID], fixes[c.ID] = false, c.FixedIn
		} else {
			open[c.ID] = true
		}
	}
	state := StateHold
	for _, r := range o.w.registers.Reviews {
		if r.Server == server && o.entered(r.At, r.RecordedAt) && o.at.Sub(r.At) <= 7*24*time.Hour {
			state = StatePass
		}
	}
	for id, isOpen := range open {
		for v := range live {
			// Versions of histories order as text; "build-7" has no order with them.
			if !isOpen && (v < fixes[id] || v == "build-7") {
				state = StateHold
			}
		}
	}
	for _, isOpen := range open {
		if isOpen {
			return StateBlock
		}
	}
	return state
}

// quality is D15 and D16 by server.
func (o *oracle) quality(server string, g map[policy.Gate]State) {
	lost := 0
	for m := o.t - 14*1440; m < o.t; m++ {
		if o.lostMinutes(server).has(m) {
			lost++
		}
	}
	g[policy.GateCollection] = pick(float64(lost) <= 0.01*14*1440, StatePass, StateHold)
	var received, late, records, wrong, replays float64
	uncovered := false
	for _, f := range o.facts {
		if f.server != server || !f.production {
			continue
		}
		if f.replay != "" {
			replays++
			covered := false
			for _, r := range o.w.replays {
				covered = covered || r.ID == f.replay && o.entered(r.At, r.RecordedAt) && f.at/60 >= r.From.Unix()/60 && f.at < r.To.Unix()+60
			}
			uncovered = uncovered || !covered
			continue
		}
		if f.got >= (o.t-7*1440)*60 && f.got < o.t*60 {
			received++
			if f.got-f.at > 86400 {
				late++
			}
		}
		if f.got/86400 >= (o.t-14*1440)/1440 {
			records++
			if o.bad[f.who] {
				wrong++
			}
		}
	}
	g[policy.GateLateness] = pick(received > 0 && late <= 0.01*received || received == 0 && replays > 0, StatePass, StateHold)
	g[policy.GateClocks] = pick(records > 0 && wrong <= 0.001*records || records == 0 && replays > 0, StatePass, StateHold)
	g[policy.GateReplays] = pick(replays == 0 || o.p.AllowReplay && !uncovered, StatePass, StateHold)
}

func (o *oracle) overall() map[policy.Gate]State {
	g := map[policy.Gate]State{}
	stranger := false
	for _, f := range o.facts {
		if f.server != "sp" && f.server != "ads" && f.server != "openbridge" && f.production {
			stranger = true
		}
	}
	g[policy.GateScope] = pick(stranger, StateHold, StatePass)
	g[policy.GateComplaints] = StatePass
	for _, c := range o.w.registers.Complaints {
		if c.Server == "spp" && o.entered(c.At, c.RecordedAt) {
			g[policy.GateComplaints] = StateBlock // histories never resolve these
		}
	}
	suites, missing := map[string]bool{}, false
	for _, server := range []string{"sp", "ads"} {
		live := o.candidates(server)
		missing = missing || len(live) == 0
		for v := range live {
			found := false
			for _, r := range o.w.conformance {
				if r.Server == server && r.Version == v && o.entered(r.At, r.RecordedAt) {
					suites[r.Suite] = true // histories have one run a version
					found = true
				}
			}
			missing = missing || !found
		}
	}
	g[policy.GateLockstep] = pick(!missing && len(suites) == 1, StatePass, StateHold)
	var rejected int64
	for _, r := range o.w.rejected {
		rejected += r.Count
	}
	g[policy.GateRejected] = pick(rejected == 0, StatePass, StateHold)
	balanced, alive := o.w.books.Distinct == o.w.books.Sealed && int64(o.w.books.SealedThrough) >= o.t-10, true
	for _, c := range o.w.collectors {
		balanced = balanced && c.Accepted == c.Inserted+c.Rejected+c.Parked+c.Backlog
		alive = alive && (c.Retired || o.at.Sub(c.At) <= 10*time.Minute && c.BacklogAgeMS <= 60_000 && c.ParkedBatches == 0)
	}
	g[policy.GateBooks], g[policy.GateCollectors] = pick(balanced, StatePass, StateHold), pick(alive, StatePass, StateHold)
	return g
}
