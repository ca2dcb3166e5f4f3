package soak

import (
	"github.com/soakgate/soakgate/internal/soak/policy"
)

// A fact is one delivery of one record, as a collector would get it. Facts of
// the same id are deliveries of the same record.
type fact struct {
	id int

	server, version, env, deployment, source, instance string
	option, strict                                     string // on, off, undeclared
	tool, replay                                       string
	at, got                                            int64 // seconds since 1970: happened, received

	block     bool // carries normalized under _meta
	malformed bool
	kinds     []string // of its normalization events
	size      int64    // bytes of the block
	answer    int64    // size of the whole answer, 0 when unknown

	envelope   bool
	unreadable bool
	errorKind  string // only when off the taxonomy
	legacy     string
}

func (f fact) production() bool { return Production(f.env) }

// world is everything that happened, on the wire and off it.
type world struct {
	facts       []fact
	up          []Run // minutes with a heartbeat
	collectors  []Collector
	registers   Registers
	replays     []Replay
	defaults    []DefaultRow
	conformance []ConformanceRow
	rejected    []RejectedRow
	books       Books
}

func sec(m Minute) int64 { return int64(m) * 60 }

func minuteOfSec(s int64) Minute { return Minute(s / 60) }

// first keeps of each record the delivery that came first, and drops what does
// not count as of the instant. The order of deliveries does not matter.
func (w world) first(p policy.Policy, at AsOf) []fact {
	t := at.Minute()
	best, out := make(map[int]int, len(w.facts)), make([]fact, 0, len(w.facts))
	for _, f := range w.facts {
		m := minuteOfSec(f.at)
		if m >= t || m < t.Add(-p.LookBack) || (!at.AllEvents && minuteOfSec(f.got) >= t) {
			continue
		}
		if i, ok := best[f.id]; ok {
			if f.got < out[i].got {
				out[i] = f
			}
			continue
		}
		best[f.id] = len(out)
		out = append(out, f)
	}
	return out
}

// figures aggregates the facts the way a reader of rollups does, in its three steps.
func (w world) figures(p policy.Policy, at AsOf) Figures {
	facts, t := w.first(p, at), at.Minute()
	f := Figures{Version: FiguresVersion, Bounds: Bounds{AsOf: at}}
	f.Registers, f.Replays = Got(w.registers), Got(w.replays)
	f.Defaults, f.Conformance = Got(w.defaults), Got(w.conformance)
	f.Rejected, f.Books = Got(w.rejected), Got(w.books)
	kept := Kept{}
	for _, x := range facts {
		kept.Oldest = earlier(kept.Oldest, minuteOfSec(x.at))
	}
	f.Kept = Got(kept)
	f.Heartbeats = Got(Heartbeats{Up: within(w.up, t.Add(-p.LookBack), t), Collectors: w.collectors})

	a := &aggregate{p: p, t: t, facts: facts}
	f.Lateness, f.Arrivals = Got(a.lateness()), Got(a.arrivals())
	f.Bounds.Untrusted = Untrusted(p, f.Lateness.Value)
	a.untrusted = map[Instance]bool{}
	for _, i := range f.Bounds.Untrusted {
		a.untrusted[i] = true
	}
	f.Servers, f.Versions = Got(a.servers()), Got(a.versions())
	f.Activity, f.Refills = Got(a.activity()), Got(a.refills(w.up))
	f.Blocks, f.Readable = Got(a.blocks()), Got(a.readable())
	f.Findings, f.Legacy, f.Replayed = Got(a.findings()), Got(a.legacy()), Got(a.replayed())
	f.Bounds.RunStarts = RunStarts(p, f, at)
	a.starts = map[string]Minute{}
	for _, s := range f.Bounds.RunStarts {
		a.starts[s.Server] = s.From
	}
	f.Kinds, f.Tools, f.StrictHours = Got(a.kinds()), Got(a.tools()), Got(a.strictHours())
	return f
}
