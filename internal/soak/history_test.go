package soak

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// simEnd is the as-of instant of the simulations: not a whole minute, so that
// the cut to the minute matters.
var simEnd = time.Date(2026, 3, 21, 15, 7, 23, 0, time.UTC)

const (
	simDays  = 16
	callStep = 40 * 60 // seconds between calls of one deployment
)

var simTools = []string{"list", "get", "set"}

// history builds a world that flips, for perturbations to spoil.
type history struct {
	world
	r   *rand.Rand
	end time.Time
}

func newHistory(seed uint64) *history {
	h := &history{r: rand.New(rand.NewPCG(seed, 7)), end: simEnd}
	t := MinuteOf(h.end)
	from := t - simDays*minutesADay
	id := 0
	h.facts = make([]fact, 0, 4000)
	for _, server := range []string{"sp", "ads"} {
		for d := range 3 {
			n := 0
			for at := sec(from) + int64(d)*800 + h.r.Int64N(60); at < sec(t)-30; at += callStep {
				f := fact{
					id: id, server: server, version: "1.4.0", env: "production", deployment: fmt.Sprintf("d%d", d), source: "mcp.deployment.id",
					instance: fmt.Sprintf("%s-%d-%d", server, d, n%2), option: "on", strict: "on", tool: simTools[n%3], at: at, got: at + 1 + h.r.Int64N(20),
				}
				if n%2 == 0 {
					f.block, f.size, f.answer = true, 80+h.r.Int64N(200), 20_000
					f.kinds = []string{goodKinds[[]int{0, 1, 2, 4}[(n/2)%4]]}
				} else if n%7 == 0 {
					f.envelope = true
				}
				h.facts = append(h.facts, f)
				id, n = id+1, n+1
			}
		}
	}
	h.up = []Run{{from - 600, t}}
	h.collectors = []Collector{{Journal: "j1", Name: "c1", At: h.end.Add(-5 * time.Second), Accepted: 10, Inserted: 10}}
	h.books = Books{SealedThrough: t - 1, Distinct: 10, Sealed: 10}
	for _, server := range []string{"sp", "ads"} {
		h.registers.Reviews = append(h.registers.Reviews, Review{Server: server, By: "r", At: h.end.Add(-24 * time.Hour), RecordedAt: h.end.Add(-24 * time.Hour)})
		h.defaults = append(h.defaults, DefaultRow{server, "1.4.0", false, h.end.Add(-240 * time.Hour), h.end.Add(-240 * time.Hour)})
		h.conformance = append(h.conformance, h.run(server, "1.4.0", 48*time.Hour))
	}
	return h
}

func (h *history) run(server, version string, age time.Duration) ConformanceRow {
	items := map[string]string{"1": ItemPass, "2": ItemPass, "3": ItemPass, "4": ItemPass, "5": ItemNotTested, "6": ItemPass}
	return ConformanceRow{server, version, "s1", items, h.end.Add(-age), h.end.Add(-age)}
}

func (h *history) asOf() AsOf { return AsOf{At: h.end} }

func (h *history) server() string { return []string{"sp", "ads"}[h.r.IntN(2)] }

// interval is a random interval of seconds within the history, of a length
// between the two given in minutes.
func (h *history) interval(least, most int64) (from, to int64) {
	length := (least + h.r.Int64N(most-least+1)) * 60
	end := h.end.Unix()
	from = end - simDays*86400 + h.r.Int64N(simDays*86400)
	return from, min(from+length, end)
}

// keep drops the facts for which keep is false.
func (h *history) keep(keep func(*fact) bool) {
	var out []fact
	for _, f := range h.facts {
		if keep(&f) {
			out = append(out, f)
		}
	}
	h.facts = out
}

func (h *history) change(server string, from, to int64, change func(*fact)) {
	for i := range h.facts {
		if f := &h.facts[i]; (server == "" || f.server == server) && f.at >= from && f.at < to {
			change(f)
		}
	}
}

// blockFact picks a random block of a server.
func (h *history) blockFact(server string) *fact {
	for range 10_000 {
		if f := &h.facts[h.r.IntN(len(h.facts))]; f.server == server && f.block && f.production() {
			return f
		}
	}
	return &h.facts[0]
}

// cut removes an interval from the collector's minutes.
func (h *history) cut(from, to int64) {
	a, b := minuteOfSec(from), minuteOfSec(to)
	var out []Run
	for _, r := range h.up {
		out = append(out, within([]Run{r}, r.From, a)...)
		out = append(out, within([]Run{r}, b, r.To)...)
	}
	h.up = union(out)
}
