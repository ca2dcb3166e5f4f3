package soak

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/soakgate/soakgate/internal/soak/policy"
)

// Each gate at its bound, on both sides: the clean figures stand at it, and each
// case moves one thing by one step.
func TestGatesAtTheirBounds(t *testing.T) {
	day := func(n int) time.Time { return tableEnd.AddDate(0, 0, -n) }
	later := func(d time.Duration) time.Time { return tableEnd.Add(d) }
	// shift lets the soak begin n minutes later than a fortnight ago.
	shift := func(f *Figures, n Minute) {
		for i := range f.Activity.Value[:3] {
			f.Activity.Value[i].On[0].From += n
		}
	}
	// twoRuns opens a gap [from, to) in the activity of all deployments, in minutes
	// before T, within a soak that began 20 days ago.
	twoRuns := func(f *Figures, from, to Minute) {
		start := tableT - 20*minutesADay
		for i := range f.Activity.Value[:3] {
			f.Activity.Value[i].On = []CallRun{{Run{start, tableT - from}, 200}, {Run{tableT - to, tableT}, 200}}
		}
		f.Heartbeats.Value.Up = []Run{{start, tableT}}
	}
	off := func(f *Figures, from, to Minute) {
		f.activityOf(0).Off = []Run{{tableT - from, tableT - to}}
	}
	down := func(f *Figures, from, to Minute) {
		f.Heartbeats.Value.Up = []Run{{tableT - 20*minutesADay, tableT - from}, {tableT - to, tableT}}
	}
	complain := func(f *Figures, c ...Complaint) {
		f.Registers.Value.Complaints = append(f.Registers.Value.Complaints, c...)
	}
	for _, tt := range []struct {
		name   string
		gate   policy.Gate
		want   State
		change func(p *policy.Policy, f *Figures)
	}{
		// D2
		{"one production call", policy.GateScope, StatePass, func(_ *policy.Policy, f *Figures) { f.Servers.Value[0].Calls = 1 }},
		{"no production call", policy.GateScope, StateHold, func(_ *policy.Policy, f *Figures) { f.Servers.Value[0].Calls = 0 }},
		{"staging calls only", policy.GateScope, StateHold, func(_ *policy.Policy, f *Figures) { f.Servers.Value[0].Environment = "staging" }},
		{"production spelt otherwise", policy.GateScope, StatePass, func(_ *policy.Policy, f *Figures) { f.Servers.Value[0].Environment = " PRODUCTION " }},
		{"prod is not production", policy.GateScope, StateHold, func(_ *policy.Policy, f *Figures) { f.Servers.Value[0].Environment = "prod" }},
		// D3
		{"a candidate 3 days old", policy.GateVersion, StatePass, func(_ *policy.Policy, f *Figures) { f.Versions.Value[0].FirstOn = tableT - 3*minutesADay }},
		{"a candidate a minute younger", policy.GateVersion, StateHold, func(_ *policy.Policy, f *Figures) { f.Versions.Value[0].FirstOn = tableT - 3*minutesADay + 1 }},
		{"a second candidate too young", policy.GateVersion, StateHold, func(_ *policy.Policy, f *Figures) {
			add(&f.Versions, VersionRow{testServer, "1.4.1", tableT - 9, tableT - 9, tableT - 9, 1})
		}},
		{"a young version that is no candidate", policy.GateVersion, StatePass, func(_ *policy.Policy, f *Figures) {
			add(&f.Versions, VersionRow{testServer, "1.4.1", tableT - 9, 0, 0, 0})
		}},
		{"a candidate of wrong clocks only", policy.GateVersion, StateHold, func(_ *policy.Policy, f *Figures) { f.Versions.Value[0].FirstOn = 0 }},
		{"no candidate", policy.GateVersion, StateHold, func(_ *policy.Policy, f *Figures) { f.Versions.Value[0].Live = 0 }},
		// D4
		{"14 days", policy.GateDuration, StatePass, func(*policy.Policy, *Figures) {}},
		{"13 days 23 h 59 min", policy.GateDuration, StateHold, func(_ *policy.Policy, f *Figures) { shift(f, 1) }},
		{"silence of 6 h counts", policy.GateDuration, StatePass, func(_ *policy.Policy, f *Figures) {
			shift(f, 0)
			f.setRuns(Run{tableT - soakMinutes, tableT - 1000}, Run{tableT - 640, tableT})
		}},
		{"silence of 6 h 1 min is subtracted", policy.GateDuration, StateHold, func(_ *policy.Policy, f *Figures) {
			f.setRuns(Run{tableT - soakMinutes, tableT - 1000}, Run{tableT - 639, tableT})
		}},
		{"silence of 72 h 0 min pauses", policy.GateDuration, StatePass, func(_ *policy.Policy, f *Figures) { twoRuns(f, 10*minutesADay, 7*minutesADay) }},
		{"silence of 72 h 1 min restarts", policy.GateDuration, StateHold, func(_ *policy.Policy, f *Figures) { twoRuns(f, 10*minutesADay, 7*minutesADay-1) }},
		{"option off for 60 min", policy.GateDuration, StatePass, func(_ *policy.Policy, f *Figures) { twoRuns(f, 1060, 1000); off(f, 1060, 1000) }},
		{"option off for 61 min", policy.GateDuration, StateHold, func(_ *policy.Policy, f *Figures) { twoRuns(f, 1061, 1000); off(f, 1061, 1000) }},
		{"61 min of silence without a call that is off", policy.GateDuration, StatePass, func(_ *policy.Policy, f *Figures) { twoRuns(f, 1061, 1000) }},
		{"one deployment off", policy.GateDuration, StatePass, func(_ *policy.Policy, f *Figures) { off(f, 5000, 1000) }},
		{"off now, for 61 min", policy.GateDuration, StateHold, func(_ *policy.Policy, f *Figures) {
			f.setRuns(Run{tableT - 20*minutesADay, tableT - 61})
			off(f, 3, 0)
		}},
		{"hole of 30 min", policy.GateDuration, StatePass, func(_ *policy.Policy, f *Figures) { twoRuns(f, 1030, 1000); down(f, 1030, 1000) }},
		{"hole of 31 min", policy.GateDuration, StateHold, func(_ *policy.Policy, f *Figures) { twoRuns(f, 1031, 1000); down(f, 1031, 1000) }},
		{"hole of 5 h, refilled", policy.GateDuration, StatePass, func(_ *policy.Policy, f *Figures) {
			down(f, 1300, 1000)
			f.activityOf(0).On[0].From = tableT - 20*minutesADay
			add(&f.Refills, Refill{testServer, []Run{{tableT - 1270, tableT - 1030}}})
		}},
		{"hole of 5 h, refilled but for 31 min", policy.GateDuration, StateHold, func(_ *policy.Policy, f *Figures) {
			down(f, 1300, 1000)
			f.activityOf(0).On[0].From = tableT - 20*minutesADay
			add(&f.Refills, Refill{testServer, []Run{{tableT - 1269, tableT - 1030}}})
		}},
		{"stale by 6 h, the clock runs to T", policy.GateDuration, StatePass, func(_ *policy.Policy, f *Figures) { f.setRuns(Run{tableT - soakMinutes, tableT - 360}) }},
		{"stale by 6 h 1 min, it stands", policy.GateDuration, StateHold, func(_ *policy.Policy, f *Figures) { f.setRuns(Run{tableT - soakMinutes, tableT - 361}) }},
		{"replicas do not matter", policy.GateDuration, StatePass, func(_ *policy.Policy, f *Figures) {
			f.Activity.Value = append(f.Activity.Value, f.Activity.Value[0], f.Activity.Value[0])
		}},
		{"before the anchor nothing counts", policy.GateDuration, StateHold, func(p *policy.Policy, _ *Figures) { p.Servers[0].Anchor = day(13) }},
		// D5
		{"3 deployments", policy.GateDeployments, StatePass, func(*policy.Policy, *Figures) {}},
		{"2 deployments of 3", policy.GateDeployments, StateHold, func(_ *policy.Policy, f *Figures) { f.activityOf(2).On = nil }},
		{"299 calls", policy.GateDeployments, StateHold, func(_ *policy.Policy, f *Figures) { f.activityOf(2).On[0].Calls = 299 }},
		{"7 days", policy.GateDeployments, StatePass, func(_ *policy.Policy, f *Figures) {
			f.activityOf(2).On[0].From = Minute(dayOf(tableT)-6)*minutesADay + 1439
		}},
		{"6 days", policy.GateDeployments, StateHold, func(_ *policy.Policy, f *Figures) { f.activityOf(2).On[0].From = Minute(dayOf(tableT)-5) * minutesADay }},
		{"last seen 48 h ago", policy.GateDeployments, StatePass, func(_ *policy.Policy, f *Figures) { f.activityOf(2).On[0].To = tableT - 48*60 }},
		{"last seen a minute before", policy.GateDeployments, StateHold, func(_ *policy.Policy, f *Figures) { f.activityOf(2).On[0].To = tableT - 48*60 - 1 }},
		{"named by a host", policy.GateDeployments, StateHold, func(_ *policy.Policy, f *Figures) { f.activityOf(2).Source = "host.name" }},
		{"not named", policy.GateDeployments, StateHold, func(_ *policy.Policy, f *Figures) { f.activityOf(2).Source = "" }},
		{"named by a namespace", policy.GateDeployments, StatePass, func(_ *policy.Policy, f *Figures) { f.activityOf(2).Source = "k8s.namespace.name" }},
		{"the same deployment twice", policy.GateDeployments, StateHold, func(_ *policy.Policy, f *Figures) { f.activityOf(2).Deployment = "d1" }},
		{"off for an hour", policy.GateDeployments, StatePass, func(_ *policy.Policy, f *Figures) {
			f.activityOf(2).On = []CallRun{{Run{tableT - soakMinutes, tableT - 160}, 200}, {Run{tableT - 100, tableT}, 100}}
			f.activityOf(2).Off = []Run{{tableT - 140, tableT - 120}}
		}},
		{"off for 61 min, its run restarts", policy.GateDeployments, StateHold, func(_ *policy.Policy, f *Figures) {
			f.activityOf(2).On = []CallRun{{Run{tableT - soakMinutes, tableT - 161}, 200}, {Run{tableT - 100, tableT}, 300}}
			f.activityOf(2).Off = []Run{{tableT - 140, tableT - 120}}
		}},
		{"taken out by an override", policy.GateDeployments, StateHold, func(_ *policy.Policy, f *Figures) {
			f.Registers.Value.Overrides = []Override{{testServer, "d2", false, "r", "ann", day(1), tableEnd}}
		}},
		{"an override entered too late", policy.GateDeployments, StatePass, func(_ *policy.Policy, f *Figures) {
			f.Registers.Value.Overrides = []Override{{testServer, "d2", false, "r", "ann", day(1), later(time.Nanosecond)}}
		}},
		{"an override withdrawn", policy.GateDeployments, StatePass, func(_ *policy.Policy, f *Figures) {
			f.Registers.Value.Overrides = []Override{{testServer, "d2", false, "r", "ann", day(2), day(2)}, {testServer, "d2", true, "r", "ann", day(1), day(1)}}
		}},
		// D6
		{"n0 blocks", policy.GateMalformed, StatePass, func(*policy.Policy, *Figures) {}},
		{"n0 - 1 blocks", policy.GateMalformed, StateHold, func(_ *policy.Policy, f *Figures) {
			f.blockOf(0).Blocks--
			f.blockOf(0).Sizes[0].Count--
			f.blockOf(0).Known--
		}},
		{"one malformed of a million", policy.GateMalformed, StateBlock, func(_ *policy.Policy, f *Figures) { f.blockOf(0).Blocks, f.blockOf(0).Malformed = 1_000_000, 1 }},
		{"one malformed of an untrusted clock", policy.GateMalformed, StateBlock, func(_ *policy.Policy, f *Figures) {
			add(&f.Blocks, BlockRow{Server: testServer, Version: "1.4.0", Deployment: "d0", Source: "mcp.deployment.id", Blocks: 1, Malformed: 1, Sizes: []Bin{{9, 1}}})
		}},
		{"clean ones of an untrusted clock are no evidence", policy.GateMalformed, StateHold, func(_ *policy.Policy, f *Figures) { f.blockOf(2).Trusted = false }},
		{"sampling weights are no blocks", policy.GateMalformed, StateHold, func(_ *policy.Policy, f *Figures) {
			f.blockOf(0).Blocks, f.blockOf(0).Known, f.blockOf(0).WeightMicro = 10, 0, 1_000_000*int64(policy.One)
		}},
		{"malformed on a superseded version asks for more", policy.GateMalformed, StateHold, func(_ *policy.Policy, f *Figures) { supersede(f, "1.3.0") }},
		{"4,380 on the second try", policy.GateMalformed, StatePass, func(_ *policy.Policy, f *Figures) { supersede(f, "1.3.0"); f.blockOf(0).Blocks += 4380 - 3688 }},
		{"4,379 on the second try", policy.GateMalformed, StateHold, func(_ *policy.Policy, f *Figures) { supersede(f, "1.3.0"); f.blockOf(0).Blocks += 4379 - 3688 }},
		{"5,073 on the third try", policy.GateMalformed, StatePass, func(_ *policy.Policy, f *Figures) { supersede(f, "1.3.0", "1.3.1"); f.blockOf(0).Blocks += 5073 - 3688 }},
		{"5,072 on the third try", policy.GateMalformed, StateHold, func(_ *policy.Policy, f *Figures) { supersede(f, "1.3.0", "1.3.1"); f.blockOf(0).Blocks += 5072 - 3688 }},
		{"a clean superseded version costs nothing and gives nothing", policy.GateMalformed, StatePass, func(_ *policy.Policy, f *Figures) {
			add(&f.Blocks, BlockRow{Server: testServer, Version: "1.3.0", Deployment: "d0", Source: "mcp.deployment.id", Trusted: true, Blocks: 1000, Sizes: []Bin{{9, 1000}}})
		}},
		{"blocks of a superseded version do not fill up", policy.GateMalformed, StateHold, func(_ *policy.Policy, f *Figures) { f.blockOf(2).Version = "1.3.0" }},
		{"tolerant, at the bound", policy.GateMalformed, StatePass, func(p *policy.Policy, f *Figures) { tolerate(p, f, 2, 0) }},
		{"tolerant, one clean block short", policy.GateMalformed, StateHold, func(p *policy.Policy, f *Figures) { tolerate(p, f, 2, -1) }},
		{"tolerant, one malformed too many", policy.GateMalformed, StateBlock, func(p *policy.Policy, f *Figures) { tolerate(p, f, 2, 1_000_000); f.blockOf(0).Malformed = 3 }},
		{"tolerant, but shown to be above", policy.GateMalformed, StateBlock, func(p *policy.Policy, f *Figures) {
			p.Gates.Malformed.MaxSeen = 1000
			f.blockOf(0).Malformed = 60
		}},
		// D8
		{"368 without the largest", policy.GateSpread, StatePass, func(*policy.Policy, *Figures) {}},
		{"367 without the largest", policy.GateSpread, StateHold, func(_ *policy.Policy, f *Figures) { f.blockOf(1).Blocks--; f.blockOf(1).Known-- }},
		{"one deployment carries all", policy.GateSpread, StateHold, func(_ *policy.Policy, f *Figures) {
			f.blockOf(0).Blocks += 1_000_000
			f.blockOf(1).Blocks, f.blockOf(2).Blocks = 0, 0
			f.blockOf(1).Known, f.blockOf(2).Known = 0, 0
		}},
		{"the others named by hosts", policy.GateSpread, StateHold, func(_ *policy.Policy, f *Figures) {
			f.blockOf(1).Source, f.blockOf(2).Source = "host.name", "host.name"
		}},
		// D9
		{"30 calls of a kind", policy.GateCoverageKinds, StatePass, func(*policy.Policy, *Figures) {}},
		{"29 calls of a kind", policy.GateCoverageKinds, StateHold, func(_ *policy.Policy, f *Figures) { f.Kinds.Value[0].Calls = 14 }},
		{"30 calls from one deployment", policy.GateCoverageKinds, StateHold, func(_ *policy.Policy, f *Figures) { f.Kinds.Value[0].Deployment = "d1" }},
		{"30 calls, half of them from a host", policy.GateCoverageKinds, StateHold, func(_ *policy.Policy, f *Figures) { f.Kinds.Value[0].Source = "host.name" }},
		{"a strict fleet need not pass fields through", policy.GateCoverageKinds, StatePass, func(_ *policy.Policy, _ *Figures) {}},
		{"a deployment with strict off must", policy.GateCoverageKinds, StateHold, func(_ *policy.Policy, f *Figures) { f.activityOf(1).StrictOff = 1 }},
		{"and passes with 30", policy.GateCoverageKinds, StatePass, func(_ *policy.Policy, f *Figures) {
			f.activityOf(1).StrictOff = 1
			add(&f.Kinds, KindRow{testServer, kindUnknownPassed, "list", "d1", "mcp.deployment.id", 30, 3})
		}},
		{"29 rejected on a strict fleet", policy.GateCoverageKinds, StateHold, func(_ *policy.Policy, f *Figures) { f.Kinds.Value[6].Calls = 29 }},
		{"a fleet that declares no mode", policy.GateCoverageKinds, StatePass, func(_ *policy.Policy, f *Figures) {
			for i := range 3 {
				f.activityOf(i).StrictOn = 0
			}
			f.Kinds.Value[6].Calls = 0
		}},
		{"20 calls of a tool", policy.GateCoverageTools, StatePass, func(*policy.Policy, *Figures) {}},
		{"19 calls of a tool", policy.GateCoverageTools, StateHold, func(_ *policy.Policy, f *Figures) { f.Tools.Value[0].On = 19 }},
		{"a tool seen 20 times, never with the option on", policy.GateCoverageTools, StateHold, func(_ *policy.Policy, f *Figures) { add(&f.Tools, ToolRow{testServer, "set", 20, 0, 0}) }},
		{"a tool seen 19 times is not in the inventory", policy.GateCoverageTools, StatePass, func(_ *policy.Policy, f *Figures) { add(&f.Tools, ToolRow{testServer, "set", 19, 0, 0}) }},
		{"a listed tool never seen", policy.GateCoverageTools, StateHold, func(p *policy.Policy, _ *Figures) { p.Servers[0].Tools = []string{"purge"} }},
		{"no tool at all", policy.GateCoverageTools, StateHold, func(_ *policy.Policy, f *Figures) { f.Tools.Value[0].Seen = 0 }},
		{"an unknown tool is no tool", policy.GateCoverageTools, StatePass, func(_ *policy.Policy, f *Figures) {
			add(&f.Tools, ToolRow{testServer, unknownTool, 99, 0, 0}, ToolRow{testServer, "", 99, 0, 0})
		}},
		// D10
		{"332 blocks of 2,048 bytes", policy.GateBytes, StatePass, func(_ *policy.Policy, f *Figures) { sizes(f, Bin{2048, 332}) }},
		{"331 blocks", policy.GateBytes, StateHold, func(_ *policy.Policy, f *Figures) { sizes(f, Bin{2048, 331}) }},
		{"696 blocks, one of 2,049 bytes", policy.GateBytes, StatePass, func(_ *policy.Policy, f *Figures) { sizes(f, Bin{2048, 695}, Bin{2049, 1}) }},
		{"695 blocks, one of 2,049 bytes", policy.GateBytes, StateHold, func(_ *policy.Policy, f *Figures) { sizes(f, Bin{2048, 694}, Bin{2049, 1}) }},
		{"half of them large", policy.GateBytes, StateBlock, func(_ *policy.Policy, f *Figures) { sizes(f, Bin{2048, 50}, Bin{2049, 50}) }},
		{"one of 16,384 bytes", policy.GateBytes, StatePass, func(_ *policy.Policy, f *Figures) { sizes(f, Bin{100, 1000}, Bin{16384, 1}) }},
		{"one of 16,385 bytes", policy.GateBytes, StateBlock, func(_ *policy.Policy, f *Figures) { sizes(f, Bin{100, 1_000_000}, Bin{16385, 1}) }},
		{"a size not recorded", policy.GateBytes, StateUnknown, func(_ *policy.Policy, f *Figures) { sizes(f, Bin{100, 1000}, Bin{0, 1}) }},
		{"a size not recorded hides no huge one", policy.GateBytes, StateBlock, func(_ *policy.Policy, f *Figures) { sizes(f, Bin{100, 1000}, Bin{0, 1}, Bin{16385, 1}) }},
		{"5 % of the answers", policy.GateShare, StatePass, func(*policy.Policy, *Figures) {}},
		{"a byte more", policy.GateShare, StateHold, func(_ *policy.Policy, f *Figures) { f.blockOf(0).KnownBytes++ }},
		{"one deployment above", policy.GateShare, StateHold, func(_ *policy.Policy, f *Figures) { f.blockOf(0).AnswerBytes *= 10; f.blockOf(1).AnswerBytes /= 2 }},
		{"all above", policy.GateShare, StateBlock, func(_ *policy.Policy, f *Figures) {
			for i := range 3 {
				f.blockOf(i).AnswerBytes /= 2
			}
		}},
		{"known for half of the blocks", policy.GateShare, StatePass, func(_ *policy.Policy, f *Figures) { known(f, 1844) }},
		{"known for one fewer", policy.GateShare, StateHold, func(_ *policy.Policy, f *Figures) { known(f, 1843) }},
		{"known for none", policy.GateShare, StateHold, func(_ *policy.Policy, f *Figures) { known(f, 0) }},
		// D11
		{"no value outside", policy.GateOffTaxonomy, StatePass, func(*policy.Policy, *Figures) {}},
		{"one error kind outside", policy.GateOffTaxonomy, StateBlock, func(_ *policy.Policy, f *Figures) { outside(f, FindingErrorKind, "1.4.0", false) }},
		{"one normalization kind outside", policy.GateOffTaxonomy, StateBlock, func(_ *policy.Policy, f *Figures) { outside(f, FindingNormalizedKind, "1.4.0", false) }},
		{"outside on a superseded version", policy.GateOffTaxonomy, StatePass, func(_ *policy.Policy, f *Figures) { outside(f, FindingErrorKind, "1.3.0", false) }},
		{"outside before the anchor", policy.GateOffTaxonomy, StatePass, func(_ *policy.Policy, f *Figures) { outside(f, FindingErrorKind, "1.4.0", true) }},
		{"no candidate traffic", policy.GateOffTaxonomy, StateHold, func(_ *policy.Policy, f *Figures) { f.Versions.Value[0].Live = 0 }},
		{"texts at the bound", policy.GateUnreadable, StatePass, func(_ *policy.Policy, f *Figures) { f.Readable.Value[0].Readable = 1665 }},
		{"one text short", policy.GateUnreadable, StateHold, func(_ *policy.Policy, f *Figures) { f.Readable.Value[0].Readable = 1664 }},
		{"no text", policy.GateUnreadable, StateHold, func(_ *policy.Policy, f *Figures) { f.Readable.Value[0].Readable = 0 }},
		{"many unreadable", policy.GateUnreadable, StateBlock, func(_ *policy.Policy, f *Figures) { f.Readable.Value[0].Unreadable = 40 }},
		{"one unreadable", policy.GateUnreadable, StatePass, func(_ *policy.Policy, f *Figures) { f.Readable.Value[0].Unreadable = 1 }},
		// D12
		{"a run of today", policy.GateConformance, StatePass, func(_ *policy.Policy, f *Figures) {
			f.Conformance.Value[0].At = later(-time.Nanosecond)
			f.Conformance.Value[0].RecordedAt = tableEnd
		}},
		{"a run 14 days old", policy.GateConformance, StatePass, func(_ *policy.Policy, f *Figures) { f.Conformance.Value[0].At = day(14) }},
		{"a run over 14 days old", policy.GateConformance, StateHold, func(_ *policy.Policy, f *Figures) { f.Conformance.Value[0].At = day(14).Add(-time.Second) }},
		{"a run not yet entered", policy.GateConformance, StateHold, func(_ *policy.Policy, f *Figures) { f.Conformance.Value[0].RecordedAt = later(time.Second) }},
		{"a run of another version", policy.GateConformance, StateHold, func(_ *policy.Policy, f *Figures) { f.Conformance.Value[0].Version = "1.3.0" }},
		{"item 5 not tested", policy.GateConformance, StatePass, func(*policy.Policy, *Figures) {}},
		{"item 5 not tested where it must", policy.GateConformance, StateHold, func(p *policy.Policy, _ *Figures) { p.Gates.Conformance.AllowNotTested = nil }},
		{"item 6 not tested", policy.GateConformance, StateHold, func(_ *policy.Policy, f *Figures) { f.Conformance.Value[0].Items["6"] = "not_tested" }},
		{"item 6 missing", policy.GateConformance, StateHold, func(_ *policy.Policy, f *Figures) { delete(f.Conformance.Value[0].Items, "6") }},
		{"item 5 failed", policy.GateConformance, StateBlock, func(_ *policy.Policy, f *Figures) { f.Conformance.Value[0].Items["5"] = "fail" }},
		{"failed, then passed", policy.GateConformance, StatePass, func(_ *policy.Policy, f *Figures) { rerun(f, day(3), ItemFail) }},
		{"passed, then failed", policy.GateConformance, StateBlock, func(_ *policy.Policy, f *Figures) { rerun(f, day(1), ItemFail) }},
		// D13
		{"a review 7 days old", policy.GateComplaints, StatePass, func(_ *policy.Policy, f *Figures) { f.Registers.Value.Reviews[0].At = day(7) }},
		{"a review over 7 days old", policy.GateComplaints, StateHold, func(_ *policy.Policy, f *Figures) { f.Registers.Value.Reviews[0].At = day(7).Add(-time.Second) }},
		{"nobody looked", policy.GateComplaints, StateHold, func(_ *policy.Policy, f *Figures) { f.Registers.Value.Reviews = nil }},
		{"a review of another server", policy.GateComplaints, StateHold, func(_ *policy.Policy, f *Figures) { f.Registers.Value.Reviews[0].Server = "amazon_ads_mcp" }},
		{"a review not yet entered", policy.GateComplaints, StateHold, func(_ *policy.Policy, f *Figures) { f.Registers.Value.Reviews[0].RecordedAt = later(time.Second) }},
		{"open", policy.GateComplaints, StateBlock, func(_ *policy.Policy, f *Figures) { complain(f, opened(day(3))) }},
		{"open, entered too late", policy.GateComplaints, StatePass, func(_ *policy.Policy, f *Figures) {
			c := opened(day(3))
			c.RecordedAt = later(time.Second)
			complain(f, c)
		}},
		{"resolved as not ours", policy.GateComplaints, StatePass, func(_ *policy.Policy, f *Figures) { complain(f, opened(day(3)), resolved(day(2), "", true)) }},
		{"resolved without a reference", policy.GateComplaints, StateBlock, func(_ *policy.Policy, f *Figures) {
			r := resolved(day(2), "", true)
			r.Ref = ""
			complain(f, opened(day(3)), r)
		}},
		{"resolved without saying how", policy.GateComplaints, StateBlock, func(_ *policy.Policy, f *Figures) { complain(f, opened(day(3)), resolved(day(2), "", false)) }},
		{"fixed in the candidate", policy.GateComplaints, StatePass, func(_ *policy.Policy, f *Figures) { complain(f, opened(day(3)), resolved(day(2), "1.4.0", false)) }},
		{"fixed in a newer version", policy.GateComplaints, StateHold, func(_ *policy.Policy, f *Figures) { complain(f, opened(day(3)), resolved(day(2), "1.4.1", false)) }},
		{"fixed in 1.10.0, which is newer than 1.4.0", policy.GateComplaints, StateHold, func(_ *policy.Policy, f *Figures) { complain(f, opened(day(3)), resolved(day(2), "1.10.0", false)) }},
		{"fixed in a version that nobody knows", policy.GateComplaints, StateHold, func(_ *policy.Policy, f *Figures) { complain(f, opened(day(3)), resolved(day(2), "build-9", false)) }},
		{"reopened", policy.GateComplaints, StateBlock, func(_ *policy.Policy, f *Figures) {
			c := opened(day(1))
			c.Action = ComplaintReopen
			complain(f, opened(day(3)), resolved(day(2), "1.4.0", false), c)
		}},
		// D14
		{"a legacy kind in its release", policy.GateLegacy, StatePass, func(_ *policy.Policy, f *Figures) { legacyRows(f, "1.4.0") }},
		{"a legacy kind in a patch of its release", policy.GateLegacy, StatePass, func(_ *policy.Policy, f *Figures) { legacyRows(f, "1.4.0", "1.4.9") }},
		{"a legacy kind of the release before", policy.GateLegacy, StateBlock, func(_ *policy.Policy, f *Figures) { legacyRows(f, "1.4.0", "1.3.9") }},
		{"a legacy kind of 1.10 in 1.4", policy.GateLegacy, StatePass, func(_ *policy.Policy, f *Figures) { legacyRows(f, "1.4.0", "1.10.0") }},
		{"a legacy kind of a pre-release", policy.GateLegacy, StatePass, func(_ *policy.Policy, f *Figures) { legacyRows(f, "1.4.0", "1.3.0-rc.1") }},
		{"another legacy kind of the release before", policy.GateLegacy, StatePass, func(_ *policy.Policy, f *Figures) {
			legacyRows(f, "1.4.0", "1.3.9")
			f.Legacy.Value[1].Value = "OTHER"
		}},
		{"a legacy kind of the release before that is gone", policy.GateLegacy, StatePass, func(_ *policy.Policy, f *Figures) { legacyRows(f, "1.3.9") }},
		{"default false", policy.GateDeclaredDefault, StatePass, func(*policy.Policy, *Figures) {}},
		{"default true", policy.GateDeclaredDefault, StateBlock, func(_ *policy.Policy, f *Figures) { f.Defaults.Value[0].Value = true }},
		{"default not declared", policy.GateDeclaredDefault, StateHold, func(_ *policy.Policy, f *Figures) { f.Defaults.Value[0].Server = "other" }},
		{"default true, then false", policy.GateDeclaredDefault, StatePass, func(_ *policy.Policy, f *Figures) {
			add(&f.Defaults, DefaultRow{testServer, "1.3.0", true, day(6), day(1)})
		}},
		{"default false, then true", policy.GateDeclaredDefault, StateBlock, func(_ *policy.Policy, f *Figures) {
			add(&f.Defaults, DefaultRow{testServer, "1.4.0", true, day(4), day(4)})
		}},
		{"both strict modes in 1 hour", policy.GateStrictModes, StatePass, func(_ *policy.Policy, f *Figures) {
			add(&f.StrictHours, StrictHours{testServer, "d0", 1, tableT - 60, tableT - 1})
		}},
		{"both strict modes in 2 hours", policy.GateStrictModes, StateHold, func(_ *policy.Policy, f *Figures) {
			add(&f.StrictHours, StrictHours{testServer, "d0", 2, tableT - 60, tableT - 1})
		}},
		{"2 hours, of two deployments", policy.GateStrictModes, StatePass, func(_ *policy.Policy, f *Figures) {
			add(&f.StrictHours, StrictHours{testServer, "d0", 1, tableT - 60, tableT - 1}, StrictHours{testServer, "d1", 1, tableT - 60, tableT - 1})
		}},
		// D15
		{"201 minutes down", policy.GateCollection, StatePass, func(_ *policy.Policy, f *Figures) { down(f, 1201, 1000) }},
		{"202 minutes down", policy.GateCollection, StateHold, func(_ *policy.Policy, f *Figures) { down(f, 1202, 1000) }},
		{"202 minutes down, one run of them refilled", policy.GateCollection, StatePass, func(_ *policy.Policy, f *Figures) {
			f.Heartbeats.Value.Up = []Run{{tableT - soakMinutes, tableT - 1201}, {tableT - 1000, tableT - 500}, {tableT - 499, tableT}}
			add(&f.Refills, Refill{testServer, []Run{{tableT - 500, tableT - 499}}})
		}},
		{"many short runs down add up", policy.GateCollection, StateHold, func(_ *policy.Policy, f *Figures) {
			f.Heartbeats.Value.Up = nil
			for m := tableT - soakMinutes; m < tableT; m += 100 {
				f.Heartbeats.Value.Up = append(f.Heartbeats.Value.Up, Run{m, m + 98})
			}
		}},
		{"silent for 6 h", policy.GateFreshness, StatePass, func(_ *policy.Policy, f *Figures) { f.setRuns(Run{tableT - soakMinutes, tableT - 360}) }},
		{"silent for 6 h 1 min", policy.GateFreshness, StateHold, func(_ *policy.Policy, f *Figures) { f.setRuns(Run{tableT - soakMinutes, tableT - 361}) }},
		{"1 % late", policy.GateLateness, StatePass, func(*policy.Policy, *Figures) {}},
		{"one more late", policy.GateLateness, StateHold, func(_ *policy.Policy, f *Figures) { f.Arrivals.Value[0].Late++ }},
		{"nothing received", policy.GateLateness, StateHold, func(_ *policy.Policy, f *Figures) { f.Arrivals.Value[0] = ArrivalRow{Server: testServer} }},
		{"0.1 % from a wrong clock", policy.GateClocks, StatePass, func(_ *policy.Policy, f *Figures) { wrongClock(f, 1) }},
		{"one more", policy.GateClocks, StateHold, func(_ *policy.Policy, f *Figures) { wrongClock(f, 2) }},
		{"no lateness known", policy.GateClocks, StateHold, func(_ *policy.Policy, f *Figures) { f.Lateness.Value[0].Server = "other" }},
		// D16
		{"replayed, not allowed", policy.GateReplays, StateHold, func(_ *policy.Policy, f *Figures) { replay(f, day(14), tableEnd) }},
		{"replayed and allowed", policy.GateReplays, StatePass, func(p *policy.Policy, f *Figures) { p.AllowReplay = true; replay(f, day(14), tableEnd) }},
		{"replayed, allowed, not declared", policy.GateReplays, StateHold, func(p *policy.Policy, f *Figures) {
			p.AllowReplay = true
			replay(f, day(14), tableEnd)
			f.Replays.Value = nil
		}},
		{"replayed, declared too narrowly", policy.GateReplays, StateHold, func(p *policy.Policy, f *Figures) { p.AllowReplay = true; replay(f, day(13), tableEnd) }},
		{"replayed, declared after T", policy.GateReplays, StateHold, func(p *policy.Policy, f *Figures) {
			p.AllowReplay = true
			replay(f, day(14), tableEnd)
			f.Replays.Value[0].RecordedAt = later(time.Second)
		}},
	} {
		t.Run(string(tt.gate)+"/"+tt.name, func(t *testing.T) {
			p, f := builtIn(t), cleanFigures()
			tt.change(&p, &f)
			reread(p, &f)
			g := gateOf(t, Judge(p, f, tableAsOf), testServer, tt.gate)
			assert.Equal(t, tt.want, g.State, g.Why)
		})
	}
}
