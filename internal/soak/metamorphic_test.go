package soak

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/soak/policy"
)

// towardsFlip orders decisions by how near they are to a FLIP.
var towardsFlip = map[Decision]int{DecisionBlock: 0, DecisionCouldNotTell: 1, DecisionHold: 2, DecisionFlip: 3}

// D20 (c): what must never turn a verdict towards FLIP.
func TestMetamorphic(t *testing.T) {
	p := simPolicy()
	for _, tt := range []struct {
		name string
		// change spoils a history, or does what must not matter.
		change func(h *history)
		// same is true when the verdict must not change at all.
		same bool
	}{
		{"removing clean calls", removeClean, false},
		{"adding a malformed block", func(h *history) { h.copyOf(func(f *fact) { f.block, f.malformed = true, true }) }, false},
		{"adding a value off the taxonomy", func(h *history) { h.copyOf(func(f *fact) { f.errorKind = "odd" }) }, false},
		{"adding a huge block", func(h *history) { h.copyOf(func(f *fact) { f.block, f.size, f.answer = true, 20_000, 1_000_000 }) }, false},
		{"adding an unreadable text", func(h *history) { h.copyOf(func(f *fact) { f.block, f.kinds, f.unreadable = false, nil, true }) }, false},
		{"adding a complaint", func(h *history) {
			h.registers.Complaints = append(h.registers.Complaints, Complaint{ID: "m", Server: h.server(), Action: ComplaintOpen, At: h.end.Add(-time.Hour), RecordedAt: h.end.Add(-time.Hour)})
		}, false},
		{"adding a failed conformance run", func(h *history) {
			r := h.run(h.server(), "1.4.0", time.Minute)
			r.Items["1"] = ItemFail
			h.conformance = append(h.conformance, r)
		}, false},
		{"adding a rejected record", func(h *history) { h.rejected = append(h.rejected, RejectedRow{"m", 1}) }, false},
		{"delivering again", func(h *history) {
			for i := range len(h.facts) / 3 {
				f := h.facts[i*3]
				f.got += h.r.Int64N(200_000)
				h.facts = append(h.facts, f)
			}
		}, true},
		{"renaming instances", func(h *history) {
			for i := range h.facts {
				h.facts[i].instance = "renamed-" + h.facts[i].instance
			}
		}, true},
		{"permuting arrival", func(h *history) {
			h.r.Shuffle(len(h.facts), func(i, j int) { h.facts[i], h.facts[j] = h.facts[j], h.facts[i] })
		}, true},
		{"shifting all times by whole days", func(h *history) { h.shift(37 * 24 * time.Hour) }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			parallel(scale(t, "SOAKGATE_SIM_PAIRS", 40), func(seed uint64) {
				before, names := random(seed)
				after, _ := random(seed)
				tt.change(after)
				a, b := before.judge(p, before.asOf()), after.judge(p, after.asOf())
				if tt.same && a.Decision != b.Decision || towardsFlip[b.Decision] > towardsFlip[a.Decision] {
					t.Errorf("seed %d %v: %s became %s: %v", seed, names, a.Decision, b.Decision, b.Deciding)
				}
				if tt.same {
					for i, g := range a.Gates {
						if b.Gates[i].State != g.State {
							t.Errorf("seed %d %v: %s %s was %s, became %s", seed, names, g.Server, g.Gate, g.State, b.Gates[i].State)
						}
					}
				}
			})
		})
	}
}

// removeClean drops a tenth of the clean calls, but leaves the last day of each
// version and mode, and every tool's calls, so that what is asked for stays.
// Calls of clocks that are wrong stay too: the fewer records a clock has, the less
// one knows of it.
func removeClean(h *history) {
	day := h.end.Unix() - 86400
	h.keep(func(f *fact) bool {
		clean := f.production() && f.option == "on" && !f.malformed && f.errorKind == "" && f.legacy == "" && !f.unreadable && f.size <= 2048 &&
			f.replay == "" && f.got-f.at < 86400 && f.got >= f.at && (!f.block || f.answer == 20_000) && f.tool != "rare" && (f.server == "sp" || f.server == "ads")
		return !clean || f.at > day || f.id%10 != 0
	})
}

// copyOf adds a call of the candidate in the last hour, changed.
func (h *history) copyOf(change func(*fact)) {
	for _, v := range slices.Backward(h.facts) {
		if f := v; f.production() && f.option == "on" && (f.server == "sp" || f.server == "ads") && f.at > h.end.Unix()-86400 && f.got < h.end.Unix() {
			f.id = 3_000_000
			change(&f)
			h.facts = append(h.facts, f)
			return
		}
	}
}

// shift moves the whole world, and the instant it is judged at.
func (h *history) shift(d time.Duration) {
	seconds, minutes := int64(d/time.Second), Minute(d/time.Minute)
	h.end = h.end.Add(d)
	for i := range h.facts {
		h.facts[i].at, h.facts[i].got = h.facts[i].at+seconds, h.facts[i].got+seconds
	}
	for i := range h.up {
		h.up[i].From, h.up[i].To = h.up[i].From+minutes, h.up[i].To+minutes
	}
	h.books.SealedThrough += minutes
	move := func(times ...*time.Time) {
		for _, at := range times {
			*at = at.Add(d)
		}
	}
	for i := range h.collectors {
		move(&h.collectors[i].At)
	}
	for i := range h.conformance {
		move(&h.conformance[i].At, &h.conformance[i].RecordedAt)
	}
	for i := range h.defaults {
		move(&h.defaults[i].At, &h.defaults[i].RecordedAt)
	}
	for i := range h.replays {
		r := &h.replays[i]
		move(&r.At, &r.RecordedAt, &r.From, &r.To)
	}
	for i := range h.registers.Complaints {
		move(&h.registers.Complaints[i].At, &h.registers.Complaints[i].RecordedAt)
	}
	for i := range h.registers.Reviews {
		move(&h.registers.Reviews[i].At, &h.registers.Reviews[i].RecordedAt)
	}
	for i := range h.registers.Overrides {
		move(&h.registers.Overrides[i].At, &h.registers.Overrides[i].RecordedAt)
	}
}

// Daylight saving cannot matter: a New York fortnight over 8 March is an hour short.
func TestAFortnightIsElapsedTime(t *testing.T) {
	zone, err := time.LoadLocation("America/New_York")
	require.NoError(t, err)
	from := time.Date(2026, 3, 1, 12, 0, 0, 0, zone)
	to := time.Date(2026, 3, 15, 12, 0, 0, 0, zone)
	f := cleanFigures()
	at := AsOf{At: to.UTC()}
	f.Bounds.AsOf = at
	for i := range f.Activity.Value {
		f.Activity.Value[i].On = []CallRun{{Run{MinuteOf(from), MinuteOf(to)}, 300}}
	}
	f.Heartbeats.Value.Up = []Run{{MinuteOf(from), MinuteOf(to)}}
	f.Kept = Got(Kept{})
	p := builtIn(t)
	reread(p, &f)
	g := gateOf(t, Judge(p, f, at), testServer, policy.GateDuration)
	require.Equal(t, StateHold, g.State)
	require.Equal(t, fmt.Sprint("13d23h elapsed since ", MinuteOf(from)), g.Observed)
}
