package soak

import (
	"fmt"
	"slices"
	"time"
)

// perturbation spoils a history, or changes what must not matter.
type perturbation struct {
	name  string
	apply func(h *history)
}

var perturbations = []perturbation{
	{"collecting hole, records lost", func(h *history) {
		from, to := h.interval(5, 600)
		h.cut(from, to)
		h.keep(func(f *fact) bool { return f.at < from || f.at >= to })
	}},
	{"collecting hole, senders kept their records", func(h *history) {
		from, to := h.interval(5, 600)
		h.cut(from, to)
		h.change("", from, to, func(f *fact) { f.got = max(f.got, to+f.id2(30)) })
	}},
	{"collecting hole, partly kept", func(h *history) {
		from, to := h.interval(60, 300)
		h.cut(from, to)
		lost := from + h.r.Int64N(to-from)
		h.keep(func(f *fact) bool {
			if f.at >= from && f.at < to {
				f.got = max(f.got, to+5)
				return f.at < lost
			}
			return true
		})
	}},
	{"silence of one server", func(h *history) {
		server := h.server()
		from, to := h.interval(60, 90*60)
		h.keep(func(f *fact) bool { return f.server != server || f.at < from || f.at >= to })
	}},
	{"silence at the end", func(h *history) {
		server, from := h.server(), h.end.Unix()-h.r.Int64N(30*3600)
		h.keep(func(f *fact) bool { return f.server != server || f.at < from })
	}},
	{"option off everywhere", func(h *history) {
		server := h.server()
		from, to := h.interval(20, 36*60)
		option := []string{"off", "undeclared"}[h.r.IntN(2)]
		h.change(server, from, to, func(f *fact) { f.option = option })
	}},
	{"option off on one deployment", func(h *history) {
		server, d := h.server(), fmt.Sprintf("d%d", h.r.IntN(3))
		from, to := h.interval(20, 12*1440)
		h.change(server, from, to, func(f *fact) {
			if f.deployment == d {
				f.option = "off"
			}
		})
	}},
	{"staging traffic", func(h *history) {
		for i := range 200 {
			f := h.facts[h.r.IntN(len(h.facts))]
			f.id, f.env, f.malformed, f.block, f.errorKind = 1_000_000+i, "staging", true, true, "off_taxonomy"
			f.size = 500
			h.facts = append(h.facts, f)
		}
	}},
	{"environment spelt otherwise", func(h *history) {
		h.change(h.server(), 0, h.end.Unix(), func(f *fact) {
			if f.production() {
				f.env = " Production"
			}
		})
	}},
	{"new version", func(h *history) {
		server := h.server()
		from := h.end.Unix() - h.r.Int64N(10*86400)
		version := []string{"1.4.1", "1.5.0", "build-7"}[h.r.IntN(3)]
		h.change(server, from, h.end.Unix(), func(f *fact) { f.version = version })
		if h.r.IntN(2) == 0 {
			h.conformance = append(h.conformance, h.run(server, version, time.Hour))
		}
	}},
	{"malformed block, version replaced", func(h *history) {
		server := h.server()
		from := h.end.Unix() - (4+h.r.Int64N(3))*86400
		for range 50 {
			if f := h.blockFact(server); f.at < from-86400 {
				f.malformed = true
				break
			}
		}
		h.change(server, from, h.end.Unix(), func(f *fact) { f.version = "1.4.1" })
		h.conformance = append(h.conformance, h.run(server, "1.4.1", time.Hour))
	}},
	{"malformed block", func(h *history) { h.blockFact(h.server()).malformed = true }},
	{"clock behind", func(h *history) { h.skew(3 * 3600) }},
	{"clock ahead", func(h *history) { h.skew(-11 * 60) }},
	{"clock a little ahead", func(h *history) { h.skew(-4 * 60) }},
	{"a queue that drains", func(h *history) {
		server := h.server()
		for i := range h.facts {
			if f := &h.facts[i]; f.server == server && f.deployment == "d1" {
				f.got += f.id2(7000)
			}
		}
	}},
	{"late deliveries", func(h *history) {
		share := h.r.IntN(40)
		for i := range h.facts {
			if f := &h.facts[i]; h.r.IntN(1000) < share {
				f.got += 25*3600 + h.r.Int64N(100_000)
			}
		}
	}},
	{"repeated deliveries", func(h *history) {
		for range 500 {
			f := h.facts[h.r.IntN(len(h.facts))]
			f.got += h.r.Int64N(100_000)
			h.facts = append(h.facts, f)
		}
	}},
	{"replicas and restarts", func(h *history) {
		for i := range h.facts {
			f := &h.facts[i]
			f.instance = fmt.Sprintf("%s-%d-%d", f.deployment, f.at/90_000, f.id%4)
		}
	}},
	{"off-taxonomy error kind", func(h *history) { h.blockFact(h.server()).errorKind = "precondition_failed" }},
	{"off-taxonomy normalization kind", func(h *history) { h.blockFact(h.server()).kinds = []string{"unknown_field_dropped"} }},
	{"one block too large", func(h *history) { h.blockFact(h.server()).size = 16384 + h.r.Int64N(2) }},
	{"some large blocks", func(h *history) {
		server, share := h.server(), h.r.IntN(40)
		h.change(server, 0, h.end.Unix(), func(f *fact) {
			if f.block && h.r.IntN(1000) < share {
				f.size = 3000
			}
		})
	}},
	{"small answers", func(h *history) {
		server, d := h.server(), h.r.IntN(4)
		h.change(server, 0, h.end.Unix(), func(f *fact) {
			if f.block && (d == 3 || f.deployment == fmt.Sprintf("d%d", d)) {
				f.answer = 1500 + f.id2(3000)
			}
		})
	}},
	{"sizes of answers unknown", func(h *history) {
		server, share := h.server(), h.r.IntN(100)
		h.change(server, 0, h.end.Unix(), func(f *fact) {
			if h.r.IntN(100) < share {
				f.answer = 0
			}
		})
	}},
	{"open complaint", func(h *history) {
		at := h.end.Add(-time.Duration(h.r.IntN(48)-4) * time.Hour)
		h.registers.Complaints = append(h.registers.Complaints, Complaint{ID: "c1", Server: h.server(), Kind: "parsing", Action: ComplaintOpen, At: at, RecordedAt: at})
	}},
	{"resolved complaint", func(h *history) {
		c := Complaint{ID: "c2", Server: h.server(), Kind: "parsing", Action: ComplaintOpen, At: h.end.Add(-90 * time.Hour), RecordedAt: h.end.Add(-90 * time.Hour)}
		r := c
		r.Action, r.Ref, r.FixedIn = ComplaintResolve, "issue 4", []string{"1.3.9", "1.4.0", "1.4.1", "2.0.0"}[h.r.IntN(4)]
		r.At, r.RecordedAt = h.end.Add(-80*time.Hour), h.end.Add(-80*time.Hour)
		if h.r.IntN(4) == 0 {
			r.Ref = ""
		}
		h.registers.Complaints = append(h.registers.Complaints, r, c)
		if h.r.IntN(4) == 0 {
			c.Action, c.At, c.RecordedAt = ComplaintReopen, h.end.Add(-2*time.Hour), h.end.Add(-time.Duration(h.r.IntN(4)-2)*time.Hour)
			h.registers.Complaints = append(h.registers.Complaints, c)
		}
	}},
	{"complaint about nobody", func(h *history) {
		at := h.end.Add(-time.Hour)
		h.registers.Complaints = append(h.registers.Complaints, Complaint{ID: "c3", Server: []string{"spp", "openbridge"}[h.r.IntN(2)], Action: ComplaintOpen, At: at, RecordedAt: at})
	}},
	{"old review", func(h *history) {
		for i := range h.registers.Reviews {
			h.registers.Reviews[i].At = h.end.Add(-time.Duration(h.r.IntN(14*24)) * time.Hour)
		}
	}},
	{"conformance", func(h *history) {
		c := &h.conformance[h.r.IntN(len(h.conformance))]
		switch h.r.IntN(5) {
		case 0:
			c.Items["3"] = ItemFail
		case 1:
			c.Items["6"] = ItemNotTested
		case 2:
			c.At = h.end.Add(-time.Duration(300+h.r.IntN(80)) * time.Hour)
		case 3:
			c.Suite = "s2"
		default:
			c.Version = "1.3.9"
		}
	}},
	{"declared default", func(h *history) {
		if h.r.IntN(2) == 0 {
			h.defaults = h.defaults[:1]
			return
		}
		h.defaults = append(h.defaults, DefaultRow{h.server(), "1.4.0", true, h.end.Add(-300*time.Hour + time.Duration(h.r.IntN(120))*time.Hour), h.end.Add(-100 * time.Hour)})
	}},
	{"unlisted server", func(h *history) {
		f := h.facts[0]
		f.id, f.server = 2_000_000, []string{"stranger", "openbridge"}[h.r.IntN(2)]
		h.facts = append(h.facts, f)
	}},
	{"one deployment fewer", func(h *history) {
		server := h.server()
		h.keep(func(f *fact) bool { return f.server != server || f.deployment != "d2" })
	}},
	{"a deployment named by its host", func(h *history) {
		server := h.server()
		h.change(server, 0, h.end.Unix(), func(f *fact) {
			if f.deployment == "d2" {
				f.source = "host.name"
			}
		})
	}},
	{"a deployment gone", func(h *history) {
		server, from := h.server(), h.end.Unix()-h.r.Int64N(96*3600)
		h.keep(func(f *fact) bool { return f.server != server || f.deployment != "d0" || f.at < from })
	}},
	{"override", func(h *history) {
		at := h.end.Add(-time.Duration(h.r.IntN(20)-2) * time.Hour)
		h.registers.Overrides = append(h.registers.Overrides, Override{h.server(), "d1", false, "load test", "r", at, at})
	}},
	{"two strict modes", func(h *history) {
		server := h.server()
		from, to := h.interval(30, 400)
		h.change(server, from, to, func(f *fact) {
			if f.block {
				f.kinds = []string{kindUnknownPassed, kindUnknownReject}
			}
		})
	}},
	{"strict off", func(h *history) {
		server, share := h.server(), 1+h.r.IntN(3)
		h.change(server, 0, h.end.Unix(), func(f *fact) {
			f.strict = "off"
			if f.block && f.id%(share*4) == 0 {
				f.kinds = []string{kindUnknownPassed}
			}
		})
	}},
	{"a kind that is rare", func(h *history) {
		server, kind, left := h.server(), goodKinds[h.r.IntN(3)], 28+h.r.IntN(4)
		h.change(server, 0, h.end.Unix(), func(f *fact) {
			if slices.Contains(f.kinds, kind) {
				if left--; left < 0 {
					f.kinds = []string{kindUnknownReject}
				}
			}
		})
	}},
	{"a tool that is rare", func(h *history) {
		server, left := h.server(), 18+h.r.IntN(4)
		option := []string{"on", "off"}[h.r.IntN(2)]
		for i := range h.facts {
			if f := &h.facts[i]; f.server == server && !f.block && left > 0 {
				f.tool, left = "rare", left-1
				if left < 3 {
					f.option = option
				}
			}
		}
	}},
	{"legacy kind", func(h *history) {
		server := h.server()
		from := h.end.Unix() - 6*86400
		version := []string{"1.4.1", "1.5.0", "1.5.0-rc.1"}[h.r.IntN(3)]
		h.change(server, from, h.end.Unix(), func(f *fact) { f.version = version })
		h.conformance = append(h.conformance, h.run(server, version, time.Hour))
		h.blockFact(server).legacy = "NOT_FOUND"
		h.blockFact(server).legacy = "NOT_FOUND"
	}},
	{"unreadable texts", func(h *history) {
		server, share := h.server(), h.r.IntN(60)
		h.change(server, 0, h.end.Unix(), func(f *fact) {
			if f.envelope && h.r.IntN(100) < share {
				f.envelope, f.unreadable = false, true
			}
		})
	}},
	{"collector", func(h *history) {
		c := Collector{Journal: "j2", Name: "c2", At: h.end.Add(-5 * time.Second), Accepted: 5, Inserted: 5}
		switch h.r.IntN(6) {
		case 0:
			c.At = h.end.Add(-time.Duration(h.r.IntN(20*60)) * time.Second)
		case 1:
			c.Backlog, c.Accepted, c.BacklogAgeMS = 3, 8, 59_999+2*h.r.Int64N(2)
		case 2:
			c.ParkedBatches, c.Parked, c.Accepted = 1, 2, 7
		case 3:
			c.At, c.Retired = h.end.Add(-50*time.Hour), true
		case 4:
			c.Accepted++
		default:
			h.books.Sealed--
		}
		h.collectors = append(h.collectors, c)
	}},
	{"seals are behind", func(h *history) { h.books.SealedThrough -= Minute(h.r.IntN(20)) }},
	{"rejected records", func(h *history) { h.rejected = append(h.rejected, RejectedRow{"type", h.r.Int64N(2)}) }},
	{"replayed", func(h *history) {
		server := h.server()
		from, to := h.interval(600, 10*1440)
		got := to + 3600
		h.change(server, from, to, func(f *fact) { f.replay, f.got = "r1", got })
		h.cut(from, to)
		if h.r.IntN(3) > 0 {
			covered := time.Unix(to, 0).Add(time.Duration(h.r.IntN(2)-1) * 12 * time.Hour)
			h.replays = append(h.replays, Replay{"r1", time.Unix(from, 0), covered, "r", h.end.Add(-time.Hour), h.end.Add(-time.Hour)})
		}
	}},
}

// id2 is a number below n that belongs to the fact.
func (f *fact) id2(n int64) int64 { return int64(f.id) * 7919 % n }

// skew shifts what one instance says of the time; positive is a clock behind.
func (h *history) skew(seconds int64) {
	instance := fmt.Sprintf("%s-%d-1", h.server(), h.r.IntN(3))
	days := h.end.Unix() - h.r.Int64N(simDays*86400)
	for i := range h.facts {
		if f := &h.facts[i]; f.instance == instance && f.at > days {
			f.at -= seconds
		}
	}
}

// random is a history with some perturbations, and their names.
func random(seed uint64) (*history, []string) {
	h := newHistory(seed)
	var names []string
	for range h.r.IntN(4) {
		p := perturbations[h.r.IntN(len(perturbations))]
		p.apply(h)
		names = append(names, p.name)
	}
	return h, names
}
