package soak

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/soak/policy"
)

// What users of comparable gates reported, each tried on this one. The numbers
// are those of the project's list of reports; U50, U52 and U56 are held by the
// tests of the policy, the evidence and the command.

// U47: with no traffic a gate neither promotes nor condemns.
func TestU47NoTraffic(t *testing.T) {
	for name, change := range map[string]func(f *Figures){
		"zero rows": func(f *Figures) {
			*f = Figures{Version: FiguresVersion, Bounds: Bounds{AsOf: tableAsOf}}
			readAll(f)
		},
		"rows only for another tool": func(f *Figures) { f.Tools.Value[0].Tool = "other" },
		"rows only before the window": func(f *Figures) {
			f.Versions.Value[0].Live = 0
			f.setRuns(Run{tableT - 40*minutesADay, tableT - 20*minutesADay})
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, f := builtIn(t), cleanFigures()
			p.Servers[0].Tools = []string{"list"}
			change(&f)
			reread(p, &f)
			v := Judge(p, f, tableAsOf)
			assert.Equal(t, DecisionHold, v.Decision)
			assert.Equal(t, ExitHold, v.Decision.ExitCode())
			for _, ref := range v.Deciding {
				g := gateOf(t, v, ref.Server, ref.Gate)
				assert.NotEmpty(t, g.Needs, "%s says what is missing", ref.Gate)
			}
			assert.NotEmpty(t, v.Deciding)
		})
	}
}

// U48: one failure among three is noise; the interval decides, and a HOLD says
// how many further calls it takes.
func TestU48IntervalsNotRatios(t *testing.T) {
	for _, tt := range []struct {
		name  string
		x, n  int64
		want  State
		needs string
	}{
		{"1 of 3", 1, 3, StateHold, "693 more"},
		{"1 of 300", 1, 300, StateHold, "396 more"},
		{"3 of 3,000", 3, 3000, StatePass, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, f := builtIn(t), cleanFigures()
			sizes(&f, Bin{100, tt.n - tt.x}, Bin{3000, tt.x})
			g := gateOf(t, Judge(p, f, tableAsOf), testServer, policy.GateBytes)
			assert.Equal(t, tt.want, g.State, g.Why)
			assert.Contains(t, g.Needs, tt.needs)
			require.NotNil(t, g.Measure)
			assert.Equal(t, [2]int64{tt.x, tt.n}, [2]int64{g.Measure.Numerator, g.Measure.Denominator})
			assert.Less(t, *g.Measure.Low, float64(tt.x)/float64(tt.n))
			assert.Greater(t, *g.Measure.High, float64(tt.x)/float64(tt.n))
		})
	}
}

// U49: nothing of nothing is not zero percent.
func TestU49NoPassByDivision(t *testing.T) {
	p, f := builtIn(t), cleanFigures()
	p.Servers[0].Tools = []string{"never_called"}
	f.Blocks.Value = f.Blocks.Value[3:]
	f.Arrivals.Value[0] = ArrivalRow{Server: testServer}
	f.Lateness.Value = f.Lateness.Value[1:]
	f.Readable.Value = f.Readable.Value[1:]
	v := Judge(p, f, tableAsOf)
	for _, gate := range []policy.Gate{policy.GateMalformed, policy.GateSpread, policy.GateBytes, policy.GateShare, policy.GateUnreadable, policy.GateLateness, policy.GateClocks, policy.GateCoverageTools} {
		assert.Equal(t, StateHold, stateOf(t, v, testServer, gate), gate)
	}
	assert.Contains(t, gateOf(t, v, testServer, policy.GateCoverageTools).Needs, "never_called")
	assert.False(t, atMost(0, 0, policy.One))
	assert.False(t, atMost(1, -1, policy.One))
}

// U51: each rule shows its figure, and the one that decided is named.
func TestU51EveryGateShowsItsFigure(t *testing.T) {
	p, f := builtIn(t), cleanFigures()
	f.Arrivals.Value[0].Late = 75
	v := Judge(p, f, tableAsOf)
	assert.Equal(t, []GateRef{{testServer, policy.GateLateness}}, v.Deciding)
	for _, g := range v.Gates {
		require.NotNil(t, g.Measure, "%s %s", g.Server, g.Gate)
		assert.NotEmpty(t, g.Measure.Threshold, g.Gate)
		assert.NotEmpty(t, g.Measure.Window, g.Gate)
		assert.NotEmpty(t, g.Observed, g.Gate)
		assert.NotEmpty(t, g.Required, g.Gate)
	}
	g := gateOf(t, v, testServer, policy.GateLateness)
	assert.Equal(t, [2]int64{75, 1000}, [2]int64{g.Measure.Numerator, g.Measure.Denominator})
	assert.Equal(t, "1 %", g.Measure.Threshold)
}

// U53: servers flip together or not at all, and the one that holds is named.
func TestU53OneServerHoldsAll(t *testing.T) {
	p, f := builtIn(t), cleanFigures()
	f.Versions.Value[1].FirstOn = tableT - 60
	v := Judge(p, f, tableAsOf)
	assert.Equal(t, DecisionHold, v.Decision)
	assert.Equal(t, []GateRef{{"amazon_ads_mcp", policy.GateVersion}}, v.Deciding)
}

// U54: enough samples in five minutes are no soak.
func TestU54TimeMustPass(t *testing.T) {
	p, f := builtIn(t), cleanFigures()
	p.Gates.Duration.Min = 7 * policy.Day
	f.setRuns(Run{tableT - 5, tableT})
	f.Versions.Value[0].FirstOn = tableT - 5
	for i := range 3 {
		f.blockOf(i).Blocks, f.blockOf(i).Known, f.blockOf(i).Sizes = 10_000, 0, []Bin{{100, 10_000}}
	}
	reread(p, &f)
	v := Judge(p, f, tableAsOf)
	assert.Equal(t, DecisionHold, v.Decision)
	g := gateOf(t, v, testServer, policy.GateDuration)
	assert.Equal(t, tableEnd.Add(7*24*time.Hour-5*time.Minute), *g.ETA, "the date from which it can decide")
	assert.Equal(t, StatePass, stateOf(t, v, testServer, policy.GateMalformed))
}

// U55: what was found before the anchor is listed, and does not slip in.
func TestU55AnchorIsFixedAndEarlierFindingsAreListed(t *testing.T) {
	p, f := builtIn(t), cleanFigures()
	for i := range p.Servers {
		p.Servers[i].Anchor = tableEnd.AddDate(0, 0, -14)
	}
	add(&f.Findings, FindingRow{testServer, "1.4.0", FindingMalformed, "", true, 3, tableT - 30000, tableT - 29000})
	v := Judge(p, f, tableAsOf)
	assert.Equal(t, DecisionFlip, v.Decision)
	assert.Contains(t, strings.Join(gateOf(t, v, testServer, policy.GateMalformed).Notes, "\n"), "before the anchor: 3 malformed")
	for _, s := range v.Servers {
		assert.Equal(t, "2026-03-07T15:00:00Z (fixed by the policy)", s.Anchor)
	}
}

func TestSupersededFindingsAreListedWithWhatEndedThem(t *testing.T) {
	f := cleanFigures()
	supersede(&f, "1.3.0")
	outside(&f, FindingErrorKind, "1.3.0", false)
	v := Judge(builtIn(t), f, tableAsOf)
	for _, gate := range []policy.Gate{policy.GateMalformed, policy.GateOffTaxonomy} {
		assert.Contains(t, strings.Join(gateOf(t, v, testServer, gate).Notes, "\n"), "ended by version 1.4.0", gate)
	}
}

// D17: a bound chosen lately says less, so the verdict names it.
func TestYoungThresholds(t *testing.T) {
	p := builtIn(t)
	p.Changes = []policy.Change{{Key: "gates.malformed.max_rate", At: tableEnd.AddDate(0, 0, -7).Add(time.Second)}, {Key: "alpha", At: tableEnd.AddDate(0, 0, -7)}}
	v := Judge(p, cleanFigures(), tableAsOf)
	require.Len(t, v.Policy.Young, 1)
	assert.Contains(t, v.Policy.Young[0], "gates.malformed.max_rate")
	p.InForceSince = tableEnd.AddDate(0, 0, -1)
	assert.Len(t, Judge(p, cleanFigures(), tableAsOf).Policy.Young, 2)
	assert.Len(t, v.Policy.Hash, 64)
}

func TestReplayedDataIsSaidEverywhere(t *testing.T) {
	p, f := builtIn(t), cleanFigures()
	p.AllowReplay = true
	replay(&f, tableEnd.AddDate(0, 0, -14), tableEnd)
	v := Judge(p, f, tableAsOf)
	assert.Equal(t, DecisionFlip, v.Decision)
	assert.True(t, v.ReplayedData)
	assert.Contains(t, v.Notes, "rests on replayed data")
}
