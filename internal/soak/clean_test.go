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
			add(&f.Activity, Activity{
				Server: server, Deployment: name, Source: "mcp.deployment.id",
				On: []CallRun{{Run{t - soakMinutes, t}, 300}}, StrictOn: 5, Recent: 100,
			})
			blocks := []int64{3320, 184, 184}[d] // 3,688 in all, and 368 without the largest
			add(&f.Blocks, BlockRow{
				Server: server, Version: "1.4.0", Deployment: name, Source: "mcp.deployment.id", Trusted: true,
				Blocks: blocks, Recent: blocks / 2, WeightMicro: blocks * int64(policy.One), Sizes: []Bin{{100, blocks}},
				Known: blocks, KnownBytes: 100 * blocks, AnswerBytes: 2000 * blocks,
			})
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
		add(&f.Conformance, ConformanceRow{
			server, "1.4.0", "1",
			map[string]string{"1": "pass", "2": "pass", "3": "pass", "4": "pass", "5": "not_tested", "6": "pass"},
			tableEnd.AddDate(0, 0, -2), tableEnd.AddDate(0, 0, -2),
		})
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

func (f *Figures) setRuns(runs ...Run) {
	for i := range 3 {
		f.Activity.Value[i].On = nil
		for _, r := range runs {
			f.Activity.Value[i].On = append(f.Activity.Value[i].On, CallRun{r, 300})
		}
	}
	f.Heartbeats.Value.Up = []Run{{tableT - 30*minutesADay, tableT}}
}

// supersede gives superseded versions a malformed block each.
func supersede(f *Figures, versions ...string) {
	for _, v := range versions {
		add(&f.Versions, VersionRow{testServer, v, tableT - 15*minutesADay, tableT - 15*minutesADay, tableT - 14*minutesADay, 0})
		add(&f.Blocks, BlockRow{
			Server: testServer, Version: v, Deployment: "d0", Source: "mcp.deployment.id", Trusted: true,
			Blocks: 50, Malformed: 1, First: tableT - 20000, Last: tableT - 20000, Sizes: []Bin{{9, 50}},
		})
	}
}

// tolerate allows up to two malformed blocks of a rate of 1 %, at the bound of D7
// and extra blocks beside it: with two seen, 1/alpha is 40 in the first try.
func tolerate(p *policy.Policy, f *Figures, seen, extra int64) {
	p.Gates.Malformed = policy.Malformed{MaxRate: 10_000, MaxSeen: 2}
	f.blockOf(0).Blocks = 992 + extra - 368
	f.blockOf(0).Malformed = seen
	f.blockOf(0).Known = 0
}

// sizes gives the whole server one histogram of sizes.
func sizes(f *Figures, bins ...Bin) {
	row := f.blockOf(0)
	row.Sizes, row.Blocks, row.Known = bins, 0, 0
	for _, b := range bins {
		row.Blocks += b.Count
	}
	f.Blocks.Value = append(f.Blocks.Value[:1], f.Blocks.Value[3:]...)
}

// known lets the answer's size be known for n blocks of the server in all.
func known(f *Figures, n int64) {
	for i := range 3 {
		row := f.blockOf(i)
		row.Known = min(n, row.Blocks)
		n -= row.Known
		row.KnownBytes, row.AnswerBytes = 5*row.Known, 100*max(row.Known, 1)
	}
}

func outside(f *Figures, what, version string, before bool) {
	add(&f.Findings, FindingRow{testServer, version, what, "odd", before, 1, tableT - 5, tableT - 5})
}

func rerun(f *Figures, at time.Time, item string) {
	run := f.Conformance.Value[0]
	run.At, run.RecordedAt = at, at
	run.Items = map[string]string{"1": item, "2": "pass", "3": "pass", "4": "pass", "5": "pass", "6": "pass"}
	add(&f.Conformance, run)
}

func opened(at time.Time) Complaint {
	return Complaint{ID: "c1", Server: testServer, Kind: "parsing", Action: ComplaintOpen, By: "ann", At: at, RecordedAt: at}
}

func resolved(at time.Time, fixedIn string, notOurs bool) Complaint {
	c := opened(at)
	c.Action, c.Ref, c.FixedIn, c.NotOurs = ComplaintResolve, "issue 4", fixedIn, notOurs
	return c
}

func legacyRows(f *Figures, versions ...string) {
	for _, v := range versions {
		add(&f.Legacy, LegacyRow{testServer, v, "NOT_FOUND", 1, tableT - 9})
	}
}

func wrongClock(f *Figures, records int64) {
	hours3 := int64(3 * 3600 * 1000)
	f.Lateness.Value[0].Records = 1000 - records
	for d := range int64(2) {
		n := records - records/2
		if d == 1 {
			n = records / 2
		}
		// The day before the window makes the clock untrusted and counts no record.
		add(&f.Lateness, LatenessRow{testServer, "d0", "wrong", dayOf(tableT) - d, max(n, 1), hours3, hours3})
	}
	if records == 1 {
		f.Lateness.Value[len(f.Lateness.Value)-1].Day = dayOf(tableT) - 40
	}
}

func replay(f *Figures, from, to time.Time) {
	add(&f.Replayed, ReplayedRow{testServer, "r1", 100, tableT - soakMinutes, tableT - 1})
	add(&f.Replays, Replay{"r1", from, to, "ann", tableEnd.Add(-time.Hour), tableEnd.Add(-time.Hour)})
}
