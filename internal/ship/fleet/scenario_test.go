package fleet

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/ship/payload"
)

// decidedByTraffic are the gates that facts.failing looks at.
var decidedByTraffic = []string{
	GateScope, GateVersion, GateDuration, GateDeployments, GateMalformed, GateSpread, GateCoverageKinds, GateCoverageTools,
	GateBytes, GateShare, GateOffTaxonomy, GateUnreadable, GateStrict,
}

// TestScenariosFailTheirGatesAndNoOther reads each replayed scenario's facts by
// the definitions: the gates it is made for fail, and all others pass.
func TestScenariosFailTheirGatesAndNoOther(t *testing.T) {
	for _, sc := range Scenarios() {
		if sc.Days == 0 || sc.Name == "demo" {
			continue
		}
		t.Run(sc.Name, func(t *testing.T) {
			f := gather(t, sc.Name)
			assert.EqualValues(t, sc.Records, f.tally.Records)
			for _, server := range []string{spName, adsName} {
				var want []string
				for _, g := range sc.Expect.Gates {
					if g.Server == server && slices.Contains(decidedByTraffic, g.Gate) {
						want = append(want, g.Gate)
					}
				}
				got := f.failing(server, testEnd)
				slices.Sort(got)
				assert.ElementsMatch(t, want, slices.Compact(got), server)
			}
		})
	}
}

// TestGatesThatTrafficDoesNotDecide looks at what only declarations say.
func TestGatesThatTrafficDoesNotDecide(t *testing.T) {
	sound := gather(t, "flip")
	assert.EqualValues(t, 4, sound.tally.Events[payload.EventCapabilities])
	assert.EqualValues(t, 4, sound.tally.Events[payload.EventConformance])
	assert.Zero(t, sound.late)
	assert.Less(t, sound.greatestGap(spName), time.Hour, "nights are no holes")

	fleetOf := func(name string) Fleet {
		sc, err := LookupScenario(name)
		require.NoError(t, err)
		return sc.fleet
	}
	for name, check := range map[string]func(t *testing.T){
		"block-conformance": func(t *testing.T) {
			f := fleetOf("block-conformance")
			assert.Equal(t, "3", f.server(spName).Conformance[1].Failed)
		},
		"hold-conformance": func(t *testing.T) {
			assert.EqualValues(t, 2, gather(t, "hold-conformance").tally.Events[payload.EventConformance])
		},
		"hold-conformance-old": func(t *testing.T) {
			f := fleetOf("hold-conformance-old")
			assert.Len(t, f.server(spName).Conformance, 1)
			assert.Greater(t, f.server(spName).Conformance[0].Age, 14*day)
		},
		"block-defaults": func(t *testing.T) {
			f := fleetOf("block-defaults")
			assert.True(t, f.server(adsName).Capabilities.MetaDefault)
			assert.False(t, f.server(spName).Capabilities.MetaDefault)
		},
		"hold-defaults": func(t *testing.T) {
			assert.EqualValues(t, 2, gather(t, "hold-defaults").tally.Events[payload.EventCapabilities])
		},
		"hold-late": func(t *testing.T) {
			f := gather(t, "hold-late")
			assert.InDelta(t, 0.03, float64(f.late)/float64(f.all), 0.005)
		},
		"hold-unlisted-server": func(t *testing.T) { assert.NotEmpty(t, gather(t, "hold-unlisted-server").calls["walmart_mcp"]) },
		"block-legacy": func(t *testing.T) {
			f := gather(t, "block-legacy")
			seen := map[string][]string{}
			for _, l := range f.tally.Legacy {
				seen[l.Server+"/"+l.Kind] = append(seen[l.Server+"/"+l.Kind], l.Version)
			}
			assert.ElementsMatch(t, []string{"1.11.9", spVersion}, seen[spName+"/mcp_input_validation"])
			assert.Equal(t, []string{adsVersion}, seen[adsName+"/mcp_input_validation"])
			assert.Greater(t, f.blocks(spName, "").Blocks*3/4, int64(3688), "the candidate has blocks enough of its own")
		},
		"hold-gap": func(t *testing.T) { f := gather(t, "hold-gap"); assert.Greater(t, f.greatestGap(spName), 72*time.Hour) },
		"flip-pause": func(t *testing.T) {
			f := gather(t, "flip-pause")
			assert.Greater(t, f.greatestGap(spName), 6*time.Hour)
			assert.Less(t, f.greatestGap(spName), 72*time.Hour)
		},
		"block-unreadable": func(t *testing.T) {
			assert.EqualValues(t, 120, blocked(t, "block-unreadable", spName, "invalid_json", 0.002))
		},
	} {
		t.Run(name, check)
	}
}

// blocked counts the findings of a rule, which must be too many for the share.
func blocked(t *testing.T, name, server, rule string, p0 float64) int64 {
	t.Helper()
	f := gather(t, name)
	x := f.violations(server, rule)
	_, block := anytime(x, f.blocks(server, "").Blocks+x, p0)
	assert.True(t, block)
	return x
}

func TestBytesScenariosStandWhereTheySay(t *testing.T) {
	for _, tt := range []struct {
		name        string
		large       int64
		over        bool // the hard limit
		pass, block bool
	}{
		{"flip", 0, false, true, false},
		{"hold-bytes", 70, false, false, false},
		{"block-bytes-rate", 300, false, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := gather(t, tt.name)
			b := f.blocks(adsName, "")
			assert.Equal(t, tt.large, f.large[adsName])
			pass, block := anytime(f.large[adsName], b.Blocks, 0.01)
			assert.Equal(t, []bool{tt.pass, tt.block, tt.over}, []bool{pass, block, b.Largest > 16384})
			assert.Equal(t, tt.large > 0, b.Largest > 2048)
		})
	}
	f := gather(t, "block-bytes")
	assert.Greater(t, f.blocks(adsName, "").Largest, int64(16384))
}

func TestFleetHoldsEverything(t *testing.T) {
	f := gather(t, "fleet").tally
	kinds, codes, events, warnings, advisories := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, e := range f.Errors {
		if e.Valid {
			kinds[e.Kind] = true
		}
		codes[e.Code] = true
	}
	for _, n := range f.Normalizations {
		events[n.Kind] = true
	}
	for _, w := range f.Warnings {
		warnings[w.Kind] = true
	}
	for _, a := range f.Advisories {
		advisories[a.Rule] = true
	}
	for _, k := range payload.ErrorKinds {
		assert.True(t, kinds[k], k)
	}
	for _, k := range []string{"renamed", "dropped_alias", "coerced", "unknown_field_passed_through", "unknown_field_rejected"} {
		assert.True(t, events[k], k)
	}
	for _, w := range []string{
		"upstream_warning", "cached_or_stale_data", "partial_results", "marketplace_not_enabled_for_identity",
		"deprecated_parameter_accepted", "profile_scope_warning",
	} {
		assert.True(t, warnings[w], w)
	}
	assert.GreaterOrEqual(t, len(codes), 45, "codes of all sorts")
	assert.True(t, codes["SP_API_HTTP_429"] && codes["ADS_API_HTTP_403"] && codes["OPENBRIDGE_HTTP_502"] && codes["SCHEMA_ONE_OF_FAILED"])
	assert.True(t, advisories["code_unlisted"] && advisories["nested_envelope"])
	for _, e := range []string{"", "mcp.error_envelope", "mcp.response_meta", "mcp.tool_call", "mcp.capabilities", "mcp.conformance"} {
		assert.Positive(t, f.Events[e], "event %q", e)
	}
	for _, c := range []string{"text", "map", "none"} {
		assert.Positive(t, f.Carriers[c], c)
	}
	assert.Positive(t, f.Opaque)
	assert.Positive(t, f.Ignored)
	for _, r := range f.RateLimits {
		assert.Positive(t, min(r.AtZero, r.Textual, r.RetryAfters, r.RateLimits-r.AtZero-r.Textual), "%+v", r)
	}
	want := map[Finding]int64{}
	for _, b := range payload.Breakages() {
		for _, v := range b.Violations {
			want[Finding(v)]++
		}
	}
	got := map[string]map[Finding]int64{spName: {}, adsName: {}}
	for _, v := range f.Violations {
		got[v.Server][Finding{v.Rule, v.Path}] = v.Records
	}
	for server, g := range got {
		assert.Equal(t, want, g, server)
	}
}

// Finding is a violation, as a key.
type Finding payload.Finding

func TestStrictDeploymentsRejectAndOthersPassThrough(t *testing.T) {
	sc, err := LookupScenario("flip")
	require.NoError(t, err)
	strict := map[string]bool{}
	for _, s := range sc.fleet.Servers {
		for _, d := range s.Deployments {
			strict[d.ID] = d.Strict
		}
	}
	seen := 0
	for _, n := range gather(t, "flip").tally.Normalizations {
		switch n.Kind {
		case payload.KindRejected:
			assert.True(t, strict[n.Deployment], n.Deployment)
			seen++
		case payload.KindPassed:
			assert.False(t, strict[n.Deployment], n.Deployment)
			seen++
		}
	}
	assert.Equal(t, 6, seen)
}

func TestStreamsAreDeterministic(t *testing.T) {
	run := func(seed uint64) (out []Item) {
		sc, err := LookupScenario("fleet")
		require.NoError(t, err)
		s, err := NewStream(Options{Scenario: sc, Seed: seed, Days: 2, Records: 3000, ReplayID: "r", Until: testEnd})
		require.NoError(t, err)
		for it, ok := s.Next(); ok; it, ok = s.Next() {
			it.variant += it.src.index << 32
			it.src = nil
			out = append(out, it)
		}
		return out
	}
	first, again := run(1), run(1)
	assert.Equal(t, first, again)
	assert.NotEqual(t, run(1), run(2))
	assert.Len(t, run(1), 3000)
}

func TestStreamNeedsRoomForItsDeclarations(t *testing.T) {
	sc, err := LookupScenario("fleet")
	require.NoError(t, err)
	for _, records := range []int64{1, 8, 40} {
		_, err := NewStream(Options{Scenario: sc, Records: records, Now: time.Now})
		require.ErrorContains(t, err, "raise the number", "%d records", records)
	}
}

func TestLookupScenarioListsTheKnownOnes(t *testing.T) {
	_, err := LookupScenario("flop")
	require.ErrorContains(t, err, `scenario "flop" is unknown`)
	names := map[string]bool{}
	for _, s := range Scenarios() {
		assert.False(t, names[s.Name], "%s comes twice", s.Name)
		names[s.Name] = true
		require.ErrorContains(t, err, s.Name)
		assert.NotEmpty(t, s.Ships, s.Name)
		assert.Less(t, s.Records, 60_000, s.Name)
		assert.Equal(t, s.Expect.Verdict == VerdictFlip, len(s.Expect.Gates) == 0, s.Name)
		for verdict, prefix := range map[string]string{VerdictFlip: "flip", VerdictHold: "hold-", VerdictBlock: "block-"} {
			if strings.HasPrefix(s.Name, prefix) {
				assert.Equal(t, verdict, s.Expect.Verdict, s.Name)
			}
		}
	}
}

func TestDemoIsQuickAndSoundOnOneServer(t *testing.T) {
	f := gather(t, "demo")
	assert.Less(t, f.tally.Records, int64(20_000))
	assert.Empty(t, f.failing(spName, testEnd))
	failing := f.failing(adsName, testEnd)
	assert.Contains(t, failing, GateMalformed)
	assert.Contains(t, failing, GateOffTaxonomy)
}
