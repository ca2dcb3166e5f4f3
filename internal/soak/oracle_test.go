package soak

import (
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
		if f.got/60 >= o.t || f.at/60 >= o.t || f.at/60 < o.lo {
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
