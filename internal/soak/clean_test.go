package soak

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/config"
	"github.com/soakgate/soakgate/internal/soak/policy"
)

// tableEnd is the as-of instant of the table tests: a whole minute, so that
// boundaries are plain to read.
var (
	tableEnd  = time.Date(2026, 3, 21, 15, 0, 0, 0, time.UTC)
	tableAsOf = AsOf{At: tableEnd}
	tableT    = MinuteOf(tableEnd)
)

const (
	minutesOfHour = 60
	soakMinutes   = 14 * minutesADay
)

// testServer is the server that table tests spoil.
const testServer = "amazon_sp_mcp"

func builtIn(t testing.TB) policy.Policy {
	t.Helper()
	p, err := policy.Parse(config.SoakPolicy)
	require.NoError(t, err)
	p.InForceSince = tableEnd.AddDate(0, -2, 0)
	return p
}

// cleanFigures are the least figures that flip under the built-in policy: each
// count stands at its bound, so that one fewer holds.
func cleanFigures() Figures {
	t := tableT
	f := Figures{Version: FiguresVersion, Bounds: Bounds{AsOf: tableAsOf}, Kept: Got(Kept{Oldest: t - soakMinutes})}
	up := []Run{{t - soakMinutes, t}}
	f.Heartbeats = Got(Heartbeats{Up: up, Collectors: []Collector{{Journal: "j", Name: "c", At: tableEnd.Add(-time.Second), Accepted: 9, Inserted: 9}}})
	f.Books = Got(Books{SealedThrough: t, Distinct: 9, Sealed: 9})
	for _, server := range []string{testServer, "amazon_ads_mcp"} {
		f.Bounds.RunStarts = append(f.Bounds.RunStarts, RunStart{server, t - soakMinutes})
		add(&f.Servers, ServerRow{server, "production", 900, t - soakMinutes, t - 1})
		add(&f.Versions, VersionRow{server, "1.4.0", t - soakMinutes, t - soakMinutes, t - 1, 10})
		for d := range 3 {
			name := fmt.Sprintf("d%d", d)
			add(&f.Activity, Activity{Server: server, Deployment: name, Source: "mcp.deployment.id",
				On: []CallRun{{Run{t - soakMinutes, t}, 300}}, StrictOn: 5, Recent: 100})
			blocks := []int64{3320, 184, 184}[d] // 3,688 in all, and 368 without the largest
			add(&f.Blocks, BlockRow{Server: server, Version: "1.4.0", Deployment: name, Source: "mcp.deployment.id", Trusted: true,
				Blocks: blocks, Recent: blocks / 2, WeightMicro: blocks * int64(policy.One), Sizes: []Bin{{100, blocks}},
				Known: blocks, KnownBytes: 100 * blocks, AnswerBytes: 2000 * blocks})
		}
		for _, kind := range []string{kindRenamed, kindDroppedAlias, kindCoerced} {
			add(&f.Kinds, KindRow{server, kind, "list", "d0", "mcp.deployment.id", 15, 7}, KindRow{server, kind, "list", "d1", "mcp.deployment.id", 15, 7})
		}
		add(&f.Kinds, KindRow{server, kindUnknownReject, "list", "d0", "mcp.deployment.id", 30, 10})
		add(&f.Tools, ToolRow{server, "list", 900, 20, 10})
		add(&f.Readable, ReadableRow{Server: server, Version: "1.4.0", Readable: 4000, Recent: 2000})
		add(&f.Arrivals, ArrivalRow{server, 1000, 10, 0})
		add(&f.Lateness, LatenessRow{server, "d0", "i0", dayOf(t), 1000, 100, 500})
		add(&f.Defaults, DefaultRow{server, "1.4.0", false, tableEnd.AddDate(0, 0, -5), tableEnd.AddDate(0, 0, -5)})
		add(&f.Conformance, ConformanceRow{server, "1.4.0", "1", map[string]string{"1": "pass", "2": "pass", "3": "pass", "4": "pass", "5": "not_tested", "6": "pass"},
			tableEnd.AddDate(0, 0, -2), tableEnd.AddDate(0, 0, -2)})
		f.Registers.Value.Reviews = append(f.Registers.Value.Reviews, Review{Server: server, By: "ann", At: tableEnd.AddDate(0, 0, -1), RecordedAt: tableEnd.AddDate(0, 0, -1)})
	}
	f.Registers.OK = true
	f.Refills, f.Findings, f.Legacy, f.StrictHours = Got([]Refill{}), Got([]FindingRow{}), Got([]LegacyRow{}), Got([]StrictHours{})
	f.Replays, f.Replayed, f.Rejected = Got([]Replay{}), Got([]ReplayedRow{}), Got([]RejectedRow{})
	return f
}

func add[T any](r *Read[[]T], rows ...T) { r.OK, r.Value = true, append(r.Value, rows...) }

// reread does what a reader does in its second and third step, after a test
// changed what they depend on.
func reread(p policy.Policy, f *Figures) {
	f.Bounds.Untrusted = Untrusted(p, f.Lateness.Value)
	f.Bounds.RunStarts = RunStarts(p, *f, f.Bounds.AsOf)
}

// activity and block find the row of one deployment of the server under test.
func (f *Figures) activityOf(d int) *Activity { return &f.Activity.Value[d] }
func (f *Figures) blockOf(d int) *BlockRow    { return &f.Blocks.Value[d] }

func TestCleanFiguresFlip(t *testing.T) {
	v := Judge(builtIn(t), cleanFigures(), tableAsOf)
	for _, g := range v.Gates {
		assert.Equal(t, StatePass, g.State, "%s %s: %s", g.Server, g.Gate, g.Why)
		assert.NotEmpty(t, g.Why)
		assert.NotNil(t, g.Measure, "%s %s", g.Server, g.Gate)
	}
	assert.Equal(t, DecisionFlip, v.Decision)
	assert.Empty(t, v.Deciding)
	assert.Equal(t, "2026-03-21", v.ProposedDay)
	require.NotNil(t, v.ValidUntil)
	assert.Equal(t, tableEnd.Add(6*time.Hour), *v.ValidUntil, "silence of six hours ends it first")
}
