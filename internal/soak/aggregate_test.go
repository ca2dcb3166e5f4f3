package soak

import (
	"cmp"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/soak/policy"
)

type aggregate struct {
	p         policy.Policy
	t         Minute
	facts     []fact
	untrusted map[Instance]bool
	starts    map[string]Minute
}

func (a *aggregate) trusted(f fact) bool {
	return !a.untrusted[Instance{f.server, f.deployment, f.instance}] &&
		minuteOfSec(f.at)-minuteOfSec(f.got) <= minutes(a.p.Gates.Clocks.Ahead)
}

func (a *aggregate) recent(f fact) int64 {
	if minuteOfSec(f.at) >= a.t.Add(-recent) {
		return 1
	}
	return 0
}

func (a *aggregate) sinceAnchor(f fact) bool {
	s, _ := a.p.Server(f.server)
	return s.Anchor.IsZero() || minuteOfSec(f.at) >= MinuteOf(s.Anchor)
}

// group collects rows by key and gives them in a fixed order.
func group[K comparable, R any](facts []fact, key func(fact) (K, bool), add func(*R, fact)) []R {
	rows := map[K]*R{}
	var order []K
	for _, f := range facts {
		k, ok := key(f)
		if !ok {
			continue
		}
		if rows[k] == nil {
			rows[k] = new(R)
			order = append(order, k)
		}
		add(rows[k], f)
	}
	out := make([]R, 0, len(order))
	for _, k := range order {
		out = append(out, *rows[k])
	}
	return out
}

func (a *aggregate) lateness() []LatenessRow {
	type key struct {
		Instance
		day int64
	}
	return group(a.facts, func(f fact) (key, bool) {
		return key{Instance{f.server, f.deployment, f.instance}, f.got / 86400}, f.production() && f.replay == ""
	}, func(r *LatenessRow, f fact) {
		late := (f.got - f.at) * 1000
		if r.Records == 0 {
			*r = LatenessRow{f.server, f.deployment, f.instance, f.got / 86400, 0, late, late}
		}
		r.Records++
		r.LeastMS, r.GreatestMS = min(r.LeastMS, late), max(r.GreatestMS, late)
	})
}

func (a *aggregate) arrivals() []ArrivalRow {
	from := sec(a.t.Add(-a.p.Gates.Lateness.Window))
	return group(a.facts, func(f fact) (string, bool) {
		return f.server, f.production() && f.got >= from && f.got < sec(a.t)
	}, func(r *ArrivalRow, f fact) {
		r.Server = f.server
		switch {
		case f.replay != "":
			r.Replayed++
			return
		case f.got-f.at > int64(a.p.Gates.Lateness.Late):
			r.Late++
		}
		r.Received++
	})
}

func (a *aggregate) servers() []ServerRow {
	return group(a.facts, func(f fact) ([2]string, bool) { return [2]string{f.server, f.env}, true }, func(r *ServerRow, f fact) {
		m := minuteOfSec(f.at)
		*r = ServerRow{f.server, f.env, r.Calls + 1, earlier(r.First, m), max(r.Last, m)}
	})
}

func (a *aggregate) versions() []VersionRow {
	return group(a.facts, func(f fact) ([2]string, bool) { return [2]string{f.server, f.version}, f.production() }, func(r *VersionRow, f fact) {
		m := minuteOfSec(f.at)
		r.Server, r.Version, r.First = f.server, f.version, earlier(r.First, m)
		if f.option != "on" {
			return
		}
		if m >= a.t.Add(-a.p.CandidateWindow) {
			r.Live++
		}
		if a.trusted(f) {
			r.FirstOn, r.LastOn = earlier(r.FirstOn, m), max(r.LastOn, m)
		}
	})
}

// joined makes runs of minutes, joined over short silences, with their calls.
func joined(calls map[Minute]int64, gap Minute) []CallRun {
	var out []CallRun
	for _, m := range sortedMinutes(calls) {
		if n := len(out); n > 0 && m-out[n-1].To <= gap {
			out[n-1].To, out[n-1].Calls = m+1, out[n-1].Calls+calls[m]
		} else {
			out = append(out, CallRun{Run{m, m + 1}, calls[m]})
		}
	}
	return out
}

func sortedMinutes[V any](m map[Minute]V) []Minute {
	keys := make([]Minute, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func plain(runs []CallRun) []Run {
	var out []Run
	for _, r := range runs {
		out = append(out, r.Run)
	}
	return out
}

func (a *aggregate) activity() []Activity {
	type row struct {
		Activity
		on, off map[Minute]int64
	}
	rows := group(a.facts, func(f fact) ([3]string, bool) {
		return [3]string{f.server, f.deployment, f.source}, f.production()
	}, func(r *row, f fact) {
		if r.on == nil {
			r.Activity = Activity{Server: f.server, Deployment: f.deployment, Source: f.source}
			r.on, r.off = map[Minute]int64{}, map[Minute]int64{}
		}
		m := minuteOfSec(f.at)
		if f.option != "on" {
			r.off[m]++
			return
		}
		if a.trusted(f) {
			r.on[m]++
			r.Recent += a.recent(f)
		}
		if m >= a.t.Add(-a.p.CandidateWindow) {
			switch f.strict {
			case "on":
				r.StrictOn++
			case "off":
				r.StrictOff++
			}
		}
	})
	out := make([]Activity, 0, len(rows))
	for _, r := range rows {
		r.On, r.Off = joined(r.on, JoinGap), plain(joined(r.off, JoinGap))
		out = append(out, r.Activity)
	}
	return out
}

func (a *aggregate) refills(up []Run) []Refill {
	beat := map[Minute]bool{}
	for _, r := range up {
		for m := r.From; m < r.To; m++ {
			beat[m] = true
		}
	}
	type row struct {
		server  string
		minutes map[Minute]int64
	}
	rows := group(a.facts, func(f fact) (string, bool) {
		return f.server, f.production() && a.trusted(f) && !beat[minuteOfSec(f.at)]
	}, func(r *row, f fact) {
		if r.minutes == nil {
			r.server, r.minutes = f.server, map[Minute]int64{}
		}
		r.minutes[minuteOfSec(f.at)]++
	})
	var out []Refill
	for _, r := range rows {
		out = append(out, Refill{r.server, plain(joined(r.minutes, 0))})
	}
	return out
}

func (a *aggregate) blocks() []BlockRow {
	type key struct {
		server, version, deployment, source string
		trusted                             bool
	}
	rows := group(a.facts, func(f fact) (key, bool) {
		return key{f.server, f.version, f.deployment, f.source, a.trusted(f)}, f.production() && f.option == "on" && f.block && a.sinceAnchor(f)
	}, func(r *BlockRow, f fact) {
		r.Server, r.Version, r.Deployment, r.Source, r.Trusted = f.server, f.version, f.deployment, f.source, a.trusted(f)
		r.Blocks++
		r.WeightMicro += int64(policy.One)
		r.Recent += a.recent(f)
		if f.malformed {
			m := minuteOfSec(f.at)
			r.Malformed, r.First, r.Last = r.Malformed+1, earlier(r.First, m), max(r.Last, m)
		}
		i, ok := slices.BinarySearchFunc(r.Sizes, f.size, func(b Bin, s int64) int { return cmp.Compare(b.Size, s) })
		if !ok {
			r.Sizes = slices.Insert(r.Sizes, i, Bin{Size: f.size})
		}
		r.Sizes[i].Count++
		if f.answer > 0 {
			r.Known, r.KnownBytes, r.AnswerBytes = r.Known+1, r.KnownBytes+f.size, r.AnswerBytes+f.answer
		}
	})
	return rows
}

func (a *aggregate) readable() []ReadableRow {
	return group(a.facts, func(f fact) ([2]string, bool) {
		return [2]string{f.server, f.version}, f.production() && f.option == "on" && a.sinceAnchor(f) && (f.block || f.envelope || f.unreadable)
	}, func(r *ReadableRow, f fact) {
		r.Server, r.Version = f.server, f.version
		switch {
		case f.unreadable:
			r.Unreadable++
		case a.trusted(f):
			r.Readable++
			r.Recent += a.recent(f)
		}
	})
}

var goodKinds = []string{kindRenamed, kindDroppedAlias, kindCoerced, kindUnknownPassed, kindUnknownReject}

func (a *aggregate) findings() []FindingRow {
	var out []FindingRow
	add := func(f fact, what, value string) {
		m := minuteOfSec(f.at)
		out = append(out, FindingRow{f.server, f.version, what, value, !a.sinceAnchor(f), 1, m, m})
	}
	for _, f := range a.facts {
		if !f.production() || f.option != "on" {
			continue
		}
		if f.errorKind != "" {
			add(f, FindingErrorKind, f.errorKind)
		}
		for _, k := range f.kinds {
			if !slices.Contains(goodKinds, k) {
				add(f, FindingNormalizedKind, k)
			}
		}
		if f.malformed && !a.sinceAnchor(f) {
			add(f, FindingMalformed, "")
		}
	}
	return out
}

func (a *aggregate) legacy() []LegacyRow {
	return group(a.facts, func(f fact) ([3]string, bool) {
		return [3]string{f.server, f.version, f.legacy}, f.production() && f.legacy != ""
	}, func(r *LegacyRow, f fact) {
		*r = LegacyRow{f.server, f.version, f.legacy, r.Count + 1, earlier(r.First, minuteOfSec(f.at))}
	})
}

func (a *aggregate) replayed() []ReplayedRow {
	return group(a.facts, func(f fact) ([2]string, bool) {
		return [2]string{f.server, f.replay}, f.production() && f.replay != ""
	}, func(r *ReplayedRow, f fact) {
		m := minuteOfSec(f.at)
		*r = ReplayedRow{f.server, f.replay, r.Calls + 1, earlier(r.First, m), max(r.Last, m)}
	})
}

func (a *aggregate) inRun(f fact) bool {
	start, ok := a.starts[f.server]
	return ok && minuteOfSec(f.at) >= start && f.production() && f.option == "on"
}

func (a *aggregate) kinds() []KindRow {
	var out []KindRow
	for _, f := range a.facts {
		if !a.inRun(f) || !a.trusted(f) || f.malformed {
			continue
		}
		for _, k := range slices.Compact(slices.Sorted(slices.Values(f.kinds))) {
			out = append(out, KindRow{f.server, k, f.tool, f.deployment, f.source, 1, a.recent(f)})
		}
	}
	// One row a key, as a reader's GROUP BY gives it.
	sums := map[KindRow]KindRow{}
	for _, r := range out {
		k := r
		k.Calls, k.Recent = 0, 0
		s := sums[k]
		r.Calls, r.Recent = r.Calls+s.Calls, r.Recent+s.Recent
		sums[k] = r
	}
	out = out[:0]
	for _, r := range sums {
		out = append(out, r)
	}
	return out
}

func (a *aggregate) tools() []ToolRow {
	return group(a.facts, func(f fact) ([2]string, bool) { return [2]string{f.server, f.tool}, f.production() }, func(r *ToolRow, f fact) {
		r.Server, r.Tool = f.server, f.tool
		r.Seen++
		if a.inRun(f) && a.trusted(f) {
			r.On++
			r.Recent += a.recent(f)
		}
	})
}

func (a *aggregate) strictHours() []StrictHours {
	type key struct {
		server, deployment string
		hour               int64
	}
	both := map[key][2]bool{}
	for _, f := range a.facts {
		if !a.inRun(f) {
			continue
		}
		k := key{f.server, f.deployment, f.at / 3600}
		b := both[k]
		b[0] = b[0] || slices.Contains(f.kinds, kindUnknownPassed)
		b[1] = b[1] || slices.Contains(f.kinds, kindUnknownReject)
		both[k] = b
	}
	var out []StrictHours
	for k, b := range both {
		if b[0] && b[1] {
			out = append(out, StrictHours{Server: k.server, Deployment: k.deployment, Hours: 1})
		}
	}
	return out
}

// judgeFacts judges a world as of an instant.
func (w world) judge(p policy.Policy, at AsOf) Verdict { return Judge(p, w.figures(p, at), at) }

// simPolicy is the policy of the simulations: the definitions' structure with
// bounds that a small history can show.
func simPolicy() policy.Policy {
	p := policy.Default()
	p.Name, p.InForceSince = "simulation", time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	p.Servers = []policy.Server{{Name: "sp"}, {Name: "ads"}}
	p.Exclude = []policy.Exclusion{{Name: "openbridge", Reason: "not part of the flip"}}
	p.LookBack = 20 * policy.Day
	p.Gates.Malformed.MaxRate = 10_000
	p.Gates.Unreadable.MaxRate = 20_000
	return p
}

func stateOf(t *testing.T, v Verdict, server string, gate policy.Gate) State {
	t.Helper()
	return gateOf(t, v, server, gate).State
}

func gateOf(t *testing.T, v Verdict, server string, gate policy.Gate) Gate {
	t.Helper()
	for _, g := range v.Gates {
		if g.Server == server && g.Gate == gate {
			return g
		}
	}
	require.Failf(t, "no such gate", "%s %s", server, gate)
	return Gate{}
}

var errRead = errors.New("query failed")
