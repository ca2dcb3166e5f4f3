package soak

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/soak/policy"
)

func replaced(s, old, new string) string { return strings.ReplaceAll(s, old, new) }

// D18: when a HOLD can end, and what it waits for.
func TestETA(t *testing.T) {
	in := func(d time.Duration) *time.Time { at := tableEnd.Add(d); return &at }
	week := 7 * 24 * time.Hour
	for _, tt := range []struct {
		name   string
		gate   policy.Gate
		change func(f *Figures)
		want   *time.Time
		needs  string
	}{
		{"duration: T + missing", policy.GateDuration, func(f *Figures) {
			for i := range 3 {
				f.activityOf(i).On[0].From += 90
			}
		}, in(90 * time.Minute), "1h30m more"},
		{"duration: a clock that stands", policy.GateDuration, func(f *Figures) { f.setRuns(Run{tableT - soakMinutes, tableT - 361}) }, nil, "start the clock again"},
		{"blocks: missing at the rate of the last week", policy.GateMalformed, func(f *Figures) {
			f.blockOf(0).Blocks -= 100
			f.blockOf(0).Known -= 100
			f.blockOf(0).Recent, f.blockOf(1).Recent, f.blockOf(2).Recent = 100, 50, 50
		}, in(week / 2), "100 more well-formed blocks"},
		{"blocks: none came", policy.GateMalformed, func(f *Figures) {
			f.blockOf(0).Blocks -= 100
			f.blockOf(0).Known -= 100
			f.blockOf(0).Recent, f.blockOf(1).Recent, f.blockOf(2).Recent = 0, 0, 0
		}, nil, "none came"},
		{"spread: the rate of the others", policy.GateSpread, func(f *Figures) {
			f.blockOf(1).Blocks -= 10
			f.blockOf(1).Known -= 10
			f.blockOf(1).Recent, f.blockOf(2).Recent = 5, 5
		}, in(week), "10 more well-formed blocks from the other deployments"},
		{"version: first seen + 3 d", policy.GateVersion, func(f *Figures) { f.Versions.Value[0].FirstOn = tableT - minutesADay }, in(48 * time.Hour), "version 1.4.0 to be 3d old"},
		{"a tool never called has no date", policy.GateCoverageTools, func(f *Figures) { f.Tools.Value[0].On, f.Tools.Value[0].Recent = 0, 0 }, nil, "20 more calls of tool list"},
		{"a rare tool has one", policy.GateCoverageTools, func(f *Figures) { f.Tools.Value[0].On, f.Tools.Value[0].Recent = 10, 10 }, in(week), "10 more calls of tool list"},
		{"a kind never seen has no date", policy.GateCoverageKinds, func(f *Figures) { f.Kinds.Value = slices.Delete(f.Kinds.Value, 0, 2) }, nil, "kind renamed from 2 more deployments"},
		{"deployments: calls of the third at its rate", policy.GateDeployments, func(f *Figures) { f.activityOf(2).On[0].Calls, f.activityOf(2).Recent = 200, 100 }, in(week), "1 more deployment with enough"},
		{
			"deployments: days of the third", policy.GateDeployments, func(f *Figures) { f.activityOf(2).On[0].From = tableT - 60 },
			func() *time.Time { at := time.Date(2026, 3, 27, 0, 0, 0, 0, time.UTC); return &at }(), "enough calls and days",
		},
		{"deployments: no third", policy.GateDeployments, func(f *Figures) { f.activityOf(2).On = nil }, nil, "1 more production deployment with"},
		{"down minutes leave the window", policy.GateCollection, func(f *Figures) {
			f.Heartbeats.Value.Up = []Run{{tableT - 30*minutesADay, tableT - 5000}, {tableT - 4700, tableT}}
		}, in(time.Duration(soakMinutes-5000+300-201) * time.Minute), "leave the window"},
		{"a review has no date", policy.GateComplaints, func(f *Figures) { f.Registers.Value.Reviews = nil }, nil, "a review"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, f := builtIn(t), cleanFigures()
			tt.change(&f)
			reread(p, &f)
			g := gateOf(t, Judge(p, f, tableAsOf), testServer, tt.gate)
			require.Equal(t, StateHold, g.State, g.Why)
			assert.Equal(t, tt.want, g.ETA)
			assert.Contains(t, g.Needs, tt.needs)
		})
	}
}

func TestETAOfTheVerdict(t *testing.T) {
	p, f := builtIn(t), cleanFigures()
	f.Versions.Value[0].FirstOn = tableT - minutesADay
	f.Arrivals.Value[0].Late = 500
	v := Judge(p, f, tableAsOf)
	require.Equal(t, DecisionHold, v.Decision)
	require.NotNil(t, v.ETA)
	assert.Equal(t, tableEnd.AddDate(0, 0, 7), *v.ETA, "the latest of two days and seven")
	assert.Empty(t, v.NoDate)
	f.Registers.Value.Reviews = f.Registers.Value.Reviews[:1]
	v = Judge(p, f, tableAsOf)
	assert.Nil(t, v.ETA, "one gate that waits for an act leaves the verdict without a date")
	require.Len(t, v.NoDate, 1)
	assert.Contains(t, v.NoDate[0], "amazon_ads_mcp complaints needs a review")
}

// An ETA keeps its word: with the missing evidence at that instant the gate passes.
func TestETAIsWhenTheGatePasses(t *testing.T) {
	p, f := builtIn(t), cleanFigures()
	for i := range 3 {
		f.activityOf(i).On[0].From += 90
	}
	reread(p, &f)
	eta := gateOf(t, Judge(p, f, tableAsOf), testServer, policy.GateDuration).ETA
	require.NotNil(t, eta)
	for _, tt := range []struct {
		at   time.Time
		want State
	}{{eta.Add(-time.Minute), StateHold}, {*eta, StatePass}} {
		later := f
		later.Bounds.AsOf = AsOf{At: tt.at}
		later.Heartbeats.Value.Up = []Run{{tableT - soakMinutes, MinuteOf(tt.at)}}
		reread(p, &later)
		assert.Equal(t, tt.want, stateOf(t, Judge(p, later, later.Bounds.AsOf), testServer, policy.GateDuration))
	}
}

// D19: a FLIP ends when the first of its passes lapses, at most with its day.
func TestValidUntil(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(p *policy.Policy, f *Figures)
		want   time.Time
	}{
		{"silence", func(*policy.Policy, *Figures) {}, tableEnd.Add(6 * time.Hour)},
		{"the day's end in its zone", func(p *policy.Policy, _ *Figures) { p.Lockstep.Zone = "Asia/Tokyo" }, time.Date(2026, 3, 21, 21, 0, 0, 0, time.UTC)},
		{"the day's end before silence", func(p *policy.Policy, _ *Figures) { p.Lockstep.Zone = "Asia/Kolkata" }, time.Date(2026, 3, 21, 18, 30, 0, 0, time.UTC)},
		{"a review", func(_ *policy.Policy, f *Figures) {
			f.Registers.Value.Reviews[0].At = tableEnd.AddDate(0, 0, -7).Add(time.Hour)
		}, tableEnd.Add(time.Hour)},
		{"a conformance run", func(_ *policy.Policy, f *Figures) {
			f.Conformance.Value[1].At = tableEnd.AddDate(0, 0, -14).Add(2 * time.Hour)
		}, tableEnd.Add(2 * time.Hour)},
		{"a deployment not seen", func(_ *policy.Policy, f *Figures) { f.activityOf(1).On[0].To = tableT - 47*60 }, tableEnd.Add(time.Hour)},
		{"a fourth deployment lets one go", func(_ *policy.Policy, f *Figures) {
			f.activityOf(1).On[0].To = tableT - 47*60
			fourth := f.Activity.Value[0]
			fourth.Deployment = "d9"
			add(&f.Activity, fourth)
		}, tableEnd.Add(6 * time.Hour)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, f := builtIn(t), cleanFigures()
			tt.change(&p, &f)
			reread(p, &f)
			v := Judge(p, f, tableAsOf)
			require.Equal(t, DecisionFlip, v.Decision, "%v", v.Deciding)
			assert.Equal(t, tt.want, *v.ValidUntil)
		})
	}
	f := cleanFigures()
	f.Books.Value.Distinct++
	v := Judge(builtIn(t), f, tableAsOf)
	assert.Nil(t, v.ValidUntil)
	assert.Empty(t, v.ProposedDay, "only a FLIP proposes a day")
}

func TestSince(t *testing.T) {
	verdict := func(hour int, d Decision, s State) Verdict {
		return Verdict{AsOf: AsOf{At: tableEnd.Add(-time.Duration(hour) * time.Hour)}, Decision: d, Gates: []Gate{{Server: "s", Gate: "g", State: s}}}
	}
	asked := 0
	earlier := func(vs ...Verdict) func(func(Verdict) bool) {
		return func(yield func(Verdict) bool) {
			for _, v := range vs {
				asked++
				if !yield(v) {
					return
				}
			}
		}
	}
	v := verdict(0, DecisionHold, StatePass)
	MarkSince(&v, earlier(verdict(1, DecisionHold, StatePass), verdict(2, DecisionHold, StateHold), verdict(3, DecisionBlock, StatePass), verdict(4, DecisionHold, StatePass)))
	assert.Equal(t, Since{tableEnd.Add(-2 * time.Hour), false}, *v.Since)
	assert.Equal(t, Since{tableEnd.Add(-time.Hour), false}, *v.Gates[0].Since, "what it was before a change does not count")
	assert.Equal(t, 3, asked, "it stops once everything has changed")

	v = verdict(0, DecisionHold, StatePass)
	MarkSince(&v, earlier(verdict(1, DecisionHold, StatePass)))
	assert.Equal(t, Since{tableEnd.Add(-time.Hour), true}, *v.Since, "and may be older")

	marks := HourMarks(AsOf{At: tableEnd.Add(20 * time.Minute), AllEvents: true}, 2)
	assert.Equal(t, []AsOf{{tableEnd, true}, {tableEnd.Add(-time.Hour), true}}, marks)
	assert.Equal(t, []AsOf{{tableEnd.Add(-time.Hour), false}}, HourMarks(tableAsOf, 1), "an instant is not its own past")
}
