package render_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/soak"
	"github.com/soakgate/soakgate/internal/soak/policy"
	"github.com/soakgate/soakgate/internal/soak/render"
	"github.com/soakgate/soakgate/schemas"
)

var at = time.Date(2026, 3, 21, 15, 7, 23, 0, time.UTC)

// sample is a verdict with every member set.
func sample(d soak.Decision) soak.Verdict {
	low, high, confidence, day := 0.001, 0.0166, 0.95, at.AddDate(0, 0, 1)
	since := &soak.Since{At: at.Add(-time.Hour), Open: true}
	return soak.Verdict{
		Version: soak.VerdictVersion, Decision: d, AsOf: soak.AsOf{At: at}, TelemetryBefore: at.Truncate(time.Minute),
		Policy:   soak.PolicyRef{Name: "default", Hash: strings.Repeat("ab", 32), InForceSince: at.AddDate(0, -1, 0), Young: []string{"alpha was changed"}},
		Deciding: []soak.GateRef{{Server: "sp", Gate: policy.GateBytes}}, Unknown: []soak.GateRef{{Server: "*", Gate: policy.GateBooks}},
		ETA: &day, NoDate: []string{"sp complaints needs a review"}, ProposedDay: "2026-03-21", ValidUntil: &day, ReplayedData: true,
		Servers:  []soak.ServerRef{{Name: "sp", Candidates: []string{"1.4.0"}, Anchor: "2026-03-01", RunFrom: "2026-03-02", Paused: []string{"a/b"}}},
		Excluded: []soak.ServerRef{{Name: "openbridge", Reason: "not part"}},
		Gates: []soak.Gate{
			{Server: "*", Gate: policy.GateBooks, State: soak.StateUnknown, Why: "the books could not be read", Since: since},
			{Server: "sp", Gate: policy.GateScope, State: soak.StatePass, Why: "seen"},
			{Server: "sp", Gate: policy.GateOffTaxonomy, State: soak.StateWaived, Why: "accepted", Findings: []soak.Finding{{ID: "error_kind=odd@1", Text: "odd", Waived: true, Waivable: true}}},
			{Server: "sp", Gate: policy.GateMalformed, State: soak.StateBlock, Why: "one is malformed"},
			{
				Server: "sp", Gate: policy.GateBytes, State: soak.StateHold, Why: "1 of 300 blocks over 2,048 bytes do not yet show at most 1 %", Observed: "p99 2,000", Required: "at most 2,048",
				Measure: &soak.Measure{Numerator: 1, Denominator: 300, Low: &low, High: &high, Confidence: &confidence, Threshold: "1 %", Window: "since the anchor"},
				ETA:     &day, Needs: "396 more blocks", Lapses: &day, Parts: []soak.Part{{Name: "d0", State: soak.StateHold, Observed: "3", Required: "4"}}, Notes: []string{"a note"}, Since: since,
			},
		},
		Waivers: []soak.WaiverUse{{Waiver: policy.Waiver{Gate: policy.GateOffTaxonomy, Server: "sp", Finding: "error_kind=odd@1", Reason: "r", Who: "w", From: at, Until: day, Entered: at}, Status: soak.WaiverUsed}},
		Notes:   []string{"rests on replayed data"}, Since: since,
	}
}

var strata = []soak.Stratum{{Server: "sp", Kind: "renamed", Tool: "list", Deployment: "d0", Calls: 42}}

var decisions = []soak.Decision{soak.DecisionFlip, soak.DecisionHold, soak.DecisionBlock, soak.DecisionCouldNotTell}

// U51: text and Markdown give for each rule its figure and name what decided.
func TestTextAndMarkdownSayTheSame(t *testing.T) {
	v := sample(soak.DecisionHold)
	for name, text := range map[string]string{
		"text":     string(render.Text(v, strata, false)),
		"markdown": strings.ReplaceAll(string(render.Markdown(v, strata)), `\`, ""),
	} {
		for _, part := range []string{
			"HOLD", "decided by: sp bytes", "1 of 300", "at least 0.001", "at most 0.0166", "threshold 1 %", "window since the anchor", "396 more blocks",
			"2026-03-22T15:07:23Z", "rests on replayed data", "error_kind=odd@1", "waiver used", "excluded: openbridge (not part)", v.Policy.Hash, "young threshold", "a note", "renamed", "42",
			"the books could not be read", "unchanged since 2026-03-21T14:07:23Z or before",
		} {
			assert.Contains(t, text, part, name)
		}
		assert.NotContains(t, text, "\x1b", name)
	}
	assert.Contains(t, string(render.Text(v, nil, true)), "\x1b[33mhold", "colour only when asked for")
}

func TestEveryDecisionHasAName(t *testing.T) {
	for d, name := range map[soak.Decision]string{
		soak.DecisionFlip: "FLIP", soak.DecisionHold: "HOLD", soak.DecisionBlock: "BLOCK", soak.DecisionCouldNotTell: "COULD NOT TELL",
		soak.DecisionUnset: "COULD NOT TELL", "flip": "COULD NOT TELL",
	} {
		v := soak.Verdict{Decision: d}
		assert.True(t, strings.HasPrefix(string(render.Text(v, nil, false)), name+" "), d)
		assert.True(t, strings.HasPrefix(string(render.Markdown(v, nil)), "## Soak: "+name+"\n"), d)
	}
}

// Names come from senders: they must steer neither a terminal nor a page (R147).
func TestNamesFromSendersAreText(t *testing.T) {
	v := sample(soak.DecisionHold)
	v.Gates[4].Parts[0].Name = "\x1b]0;owned\x07"
	v.Gates[4].Why = "tool | <img src=x> [a](b) \n| *bold* `code` @everyone"
	hostile := []soak.Stratum{{Server: "sp", Kind: "renamed", Tool: "x\nFLIP \u202e", Deployment: "a|b", Calls: 1}}
	text := string(render.Text(v, hostile, false))
	assert.NotContains(t, text, "\x1b")
	assert.NotContains(t, text, "\nFLIP")
	assert.NotContains(t, text, "\u202e")
	markdown := string(render.Markdown(v, hostile))
	for _, raw := range []string{" <img", "[a]", "\n| *bold", "`code`", " @everyone"} {
		assert.NotContains(t, markdown, raw)
	}
	for line := range strings.Lines(markdown) {
		if strings.HasPrefix(line, "| bytes") {
			assert.Equal(t, 8, strings.Count(line, "|")-strings.Count(line, `\|`), "one row keeps its seven cells")
		}
	}
}

func TestJSONKeepsToItsSchema(t *testing.T) {
	text, err := schemas.Read("soak-verdict.schema.json")
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource("verdict", doc))
	schema, err := c.Compile("verdict")
	require.NoError(t, err)
	validate := func(v soak.Verdict) error {
		b, err := render.JSON(v)
		require.NoError(t, err)
		inst, err := jsonschema.UnmarshalJSON(strings.NewReader(string(b)))
		require.NoError(t, err)
		return schema.Validate(inst)
	}
	for _, d := range decisions {
		require.NoError(t, validate(sample(d)), d)
	}
	// Verdicts as they are judged: of nothing, and of what could not be read.
	p := policy.Default()
	p.Name, p.Servers = "n", []policy.Server{{Name: "sp"}}
	require.NoError(t, validate(soak.Judge(p, soak.Figures{}, soak.AsOf{At: at})))
	require.NoError(t, validate(soak.Judge(p, soak.Unread(soak.AsOf{At: at}, assert.AnError), soak.AsOf{At: at})))
	require.Error(t, validate(soak.Verdict{}), "the zero verdict has no decision")

	// The sample sets every member, so that the schema is held to all of them.
	var unset func(v reflect.Value, path string)
	unset = func(v reflect.Value, path string) {
		switch v.Kind() {
		case reflect.Pointer:
			if assert.False(t, v.IsNil(), path) {
				unset(v.Elem(), path)
			}
		case reflect.Struct:
			if v.Type() == reflect.TypeFor[time.Time]() {
				return
			}
			for i := range v.NumField() {
				unset(v.Field(i), path+"."+v.Type().Field(i).Name)
			}
		case reflect.Slice:
			if path == ".Gates" { // the last gate has everything but findings
				last := v.Index(v.Len() - 1)
				for i := range last.NumField() {
					if name := last.Type().Field(i).Name; name != "Findings" {
						unset(last.Field(i), path+"."+name)
					}
				}
				return
			}
			assert.NotZero(t, v.Len(), path)
		case reflect.String:
			assert.NotEmpty(t, v.String(), path)
		}
	}
	unset(reflect.ValueOf(sample(soak.DecisionFlip)), "")
	var gates []string
	for _, g := range doc.(map[string]any)["$defs"].(map[string]any)["gate_name"].(map[string]any)["enum"].([]any) {
		gates = append(gates, g.(string))
	}
	for _, g := range slices.Concat(policy.ServerGates, policy.OverallGates) {
		assert.Contains(t, gates, string(g))
	}
}

func TestJSONIsTheVerdict(t *testing.T) {
	b, err := render.JSON(sample(soak.DecisionBlock))
	require.NoError(t, err)
	var back soak.Verdict
	require.NoError(t, json.Unmarshal(b, &back))
	assert.Equal(t, sample(soak.DecisionBlock), back)
}

func TestPrometheus(t *testing.T) {
	for d, number := range map[soak.Decision]string{soak.DecisionFlip: "1", soak.DecisionHold: "0", soak.DecisionBlock: "-1", soak.DecisionCouldNotTell: "-2", soak.DecisionUnset: "-2"} {
		text, err := render.Prometheus(sample(d))
		require.NoError(t, err)
		problems, err := promlint.New(strings.NewReader(string(text))).Lint()
		require.NoError(t, err)
		assert.Empty(t, problems)
		assert.Contains(t, string(text), "\nsoakgate_soak_verdict "+number+"\n", d)
		for _, line := range []string{
			`soakgate_soak_gate{gate="books",server="*"} -2`, `soakgate_soak_gate{gate="scope",server="sp"} 1`, `soakgate_soak_gate{gate="off_taxonomy",server="sp"} 2`,
			`soakgate_soak_gate{gate="malformed",server="sp"} -1`, `soakgate_soak_gate{gate="bytes",server="sp"} 0`,
		} {
			assert.Contains(t, string(text), line)
		}
	}
}
