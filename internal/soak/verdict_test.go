package soak

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/soak/policy"
)

// What is not there never flips: one test per way to have nothing.
func TestNothingIsNeverFlip(t *testing.T) {
	p, f := builtIn(t), cleanFigures()
	for name, v := range map[string]Verdict{
		"zero policy, zero figures":       Judge(policy.Policy{}, Figures{}, AsOf{}),
		"zero policy, clean figures":      Judge(policy.Policy{}, f, tableAsOf),
		"default policy, no server":       Judge(policy.Default(), f, tableAsOf),
		"zero figures":                    Judge(p, Figures{}, tableAsOf),
		"figures of another instant":      Judge(p, f, AsOf{At: tableEnd.Add(time.Minute)}),
		"figures of the other reading":    Judge(p, f, AsOf{At: tableEnd, AllEvents: true}),
		"nothing could be read":           Judge(p, Unread(tableAsOf, errRead), tableAsOf),
		"the zero instant":                Judge(p, f, AsOf{}),
		"before the oldest minute kept":   Judge(p, kept(f, Kept{Oldest: tableT}), tableAsOf),
		"the first call may have expired": Judge(p, kept(f, Kept{Oldest: tableT - soakMinutes, Expired: true}), tableAsOf),
		"the first call may lie before":   Judge(p, kept(f, Kept{Oldest: tableT - 90*minutesADay - 1}), tableAsOf),
		"figures of a newer form":         Judge(p, func() Figures { g := f; g.Version++; return g }(), tableAsOf),
	} {
		assert.Equal(t, DecisionCouldNotTell, v.Decision, name)
		assert.Equal(t, ExitCouldNotTell, v.Decision.ExitCode(), name)
		for _, g := range v.Gates {
			assert.Equal(t, StateUnknown, g.State, "%s: %s %s", name, g.Server, g.Gate)
			assert.NotEmpty(t, g.Why, name)
		}
	}
	assert.Equal(t, ExitCouldNotTell, DecisionUnset.ExitCode())
	assert.Equal(t, -2, DecisionUnset.Number())
	assert.Equal(t, -2, StateUnset.Number())
}

func kept(f Figures, k Kept) Figures { f.Kept = Got(k); return f }

// Everything read and nothing there is HOLD, in every gate that asks for evidence (U47).
func TestEmptyStoreHolds(t *testing.T) {
	p := builtIn(t)
	f := Figures{Version: FiguresVersion, Bounds: Bounds{AsOf: tableAsOf}}
	readAll(&f)
	v := Judge(p, f, tableAsOf)
	assert.Equal(t, DecisionHold, v.Decision)
	assert.Nil(t, v.ETA, "nothing that was never seen has a date")
	for _, g := range v.Gates {
		if g.Server == policy.AllServers && slices.Contains([]policy.Gate{policy.GateScope, policy.GateComplaints, policy.GateRejected}, g.Gate) {
			continue // nobody unlisted, nothing stray, nothing rejected
		}
		assert.Equal(t, StateHold, g.State, "%s %s: %s", g.Server, g.Gate, g.Why)
		assert.NotEmpty(t, g.Needs, "%s %s", g.Server, g.Gate)
	}
}

// readAll marks every group as read.
func readAll(f *Figures) {
	v := reflect.ValueOf(f).Elem()
	for _, field := range v.Fields() {
		if ok := groupOK(field); ok.IsValid() {
			ok.SetBool(true)
		}
	}
}

// groupOK is the OK member of a group of figures, invalid for other members.
func groupOK(v reflect.Value) reflect.Value {
	if v.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	return v.FieldByName("OK")
}

// A group that could not be read makes exactly the gates unknown that rest on it.
func TestUnreadGroups(t *testing.T) {
	per := func(gates ...policy.Gate) []GateRef {
		var refs []GateRef
		for _, s := range []string{"amazon_ads_mcp", testServer} {
			for _, g := range gates {
				refs = append(refs, GateRef{s, g})
			}
		}
		return refs
	}
	all := func(gates ...policy.Gate) []GateRef {
		var refs []GateRef
		for _, g := range gates {
			refs = append(refs, GateRef{policy.AllServers, g})
		}
		return refs
	}
	run := []policy.Gate{policy.GateDuration, policy.GateCoverageKinds, policy.GateCoverageTools, policy.GateStrictModes}
	behaviour := []policy.Gate{policy.GateVersion, policy.GateMalformed, policy.GateSpread, policy.GateBytes, policy.GateShare, policy.GateOffTaxonomy, policy.GateUnreadable, policy.GateConformance, policy.GateComplaints, policy.GateLegacy}
	want := map[string][]GateRef{
		"Kept":        demand(builtIn(t)),
		"Servers":     append(per(policy.ServerGates...), all(policy.GateScope)...),
		"Versions":    append(per(behaviour...), all(policy.GateLockstep)...),
		"Activity":    per(append(run, policy.GateDeployments, policy.GateFreshness)...),
		"Refills":     per(append(run, policy.GateCollection)...),
		"Heartbeats":  append(per(append(run, policy.GateCollection)...), all(policy.GateBooks, policy.GateCollectors)...),
		"Lateness":    per(append(run, policy.GateVersion, policy.GateDeployments, policy.GateMalformed, policy.GateSpread, policy.GateBytes, policy.GateShare, policy.GateUnreadable, policy.GateCollection, policy.GateFreshness, policy.GateClocks)...),
		"Arrivals":    per(policy.GateLateness),
		"Blocks":      per(policy.GateMalformed, policy.GateSpread, policy.GateBytes, policy.GateShare),
		"Readable":    per(policy.GateUnreadable),
		"Findings":    per(policy.GateOffTaxonomy),
		"Legacy":      per(policy.GateLegacy),
		"Kinds":       per(policy.GateCoverageKinds),
		"Tools":       per(policy.GateCoverageTools),
		"StrictHours": per(policy.GateStrictModes),
		"Defaults":    per(policy.GateDeclaredDefault),
		"Conformance": append(per(policy.GateConformance), all(policy.GateLockstep)...),
		"Registers":   append(per(append(run, policy.GateDeployments, policy.GateMalformed, policy.GateSpread, policy.GateBytes, policy.GateShare, policy.GateComplaints, policy.GateFreshness)...), all(policy.GateComplaints)...),
		"Replays":     per(append(run, policy.GateCollection, policy.GateReplays)...),
		"Replayed":    per(append(run, policy.GateCollection, policy.GateLateness, policy.GateClocks, policy.GateReplays)...),
		"Rejected":    all(policy.GateRejected),
		"Books":       all(policy.GateBooks),
	}
	fields := reflect.TypeFor[Figures]()
	for i := range fields.NumField() {
		name := fields.Field(i).Name
		f := cleanFigures()
		group := reflect.ValueOf(&f).Elem().Field(i)
		if !groupOK(group).IsValid() {
			continue
		}
		for _, why := range []string{"", "query failed"} {
			t.Run(name+" "+why, func(t *testing.T) {
				require.Contains(t, want, name, "say which gates rest on it")
				groupOK(group).SetBool(false)
				group.FieldByName("Err").SetString(why)
				v := Judge(builtIn(t), f, tableAsOf)
				assert.Equal(t, DecisionCouldNotTell, v.Decision)
				assert.ElementsMatch(t, want[name], v.Unknown)
				assert.Contains(t, gateOf(t, v, v.Unknown[0].Server, v.Unknown[0].Gate).Why, why)
			})
		}
	}
}

// A bad thing found stays found when something else could not be read (D18).
func TestAnUnreadGateCannotUndoABlock(t *testing.T) {
	p, f := builtIn(t), cleanFigures()
	f.blockOf(0).Malformed = 1
	f.Lateness = Failed[[]LatenessRow](errRead)
	v := Judge(p, f, tableAsOf)
	assert.Equal(t, DecisionBlock, v.Decision)
	assert.Equal(t, []GateRef{{testServer, policy.GateMalformed}}, v.Deciding)
	assert.Contains(t, v.Unknown, GateRef{"amazon_ads_mcp", policy.GateMalformed}, "unknowns are listed beside")
	assert.Contains(t, v.Unknown, GateRef{testServer, policy.GateSpread})
}

func TestPrecedence(t *testing.T) {
	demanded := []GateRef{{"s", "a"}, {"s", "b"}, {"s", "c"}, {"s", "d"}}
	for _, tt := range []struct {
		states   [4]State
		want     Decision
		deciding []policy.Gate
	}{
		{[4]State{StatePass, StatePass, StatePass, StatePass}, DecisionFlip, nil},
		{[4]State{StatePass, StateWaived, StatePass, StatePass}, DecisionFlip, nil},
		{[4]State{StatePass, StateHold, StateHold, StateWaived}, DecisionHold, []policy.Gate{"b", "c"}},
		{[4]State{StatePass, StateHold, StateUnknown, StatePass}, DecisionCouldNotTell, []policy.Gate{"c"}},
		{[4]State{StateBlock, StateHold, StateUnknown, StateBlock}, DecisionBlock, []policy.Gate{"a", "d"}},
		{[4]State{StatePass, StatePass, StatePass, StateUnset}, DecisionCouldNotTell, []policy.Gate{"d"}},
		{[4]State{StatePass, StatePass, StatePass, "PASS"}, DecisionCouldNotTell, []policy.Gate{"d"}},
	} {
		t.Run(fmt.Sprint(tt.states), func(t *testing.T) {
			var gates []Gate
			for i, s := range tt.states {
				gates = append(gates, Gate{Server: "s", Gate: demanded[i].Gate, State: s})
			}
			slices.Reverse(gates)
			decision, deciding, _ := decide(gates, demanded)
			assert.Equal(t, tt.want, decision)
			var names []policy.Gate
			for _, d := range deciding {
				names = append(names, d.Gate)
			}
			assert.Equal(t, tt.deciding, names)
		})
	}
	decision, _, _ := decide(nil, demanded)
	assert.Equal(t, DecisionCouldNotTell, decision, "gates that are missing are unknown")
	decision, _, _ = decide([]Gate{{Server: "s", Gate: "a", State: StatePass}}, nil)
	assert.Equal(t, DecisionCouldNotTell, decision, "nothing demanded is nothing decided")
}

func TestEveryGateHasARule(t *testing.T) {
	for _, g := range policy.ServerGates {
		assert.Contains(t, serverRules, g)
	}
	for _, g := range policy.OverallGates {
		assert.Contains(t, overallRules, g)
	}
	assert.Len(t, serverRules, len(policy.ServerGates))
	assert.Len(t, overallRules, len(policy.OverallGates))
	assert.Len(t, demand(builtIn(t)), 2*len(policy.ServerGates)+len(policy.OverallGates))
}

// Figures that were read by other bounds than the policy demands are unknown.
func TestForeignBounds(t *testing.T) {
	t.Run("another run", func(t *testing.T) {
		f := cleanFigures()
		f.Bounds.RunStarts[0].From++
		v := Judge(builtIn(t), f, tableAsOf)
		assert.Equal(t, DecisionCouldNotTell, v.Decision)
		assert.Equal(t, StateUnknown, stateOf(t, v, testServer, policy.GateCoverageKinds))
		assert.Equal(t, StatePass, stateOf(t, v, "amazon_ads_mcp", policy.GateCoverageKinds))
	})
	t.Run("other untrusted clocks", func(t *testing.T) {
		f := cleanFigures()
		f.Bounds.Untrusted = []Instance{{testServer, "d0", "i9"}}
		v := Judge(builtIn(t), f, tableAsOf)
		assert.Equal(t, StateUnknown, stateOf(t, v, testServer, policy.GateMalformed))
		assert.Equal(t, StatePass, stateOf(t, v, testServer, policy.GateConformance))
	})
	t.Run("an anchor before what is kept", func(t *testing.T) {
		p := builtIn(t)
		for i := range p.Servers {
			p.Servers[i].Anchor = tableEnd.AddDate(0, 0, -15)
		}
		f := kept(cleanFigures(), Kept{Oldest: tableT - soakMinutes, Expired: true})
		assert.Equal(t, DecisionCouldNotTell, Judge(p, f, tableAsOf).Decision)
		f = kept(f, Kept{Oldest: tableT - 15*minutesADay, Expired: true})
		assert.Equal(t, DecisionFlip, Judge(p, f, tableAsOf).Decision)
	})
	t.Run("an anchor further back than the look-back", func(t *testing.T) {
		p := builtIn(t)
		p.Servers[0].Anchor = tableEnd.AddDate(0, 0, -91)
		assert.Equal(t, DecisionCouldNotTell, Judge(p, cleanFigures(), tableAsOf).Decision)
	})
}

func TestContradictions(t *testing.T) {
	for name, change := range map[string]func(f *Figures){
		"more malformed than blocks": func(f *Figures) { f.blockOf(1).Malformed = f.blockOf(1).Blocks + 1 },
		"fewer than no malformed":    func(f *Figures) { f.blockOf(1).Malformed = -1 },
		"a negative size":            func(f *Figures) { f.blockOf(1).Sizes = append(f.blockOf(1).Sizes, Bin{-5, 1}) },
		"activity after T":           func(f *Figures) { f.activityOf(0).On[0].To = tableT + 1 },
		"a run that ends first":      func(f *Figures) { f.activityOf(0).On[0].To = f.activityOf(0).On[0].From },
		"negative readable":          func(f *Figures) { f.Readable.Value[0].Unreadable = -1 },
		"more late than received":    func(f *Figures) { f.Arrivals.Value[0].Late = 9999 },
	} {
		f := cleanFigures()
		change(&f)
		assert.Equal(t, DecisionCouldNotTell, Judge(builtIn(t), f, tableAsOf).Decision, name)
	}
}

func TestVerdictDoesNotDependOnOrder(t *testing.T) {
	for seed := range uint64(30) {
		h, names := random(seed)
		p := simPolicy()
		f := h.figures(p, h.asOf())
		want, err := json.Marshal(Judge(p, f, h.asOf()))
		require.NoError(t, err)
		slices.Reverse(f.Blocks.Value)
		slices.Reverse(f.Activity.Value)
		slices.Reverse(f.Versions.Value)
		slices.Reverse(f.Findings.Value)
		slices.Reverse(f.Lateness.Value)
		slices.Reverse(f.Kinds.Value)
		slices.Reverse(f.Tools.Value)
		slices.Reverse(f.Registers.Value.Complaints)
		slices.Reverse(f.Bounds.Untrusted)
		slices.Reverse(p.Servers)
		got, err := json.Marshal(Judge(p, f, h.asOf()))
		require.NoError(t, err)
		// The policy's hash is of what it says, and the order of servers is said.
		hash, err := p.Hash()
		require.NoError(t, err)
		slices.Reverse(p.Servers)
		first, err := p.Hash()
		require.NoError(t, err)
		require.JSONEq(t, string(want), replaced(string(got), hash, first), "%v", names)
		canonical, err := f.Canonical()
		require.NoError(t, err)
		again, err := json.Marshal(Judge(p, canonical, h.asOf()))
		require.NoError(t, err)
		require.Equal(t, string(want), string(again), "%v", names)
	}
}

func TestAsOf(t *testing.T) {
	now := time.Date(2026, 3, 21, 15, 0, 30, 0, time.UTC)
	for text, ok := range map[string]bool{
		"2026-03-21T15:00:00Z": true, "2026-03-21T16:00:00+01:00": true, "2026-03-21T15:01:30Z": true,
		"2026-03-21T15:01:31Z": false, "2026-03-21T15:00:00": false, "2026-03-21": false, "yesterday": false, "2027-01-01T00:00:00Z": false,
	} {
		at, err := ParseAsOf(text, false, now)
		if ok {
			require.NoError(t, err, text)
			assert.Equal(t, time.UTC, at.At.Location())
		} else {
			require.ErrorIs(t, err, ErrAsOf, text)
		}
	}
	at, err := ParseAsOf("", true, now.In(time.FixedZone("x", 3600)))
	require.NoError(t, err)
	assert.Equal(t, AsOf{now, true}, at)
	assert.Equal(t, MinuteOf(now), at.Minute())
	assert.Equal(t, "2026-03-21T15:00Z", at.Minute().String())

	v := Judge(builtIn(t), Figures{Version: FiguresVersion, Bounds: Bounds{AsOf: AsOf{At: now}}}, AsOf{At: now})
	assert.Equal(t, tableEnd, v.TelemetryBefore)
	assert.Contains(t, fmt.Sprint(v.Notes), "telemetry counts before 2026-03-21T15:00Z")
}
