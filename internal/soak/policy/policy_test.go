package policy_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/soakgate/soakgate/config"
	"github.com/soakgate/soakgate/internal/soak/policy"
	"github.com/soakgate/soakgate/schemas"
)

const minimal = "version: 1\nname: n\nin_force_since: 2026-01-01T00:00:00Z\nservers: [{name: amazon_sp_mcp}]\n"

func TestBuiltInPolicyHasTheDefaultsOfTheDefinitions(t *testing.T) {
	p, err := policy.Parse(config.SoakPolicy)
	require.NoError(t, err)
	want := policy.Default()
	assert.Equal(t, want.Gates, p.Gates)
	assert.Equal(t, want.Alpha, p.Alpha)
	assert.ElementsMatch(t, want.Lockstep.Days, p.Lockstep.Days)
	assert.Equal(t, want.LookBack, p.LookBack)
	assert.Equal(t, want.CandidateWindow, p.CandidateWindow)
	assert.False(t, p.AllowReplay)
	var names []string
	for _, s := range p.Servers {
		names = append(names, s.Name)
	}
	assert.Equal(t, []string{"amazon_sp_mcp", "amazon_ads_mcp"}, names)
	openbridge, excluded := p.Excluded("openbridge_mcp")
	assert.True(t, excluded)
	assert.NotEmpty(t, openbridge.Reason)
}

// The numbers of docs/soak.md, one by one: a default that drifts is a defect.
func TestDefaultsByNumber(t *testing.T) {
	g := policy.Default().Gates
	for name, pair := range map[string][2]any{
		"D3 3 d":          {g.Version.MinAge.String(), "3d"},
		"D4 14 d":         {int64(g.Duration.Min), int64(14 * 86400)},
		"D4 off 1 h":      {g.Duration.OffAfter.String(), "1h"},
		"D4 hole 30 min":  {g.Duration.HoleAfter.String(), "30m"},
		"D4 pause 6 h":    {g.Duration.PauseAfter.String(), "6h"},
		"D4 restart 72 h": {g.Duration.RestartAfter.String(), "3d"},
		"D5":              {g.Deployments, policy.Deployments{Min: 3, MinCalls: 300, MinDays: 7, SeenWithin: 48 * policy.Hour, OffAfter: policy.Hour}},
		"D6 r":            {g.Malformed.MaxRate.String(), "0.001"},
		"D6 max_seen":     {g.Malformed.MaxSeen, int64(0)},
		"D8":              {g.Spread.MaxRate.String(), "0.01"},
		"D9 kinds":        {g.CoverageKinds, policy.CoverageKinds{MinCalls: 30, MinDeployments: 2, MinUnknownDeployments: 1}},
		"D9 tools":        {g.CoverageTools, policy.CoverageTools{InventoryFrom: 20, MinCalls: 20}},
		"D10 bytes":       {g.Bytes, policy.Bytes{P99: 2048, TailRate: 10_000, Max: 16384}},
		"D10 share":       {g.Share, policy.Share{Max: 50_000, MinKnown: 500_000}},
		"D11":             {g.Unreadable.MaxRate.String(), "0.002"},
		"D12":             {g.Conformance, policy.Conformance{MaxAge: 14 * policy.Day, AllowNotTested: []int64{5}}},
		"D13":             {g.Complaints.ReviewMaxAge.String(), "7d"},
		"D15 collector":   {g.Collectors, policy.Collectors{HeartbeatMaxAge: 10 * policy.Minute, PendingMaxAge: policy.Minute}},
		"D15 clocks":      {g.Clocks.MaxShare.String(), "0.001"},
		"alpha":           {policy.Default().Alpha.String(), "0.05"},
	} {
		assert.Equal(t, pair[1], pair[0], name)
	}
}

func TestDemoPolicyDiffersInReplayAlone(t *testing.T) {
	demo, err := policy.Parse(config.DemoPolicy)
	require.NoError(t, err)
	def, err := policy.Parse(config.SoakPolicy)
	require.NoError(t, err)
	assert.True(t, demo.AllowReplay)
	demo.AllowReplay, demo.Name, demo.Changes = false, def.Name, def.Changes
	for i := range demo.Servers {
		demo.Servers[i].Tools = []string{}
		def.Servers[i].Tools = []string{}
	}
	demo.Lockstep.Days = def.Lockstep.Days // the same set, in another order
	assert.Equal(t, def, demo)
}

func TestPolicyErrorsNameLineAndKey(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"empty file", "", []string{"line 1", "empty"}},
		{"only comments", "# nothing\n", []string{"line 1"}},
		{"no servers", "version: 1\nname: n\nin_force_since: 2026-01-01T00:00:00Z\n", []string{"servers", "at least one server"}},
		{"empty list of servers", strings.Replace(minimal, "[{name: amazon_sp_mcp}]", "[]", 1), []string{"line 4", "servers"}},
		{"unknown key", minimal + "allow_replays: true\n", []string{"line 5", "allow_replays", `did you mean "allow_replay"`}},
		{"misspelt gate", minimal + "gates:\n  malfromed: {max_seen: 1}\n", []string{"line 6", "gates.malfromed", `did you mean "malformed"`}},
		{"unknown metric", minimal + "gates:\n  latency: {max: 3}\n", []string{"line 6", "gates.latency", "unknown key", "known here"}},
		{"threshold given as text", minimal + "gates:\n  deployments:\n    min: three\n", []string{"line 7", "gates.deployments.min", `a whole number`, `text "three"`}},
		{"number given as quoted text", minimal + "gates:\n  deployments:\n    min: \"3\"\n", []string{"line 7", "gates.deployments.min", "whole number"}},
		{"rate given as text", minimal + "gates:\n  malformed: {max_rate: low}\n", []string{"line 6", "gates.malformed.max_rate", "rate"}},
		{"rate given as percent", minimal + "gates:\n  malformed: {max_rate: 1%}\n", []string{"line 6", "gates.malformed.max_rate"}},
		{"rate over one", minimal + "alpha: 1.5\n", []string{"line 5", "alpha"}},
		{"rate with too many decimals", minimal + "alpha: 0.0000001\n", []string{"line 5", "six decimals"}},
		{"rate of zero", minimal + "gates:\n  malformed: {max_rate: 0}\n", []string{"line 6", "above 0"}},
		{"duration without unit", minimal + "gates:\n  duration: {min: 14}\n", []string{"line 6", "gates.duration.min", "14d"}},
		{"duration in words", minimal + "gates:\n  duration: {min: two weeks}\n", []string{"gates.duration.min"}},
		{"duration of nothing", minimal + "gates:\n  duration: {min: 0d}\n", []string{"gates.duration.min", "at least"}},
		{"duration of seconds", minimal + "gates:\n  duration: {min: 90s}\n", []string{"gates.duration.min", "whole minutes"}},
		{"silence too short for the figures", minimal + "gates:\n  duration: {off_after: 10m}\n", []string{"gates.duration.off_after", "at least 16m"}},
		{"null threshold", minimal + "gates:\n  deployments: {min: }\n", []string{"gates.deployments.min", "nothing"}},
		{"boolean given as text", minimal + "allow_replay: \"yes\"\n", []string{"line 5", "allow_replay", "true or false"}},
		{"key given twice", minimal + "name: other\n", []string{"line 5", "given twice", "line 2"}},
		{"list given as text", strings.Replace(minimal, "[{name: amazon_sp_mcp}]", "amazon_sp_mcp", 1), []string{"line 4", "servers", "a list"}},
		{"server twice", strings.Replace(minimal, "}]", "}, {name: amazon_sp_mcp}]", 1), []string{"servers[1].name", "twice"}},
		{"server both listed and excluded", minimal + "exclude: [{name: amazon_sp_mcp, reason: r}]\n", []string{"exclude[0].name", "twice"}},
		{"exclusion without reason", minimal + "exclude: [{name: x}]\n", []string{"exclude[0]", "reason"}},
		{"server named like all servers", strings.Replace(minimal, "amazon_sp_mcp", `"*"`, 1), []string{"servers[0].name"}},
		{"instant without offset", strings.Replace(minimal, "2026-01-01T00:00:00Z", "2026-01-01T00:00:00", 1), []string{"line 3", "in_force_since", "offset"}},
		{"wrong version", strings.Replace(minimal, "version: 1", "version: 2", 1), []string{"line 1", "version"}},
		{"version left out", strings.Replace(minimal, "version: 1\n", "", 1), []string{"version"}},
		{"no name", strings.Replace(minimal, "name: n\n", "", 1), []string{"name"}},
		{"unknown zone", minimal + "lockstep: {zone: Mars/Olympus}\n", []string{"line 5", "lockstep.zone"}},
		{"unknown day", minimal + "lockstep: {days: [monday]}\n", []string{"lockstep.days[0]", "monday"}},
		{"bad cut-off", minimal + "lockstep: {cut_off: \"25:00\"}\n", []string{"lockstep.cut_off"}},
		{"conformance item out of range", minimal + "gates:\n  conformance: {allow_not_tested: [7]}\n", []string{"allow_not_tested[0]"}},
		{"change of an unknown threshold", minimal + "changes: [{key: gates.nope, at: 2026-01-01T00:00:00Z}]\n", []string{"changes[0].key", "gates.nope"}},
		{"alias", minimal + "exclude: [{name: &x y, reason: *x}]\n", []string{"anchors and aliases"}},
		{"two documents", minimal + "---\n" + minimal, []string{"one document"}},
		{"not YAML", "servers: [", []string{"line 1"}},
		{"hard limit below the soft one", minimal + "gates:\n  bytes: {max: 100}\n", []string{"gates.bytes.max"}},
		{"look back shorter than the soak", minimal + "look_back: 7d\n", []string{"look_back", "gates.duration.min"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := policy.Parse([]byte(tt.text))
			require.Error(t, err)
			for _, part := range tt.want {
				assert.Contains(t, err.Error(), part)
			}
			assert.Empty(t, p.Servers, "a refused policy judges nothing")
		})
	}
	_, err := policy.Parse([]byte(minimal))
	require.NoError(t, err, "the text that the cases break is good")
}

const goodWaiver = `waivers:
  - gate: off_taxonomy
    server: amazon_sp_mcp
    finding: error_kind=precondition_failed@1.4.2
    reason: known
    who: release manager
    entered: 2026-01-02T00:00:00Z
    from: 2026-01-02T00:00:00Z
    until: 2026-02-02T00:00:00Z
`

func TestWaivers(t *testing.T) {
	_, err := policy.Parse([]byte(minimal + goodWaiver))
	require.NoError(t, err)
	for _, tt := range []struct{ name, from, to, want string }{
		{"server not listed", "server: amazon_sp_mcp", "server: amazon_spp_mcp", "not listed"},
		{"all servers for a server's gate", "server: amazon_sp_mcp", `server: "*"`, "listed server"},
		{"misspelt gate", "gate: off_taxonomy", "gate: off_taxnomy", "unknown gate"},
		{"sample size", "gate: off_taxonomy", "gate: malformed", "no finding that can be waived"},
		{"conformance", "gate: off_taxonomy", "gate: conformance", "no finding that can be waived"},
		{"deployments", "gate: off_taxonomy", "gate: deployments", "no finding that can be waived"},
		{"no reason", "reason: known", `reason: ""`, "reason"},
		{"nobody", "who: release manager", `who: ""`, "who"},
		{"no finding", "finding: error_kind=precondition_failed@1.4.2", `finding: ""`, "finding"},
		{"ends before it begins", "until: 2026-02-02", "until: 2026-01-01", "after from"},
		{"never ends", "    until: 2026-02-02T00:00:00Z\n", "", "until"},
		{"never entered", "    entered: 2026-01-02T00:00:00Z\n", "", "entered"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Contains(t, goodWaiver, tt.from)
			_, err := policy.Parse([]byte(minimal + strings.Replace(goodWaiver, tt.from, tt.to, 1)))
			require.ErrorContains(t, err, tt.want)
			require.ErrorContains(t, err, "waivers[0]")
			assert.ErrorContains(t, err, "line ")
		})
	}
}

func TestSampleShowsEverySetting(t *testing.T) {
	var doc map[string]any
	require.NoError(t, yaml.Unmarshal(config.SoakPolicy, &doc))
	for _, key := range policy.Keys() {
		var at any = doc
		for part := range strings.SplitSeq(key, ".") {
			m, ok := at.(map[string]any)
			require.True(t, ok, key)
			require.Contains(t, m, part, "config/soak-policy.yaml does not show %s", key)
			at = m[part]
		}
	}
}

func TestSchemaAgreesWithTheParser(t *testing.T) {
	text, err := schemas.Read("soak-policy.schema.json")
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource("policy", doc))
	schema, err := c.Compile("policy")
	require.NoError(t, err)
	valid := func(text string) error {
		var v any
		require.NoError(t, yaml.Unmarshal([]byte(text), &v))
		b, err := json.Marshal(v)
		require.NoError(t, err)
		inst, err := jsonschema.UnmarshalJSON(strings.NewReader(string(b)))
		require.NoError(t, err)
		return schema.Validate(inst)
	}
	for name, good := range map[string]string{"built in": string(config.SoakPolicy), "demo": string(config.DemoPolicy), "minimal": minimal, "waiver": minimal + goodWaiver} {
		require.NoError(t, valid(good), name)
	}
	for name, bad := range map[string]string{
		"unknown key":    minimal + "allow_replays: true\n",
		"misspelt gate":  minimal + "gates: {malfromed: {}}\n",
		"text threshold": minimal + "gates: {deployments: {min: three}}\n",
		"no servers":     "version: 1\nname: n\nin_force_since: 2026-01-01T00:00:00Z\nservers: []\n",
		"plain duration": minimal + "look_back: 90\n",
		"waived size":    minimal + strings.Replace(goodWaiver, "off_taxonomy", "malformed", 1),
	} {
		require.Error(t, valid(bad), name)
		_, err := policy.Parse([]byte(bad))
		require.Error(t, err, name)
	}
	// Every member of the policy has its place in the schema, and no other has.
	var properties func(schema map[string]any, prefix string) []string
	properties = func(schema map[string]any, prefix string) []string {
		var keys []string
		members, _ := schema["properties"].(map[string]any)
		for name, sub := range members {
			sub := sub.(map[string]any)
			if sub["type"] == "object" {
				keys = append(keys, properties(sub, prefix+name+".")...)
			} else {
				keys = append(keys, prefix+name)
			}
		}
		return keys
	}
	keys := properties(doc.(map[string]any), "")
	slices.Sort(keys)
	assert.Equal(t, policy.Keys(), keys)
}

func TestHashIsOfWhatIsSaidNotHow(t *testing.T) {
	hash := func(text string) string {
		p, err := policy.Parse([]byte(text))
		require.NoError(t, err)
		h, err := p.Hash()
		require.NoError(t, err)
		return h
	}
	assert.Len(t, hash(minimal), 64)
	assert.Equal(t, hash(minimal), hash("# a comment\n"+minimal+"gates: {malformed: {max_rate: 0.0010}}\n"))
	assert.NotEqual(t, hash(minimal), hash(minimal+"gates: {malformed: {max_rate: 0.002}}\n"))
	assert.NotEqual(t, hash(minimal), hash(minimal+"allow_replay: true\n"))
}

func TestCanonicalRoundTrip(t *testing.T) {
	for name, text := range map[string]string{"built in": string(config.SoakPolicy), "waiver": minimal + goodWaiver} {
		p, err := policy.Parse([]byte(text))
		require.NoError(t, err, name)
		b, err := p.Canonical()
		require.NoError(t, err, name)
		q, err := policy.FromCanonical(b)
		require.NoError(t, err, name)
		again, err := q.Canonical()
		require.NoError(t, err, name)
		assert.Equal(t, string(b), string(again), name)
	}
	_, err := policy.FromCanonical([]byte(`{"version":1,"name":"n","surprise":true}`))
	require.ErrorContains(t, err, "surprise")
	_, err = policy.FromCanonical([]byte(`{}`))
	require.Error(t, err, "the zero policy judges nothing")
}

func TestUnits(t *testing.T) {
	for text, want := range map[string]policy.Duration{"14d": 14 * policy.Day, "1h30m": 5400, "60s": 60, "13d23h59m": 14*policy.Day - 60} {
		var d policy.Duration
		require.NoError(t, d.SetText(text), text)
		assert.Equal(t, want, d, text)
	}
	assert.Equal(t, "13d23h59m", (14*policy.Day - 60).String())
	assert.Equal(t, "-1h", (-policy.Hour).String())
	for _, bad := range []string{"", "d", "14", "-3d", "3m2d", "1.5h", "3 d", "99999999d", "1d1d", "999999999d"} {
		var d policy.Duration
		require.Error(t, d.SetText(bad), bad)
		assert.Zero(t, d, bad)
	}
	for text, want := range map[string]policy.Rate{"0.001": 1000, "1": policy.One, "0.5": 500_000, ".5": 500_000, "0": 0, "1.000000": policy.One} {
		var r policy.Rate
		require.NoError(t, r.SetText(text), text)
		assert.Equal(t, want, r, text)
		var again policy.Rate
		require.NoError(t, again.SetText(r.String()))
		assert.Equal(t, r, again, text)
	}
	for _, bad := range []string{"", ".", "2", "-0.1", "1e-3", "0,1", "+.5", "1.1", "10"} {
		var r policy.Rate
		assert.Error(t, r.SetText(bad), bad)
	}
}

func TestLockstepDay(t *testing.T) {
	l := policy.Lockstep{Zone: "America/New_York", Days: []string{"mon", "tue", "wed", "thu"}, CutOff: "16:00"}
	for _, tt := range []struct{ name, at, day, end string }{
		{"before the cut-off", "2026-03-04T20:59:59Z", "2026-03-04", "2026-03-05T05:00:00Z"},
		{"at the cut-off the next day", "2026-03-04T21:00:00Z", "2026-03-05", "2026-03-06T05:00:00Z"},
		{"the local date, not the UTC one", "2026-03-05T03:00:00Z", "2026-03-05", "2026-03-06T05:00:00Z"},
		{"over a weekend with a change of clocks", "2026-03-06T12:00:00Z", "2026-03-09", "2026-03-10T04:00:00Z"},
		{"Thursday evening", "2026-03-05T22:00:00Z", "2026-03-09", "2026-03-10T04:00:00Z"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			at, err := time.Parse(time.RFC3339, tt.at)
			require.NoError(t, err)
			day, end := l.Day(at)
			assert.Equal(t, tt.day, day)
			assert.Equal(t, tt.end, end.Format(time.RFC3339))
		})
	}
	whole := policy.Lockstep{Zone: "UTC", Days: []string{"fri"}, CutOff: "24:00"}
	day, end := whole.Day(time.Date(2026, 3, 6, 23, 59, 59, 0, time.UTC))
	assert.Equal(t, "2026-03-06", day)
	assert.Equal(t, "2026-03-07T00:00:00Z", end.Format(time.RFC3339))
	day, _ = policy.Lockstep{}.Day(time.Now())
	assert.Empty(t, day, "an unchecked policy proposes no day")
}

func TestGatesAreNamedOnce(t *testing.T) {
	for name, list := range map[string][]policy.Gate{"server": policy.ServerGates, "overall": policy.OverallGates} {
		sorted := slices.Clone(list)
		slices.Sort(sorted)
		assert.Len(t, slices.Compact(sorted), len(list), name)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(string(config.SoakPolicy))
	f.Add(minimal + goodWaiver)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := policy.Parse([]byte(text))
		if err != nil {
			return
		}
		// What is accepted names a server and survives its canonical form.
		require.NotEmpty(t, p.Servers)
		b, err := p.Canonical()
		require.NoError(t, err)
		_, err = policy.FromCanonical(b)
		require.NoError(t, err)
	})
}
