package fleet

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/soakgate/soakgate/internal/ship/payload"
)

// The verdicts that a scenario can be made for.
const (
	VerdictFlip  = "FLIP"
	VerdictHold  = "HOLD"
	VerdictBlock = "BLOCK"
)

// The gates that scenarios are made for, by their definitions.
const (
	GateScope         = "scope"            // D2
	GateVersion       = "version"          // D3
	GateDuration      = "duration"         // D4
	GateDeployments   = "deployments"      // D5
	GateMalformed     = "malformed"        // D6
	GateSpread        = "spread"           // D8
	GateCoverageKinds = "coverage_kinds"   // D9
	GateCoverageTools = "coverage_tools"   // D9
	GateBytes         = "bytes"            // D10
	GateShare         = "share"            // D10
	GateOffTaxonomy   = "off_taxonomy"     // D11
	GateUnreadable    = "unreadable"       // D11
	GateConformance   = "conformance"      // D12
	GateLegacy        = "legacy_window"    // D14
	GateDefaults      = "declared_default" // D14
	GateStrict        = "strict_modes"     // D14
	GateLateness      = "lateness"         // D15
)

// Gate names one gate of one server.
type Gate struct {
	Server string `json:"server"`
	Gate   string `json:"gate"`
}

// Expectation is the verdict of a soak that saw nothing but the scenario, with
// replays allowed, recent reviews recorded and no complaint. Each gate named
// must be among the deciding ones.
type Expectation struct {
	Verdict string `json:"verdict"`
	Gates   []Gate `json:"gates,omitempty"`
}

// String names the verdict and the gates that decide it.
func (e Expectation) String() string {
	var s strings.Builder
	s.WriteString(e.Verdict)
	for i, g := range e.Gates {
		sep := ", "
		if i == 0 {
			sep = " by "
		}
		s.WriteString(sep + g.Server + "/" + g.Gate)
	}
	return s.String()
}

// Scenario is a fleet, how much it sends, and what must come of it.
type Scenario struct {
	Name    string      `json:"name"`
	Ships   string      `json:"ships"`   // in a sentence
	Days    int         `json:"days"`    // default of --days
	Records int         `json:"records"` // default of --records
	Expect  Expectation `json:"expect"`
	fleet   Fleet
}

const (
	replayDays    = 20     // outlasts the 14 days of D4 with room for a pause
	replayRecords = 40_000 // about 7,000 blocks a server against the 3,688 of D6
	fewRecords    = 12_000 // about 2,100 blocks a server: enough for all but D6
)

// entry is a scenario as the difference from the sound fleet.
type entry struct {
	name, ships   string
	days, records int // 0: those of a replay
	verdict       string
	gates         []Gate
	change        func(*Fleet)
}

func sp(gate string) []Gate  { return []Gate{{spName, gate}} }
func ads(gate string) []Gate { return []Gate{{adsName, gate}} }
func both(gates ...string) (out []Gate) {
	for _, g := range gates {
		out = append(out, Gate{spName, g}, Gate{adsName, g})
	}
	return out
}

// inject has a server send so many of a payload.
func inject(server, what string, count int) func(*Fleet) {
	return func(f *Fleet) {
		s := f.server(server)
		s.Inject = append(s.Inject, Injection{what, count})
	}
}

// breakAll has the servers break the contract in every way, once each.
func breakAll(servers ...string) func(*Fleet) {
	return func(f *Fleet) {
		for _, s := range servers {
			for _, b := range payload.Breakages() {
				inject(s, b.Name, 1)(f)
			}
		}
	}
}

// phases gives every deployment of a server the same history.
func phases(server string, ps ...Phase) func(*Fleet) {
	return func(f *Fleet) {
		for i := range f.server(server).Deployments {
			f.server(server).Deployments[i].Phases = ps
		}
	}
}

func all(changes ...func(*Fleet)) func(*Fleet) {
	return func(f *Fleet) {
		for _, c := range changes {
			c(f)
		}
	}
}

// table holds all scenarios; each says what it changes and nothing else.
var table = []entry{
	{
		name: "fleet", ships: "all that servers emit now: every error kind and normalization, rate limits, warnings, every breakage once a server", days: -1, records: 10_000,
		verdict: VerdictBlock, gates: both(GateMalformed, GateOffTaxonomy), change: breakAll(spName, adsName),
	},
	{
		name: "demo", ships: "16 days in which amazon_sp_mcp is sound and amazon_ads_mcp breaks the contract once in every way", days: 16, records: 18_000,
		verdict: VerdictBlock, gates: append(ads(GateMalformed), ads(GateOffTaxonomy)...), change: all(breakAll(adsName), func(f *Fleet) {
			for i := range f.Servers {
				for j := range f.Servers[i].Deployments {
					m := &f.Servers[i].Deployments[j].Mix
					m.Call, m.Block = m.Call-140, m.Block+140 // blocks enough for D6 in few records
				}
			}
		}),
	},
	{
		name: "twins", ships: "live traffic in which three of ten failed calls are told of twice", days: -1, records: 10_000,
		verdict: VerdictHold, gates: both(GateDuration), change: func(f *Fleet) { f.Twins = 300 },
	},
	{name: "flip", ships: "20 sound days", verdict: VerdictFlip},
	{
		name: "flip-pause", ships: "20 sound days but for ten silent hours of amazon_sp_mcp, which pause its clock", verdict: VerdictFlip,
		change: func(f *Fleet) { f.server(spName).Quiet = Span{6 * day, 6*day - 10*time.Hour} },
	},

	{
		name: "hold-scope", ships: "amazon_sp_mcp alone", verdict: VerdictHold, gates: ads(GateScope),
		change: func(f *Fleet) { f.Servers = f.Servers[:1] },
	},
	{
		name: "hold-unlisted-server", ships: "production traffic of walmart_mcp too, which no policy lists", verdict: VerdictHold, gates: []Gate{{"*", GateScope}},
		change: func(f *Fleet) {
			f.Servers = append(f.Servers, Server{Name: "walmart_mcp", Deployments: []Deployment{{
				ID: "wm-us", Environment: "production", Instances: 1, Weight: 1, Strict: true, Mix: usualMix, Phases: []Phase{{Version: "0.3.0", Option: true}},
			}}})
		},
	},
	{
		name: "hold-version", ships: "a patch release of amazon_sp_mcp that one deployment took 20 hours ago", verdict: VerdictHold, gates: sp(GateVersion),
		change: func(f *Fleet) {
			s := f.server(spName)
			s.Deployments[2].Phases = append(s.Deployments[2].Phases, Phase{20 * time.Hour, "1.12.4", true})
			s.Conformance = append(s.Conformance, Conformance{Age: 21 * time.Hour, Version: "1.12.4"})
		},
	},
	{name: "hold-duration", ships: "10 sound days", days: 10, verdict: VerdictHold, gates: both(GateDuration)},
	{
		name: "hold-gap", ships: "four silent days of amazon_sp_mcp, which restart its clock", verdict: VerdictHold, gates: sp(GateDuration),
		change: func(f *Fleet) { f.server(spName).Quiet = Span{12 * day, 8 * day} },
	},
	{
		name: "hold-option-off", ships: "the option off for three hours on all of amazon_sp_mcp, five days ago", verdict: VerdictHold,
		gates:  append(sp(GateDuration), sp(GateDeployments)...),
		change: phases(spName, Phase{0, spVersion, true}, Phase{5 * day, spVersion, false}, Phase{5*day - 3*time.Hour, spVersion, true}),
	},
	{
		name: "hold-deployments", ships: "a third deployment of amazon_sp_mcp that is staging", verdict: VerdictHold, gates: sp(GateDeployments),
		change: func(f *Fleet) { f.server(spName).Deployments[2].Environment = "staging" },
	},
	{name: "hold-malformed-sample", ships: "too few blocks to bound the malformed share", records: fewRecords, verdict: VerdictHold, gates: both(GateMalformed)},
	{
		name: "block-malformed", ships: "one malformed block of amazon_sp_mcp among thousands", verdict: VerdictBlock, gates: sp(GateMalformed),
		change: inject(spName, "block-to-missing", 1),
	},
	{
		name: "hold-spread", ships: "one deployment of amazon_sp_mcp with nearly all of its blocks", verdict: VerdictHold, gates: sp(GateSpread),
		change: func(f *Fleet) {
			ds := f.server(spName).Deployments
			ds[0].Weight = 14
			ds[1].Mix, ds[2].Mix, ds[2].Strict = fewBlocksMix, fewBlocksMix, true
		},
	},
	{
		name: "hold-coverage-kind", ships: "twelve calls of amazon_sp_mcp with dropped_alias, where 30 are asked for", verdict: VerdictHold, gates: sp(GateCoverageKinds),
		change: all(inject(spName, specialDropped, 12), func(f *Fleet) { f.server(spName).Without = []string{payload.KindDropped} }),
	},
	{
		name: "hold-coverage-tool", ships: "a tool of amazon_sp_mcp that only a deployment with the option off calls", verdict: VerdictHold, gates: sp(GateCoverageTools),
		change: func(f *Fleet) {
			s := f.server(spName)
			s.Deployments = append(s.Deployments, Deployment{
				ID: "sp-sa-east", Environment: "production", Instances: 1, Weight: 1, Strict: true, Tools: []string{"get_order_metrics"},
				Mix: usualMix, Phases: []Phase{{Version: spVersion}},
			})
		},
	},
	{name: "block-bytes", ships: "two blocks of amazon_ads_mcp over 16 KiB", verdict: VerdictBlock, gates: ads(GateBytes), change: inject(adsName, specialHuge, 2)},
	{name: "block-bytes-rate", ships: "four in a hundred blocks of amazon_ads_mcp over 2 KiB", verdict: VerdictBlock, gates: ads(GateBytes), change: inject(adsName, specialLarge, 300)},
	{
		name: "hold-bytes", ships: "one in a hundred blocks of amazon_ads_mcp over 2 KiB, which is neither within the limit for sure nor beyond", verdict: VerdictHold, gates: ads(GateBytes),
		change: inject(adsName, specialLarge, 70),
	},
	{
		name: "block-share", ships: "answers so small that the blocks are over 5 % of them", verdict: VerdictBlock, gates: both(GateShare),
		change: func(f *Fleet) { f.AnswerBytes = 900 },
	},
	{
		name: "hold-share", ships: "answers of which only three in ten tell their size", verdict: VerdictHold, gates: both(GateShare),
		change: func(f *Fleet) { f.SizeUnknown = 700 },
	},
	{
		name: "block-off-taxonomy", ships: "three envelopes of amazon_ads_mcp with precondition_failed", verdict: VerdictBlock, gates: ads(GateOffTaxonomy),
		change: inject(adsName, "off-taxonomy", 3),
	},
	{
		name: "block-off-taxonomy-kind", ships: "three events of amazon_sp_mcp with the reserved kind unknown_field_dropped", verdict: VerdictBlock, gates: sp(GateOffTaxonomy),
		change: inject(spName, "block-off-taxonomy", 3),
	},
	{name: "block-unreadable", ships: "one in a hundred envelopes of amazon_sp_mcp cut short", verdict: VerdictBlock, gates: sp(GateUnreadable), change: inject(spName, "text-cut", 120)},
	{name: "hold-unreadable", ships: "one in five hundred envelopes of amazon_sp_mcp cut short", verdict: VerdictHold, gates: sp(GateUnreadable), change: inject(spName, "text-cut", 22)},
	{
		name: "block-conformance", ships: "a conformance run in which amazon_sp_mcp failed item 3", verdict: VerdictBlock, gates: sp(GateConformance),
		change: func(f *Fleet) { f.server(spName).Conformance[1].Failed = "3" },
	},
	{
		name: "hold-conformance", ships: "no conformance run of amazon_sp_mcp", verdict: VerdictHold, gates: sp(GateConformance),
		change: func(f *Fleet) { f.server(spName).Conformance = nil },
	},
	{
		name: "hold-conformance-old", ships: "no conformance run of amazon_sp_mcp in the last 19 days", verdict: VerdictHold, gates: sp(GateConformance),
		change: func(f *Fleet) { f.server(spName).Conformance = f.server(spName).Conformance[:1] },
	},
	{
		name: "block-legacy", ships: "a legacy_error_kind that outlives its release of amazon_sp_mcp", verdict: VerdictBlock, gates: sp(GateLegacy),
		change: phases(spName, Phase{0, "1.11.9", true}, Phase{15 * day, spVersion, true}),
	},
	{
		name: "block-defaults", ships: "amazon_ads_mcp declaring the option on by default", verdict: VerdictBlock, gates: ads(GateDefaults),
		change: func(f *Fleet) { f.server(adsName).Capabilities.MetaDefault = true },
	},
	{
		name: "hold-defaults", ships: "no declaration of amazon_sp_mcp", verdict: VerdictHold, gates: sp(GateDefaults),
		change: func(f *Fleet) { f.server(spName).Capabilities = nil },
	},
	{
		name: "hold-strict-mixed", ships: "a deployment of amazon_sp_mcp that both rejects and passes through unknown fields", verdict: VerdictHold, gates: sp(GateStrict),
		change: func(f *Fleet) { f.server(spName).Deployments[1].Mixed = true },
	},
	{
		name: "hold-late", ships: "three in a hundred records that arrive over a day late, without being part of the replay", verdict: VerdictHold, gates: both(GateLateness),
		change: func(f *Fleet) { f.Late = 30 },
	},
}

// Scenarios lists all scenarios in the order in which they are shown.
func Scenarios() []Scenario {
	out := make([]Scenario, len(table))
	for i, r := range table {
		out[i] = r.scenario()
	}
	return out
}

func (r *entry) scenario() Scenario {
	s := Scenario{
		Name: r.name, Ships: r.ships, Days: r.days, Records: r.records,
		Expect: Expectation{r.verdict, slices.Clone(r.gates)}, fleet: soundFleet(),
	}
	switch s.Days {
	case 0:
		s.Days = replayDays
	case -1:
		s.Days = 0
	}
	if s.Records == 0 {
		s.Records = replayRecords
	}
	if r.change != nil {
		r.change(&s.fleet)
	}
	return s
}

// LookupScenario finds a scenario by name; its error lists the known ones.
func LookupScenario(name string) (Scenario, error) {
	var names []string
	for i := range table {
		if table[i].name == name {
			return table[i].scenario(), nil
		}
		names = append(names, table[i].name)
	}
	return Scenario{}, fmt.Errorf("scenario %q is unknown: want one of %s", name, strings.Join(names, ", "))
}
