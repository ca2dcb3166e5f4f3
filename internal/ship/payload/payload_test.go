package payload

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
)

// parse reads a text as a JSON object, and gives what stands behind it.
func parse(t *testing.T, s string) (map[string]any, string) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	var v map[string]any
	require.NoError(t, d.Decode(&v), s)
	rest, err := io.ReadAll(io.MultiReader(d.Buffered(), strings.NewReader("")))
	require.NoError(t, err)
	return v, strings.TrimSpace(string(rest))
}

func TestBreakagesBreakWhatTheySay(t *testing.T) {
	for _, prefix := range []string{"sp", "ads"} {
		for _, b := range Breakages() {
			t.Run(prefix+"/"+b.Name, func(t *testing.T) {
				p := b.Broken(prefix, "get_report")
				assert.Equal(t, b.Violations, p.Violations)
				if p.Doc == nil {
					assert.Equal(t, []Finding{{"invalid_json", ""}}, b.Violations)
					assert.Contains(t, p.Tail, `"error_kind"`, "it must purport to be an envelope (R6)")
					var v any
					require.Error(t, json.Unmarshal([]byte(p.Tail), &v))
					assert.Empty(t, p.Shape+p.Kind+p.Code)
					return
				}
				s := Text(p.Doc, Compact)
				v, _ := parse(t, s)
				found := judge(prefix, v)
				if strings.Count(s, `"tool":`) > 1 {
					found = append(found, Finding{"duplicate_key", "/tool"})
				}
				if p.Tail != "" {
					found = append(found, Finding{"trailing_data", ""})
				}
				assert.ElementsMatch(t, b.Violations, found)
			})
		}
	}
}

func TestSoundPayloadsKeepTheContract(t *testing.T) {
	check := func(prefix string, p *Payload) {
		p.Settle()
		v, rest := parse(t, Text(p.Doc, Spaced))
		assert.Empty(t, judge(prefix, v), Text(p.Doc, Compact))
		assert.Empty(t, rest)
	}
	for _, prefix := range []string{"sp", "ads", ""} {
		for i, e := range ErrorsOf(prefix) {
			p := Envelope(e, "t")
			check(prefix, p)
			p.Normalize(Block([]string{KindRenamed, KindCoerced}, Fields[i%len(Fields)]))
			check(prefix, p)
		}
		for i := range 8 {
			for _, m := range Telemetry(prefix, i) {
				check(prefix, MetaAnswer("t", m, i%3))
			}
		}
		for _, k := range []string{KindRenamed, KindDropped, KindCoerced, KindPassed, KindRejected} {
			check(prefix, MetaAnswer("t", Block([]string{k}, "limit"), 0))
		}
	}
}

func TestSettleReadsTheTruth(t *testing.T) {
	first := func(prefix, code string) ErrorCase {
		es := ErrorsOf(prefix)
		i := slices.IndexFunc(es, func(e ErrorCase) bool { return e.code == code })
		require.GreaterOrEqual(t, i, 0)
		return es[i]
	}
	for _, tt := range []struct {
		name string
		p    *Payload
		want Truth
	}{
		{
			"pre-flight limiter", Envelope(first("sp", "RATE_LIMITED"), "get_orders"),
			Truth{
				Event: "mcp.error_envelope", Tool: "get_orders", Outcome: "error", Ours: true, Shape: "mcp_envelope_v1",
				Kind: "rate_limited", Code: "RATE_LIMITED", RateLimit: true, AtZero: true, RetryAfter: 4, AnswerBytes: -1,
			},
		},
		{
			"upstream limiter in text", Envelope(first("ads", "ADS_API_HTTP_429"), "get_report"),
			Truth{
				Event: "mcp.error_envelope", Tool: "get_report", Outcome: "error", Ours: true, Shape: "mcp_envelope_v1",
				Kind: "rate_limited", Code: "ADS_API_HTTP_429", RateLimit: true, Textual: true, RetryAfter: 1.5, AnswerBytes: -1,
			},
		},
		{
			"block", MetaAnswer("t", Block([]string{KindRenamed, KindCoerced}, "limit"), 0),
			Truth{
				Event: "mcp.response_meta", Tool: "t", Outcome: "success", Ours: true, Shape: "meta_success", Block: true,
				Normalized: []string{"renamed", "coerced"}, RetryAfter: -1, AnswerBytes: -1,
				NormalizedBytes: int64(len(`"normalized":[{"kind":"renamed","from":"Limit","to":"limit","reason":"schema_canonical_key"},` +
					`{"kind":"coerced","field":"limit","from_type":"str","to_type":"list","reason":"schema_array_wrap"}]`)),
			},
		},
		{
			"negative retry is no value", breakage(t, "retry-negative").Broken("sp", "t"),
			Truth{
				Event: "mcp.error_envelope", Tool: "t", Outcome: "error", Ours: true, Shape: "mcp_envelope_v1",
				Kind: "rate_limited", Code: "RATE_LIMITED", RateLimit: true, AtZero: true, RetryAfter: -3, AnswerBytes: -1,
				Violations: []Finding{{"minimum", "/_meta/retry_after_seconds"}},
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.p.Settle()
			assert.Equal(t, tt.want, tt.p.Truth)
		})
	}
}

func breakage(t *testing.T, name string) *Breakage {
	t.Helper()
	for _, b := range Breakages() {
		if b.Name == name {
			return &b
		}
	}
	require.Fail(t, "no breakage "+name)
	return nil
}

func TestMalformedLeavesKindsToTheTaxonomy(t *testing.T) {
	want := map[string]bool{"block-empty": true, "block-object": true, "block-to-missing": true, "block-from-null": true}
	for _, b := range Breakages() {
		assert.Equal(t, want[b.Name], b.Broken("ads", "t").Malformed(), b.Name)
	}
}

// plain turns the log API's value into what encoding/json reads from text.
func plain(v attribute.Value) any {
	switch v.Type() {
	case attribute.MAP:
		out := map[string]any{}
		for _, kv := range v.AsMap() {
			out[string(kv.Key)] = plain(kv.Value)
		}
		return out
	case attribute.SLICE:
		out := []any{}
		for _, e := range v.AsSlice() {
			out = append(out, plain(e))
		}
		return out
	case attribute.INT64:
		return float64(v.AsInt64())
	case attribute.EMPTY:
		return nil
	}
	return v.AsInterface()
}

func TestTextAndStructureHoldTheSame(t *testing.T) {
	for _, v := range []Object{
		{},
		{{"a", nil}, {"b", true}, {"c", 1}, {"d", 5.0}, {"e", 0.25}, {"f", []any{}}, {"g", Object{{"h", "quote \" back \\ line \n é <&>"}}}},
		Capabilities("sp", true),
		Conformance("3"),
		Envelope(ErrorsOf("ads")[0], "t").Doc,
	} {
		require.True(t, Mappable(v))
		for _, s := range []Spacing{Compact, Spaced} {
			var want any
			require.NoError(t, json.Unmarshal([]byte(Text(v, s)), &want))
			assert.Equal(t, want, plain(Structure(v)))
		}
	}
	assert.JSONEq(t, `{"d": 5.0, "s": "<&>"}`, Text(Object{{"d", 5.0}, {"s", "<&>"}}, Spaced))
}

func TestMappable(t *testing.T) {
	for _, tt := range []struct {
		name string
		v    any
		want bool
	}{
		{"number beyond a double", Object{{"a", []any{literal("1e400")}}}, false},
		{"key twice", Object{{"a", 1}, {"a", 2}}, false},
		{"key twice within", []any{Object{{"a", 1}, {"a", 2}}}, false},
		{"same key at two depths", Object{{"a", Object{{"a", 1}}}}, true},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, Mappable(tt.v)) })
	}
}

func TestObjectsAreCopiedOnChange(t *testing.T) {
	o := Object{{"a", 1}, {"b", 2}}
	_, _, _ = o.With("a", 3), o.With("c", 4), o.Without("a")
	assert.Equal(t, Object{{"a", 1}, {"b", 2}}, o)
	v, _ := append(o, Member{"a", 9}).get("a")
	assert.Equal(t, 9, v, "the last one wins, as in JSON readers")
}

func TestDeclarations(t *testing.T) {
	ads := Capabilities("ads", true)
	contract, _ := ads.get("openbridge_envelope")
	declared, _ := contract.(Object).get("error_kinds")
	assert.Len(t, declared, 8)
	assert.NotContains(t, fmt.Sprint(declared), "sp_api")
	assert.Contains(t, Text(ads, Compact), `"MCP_SCHEMA_KEY_NORMALIZATION_META":{"default":true}`)
	run := Text(Conformance("3"), Compact)
	assert.Contains(t, run, `"items":{"1":"pass","2":"pass","3":"fail","4":"pass","5":"not_tested","6":"pass"}`)
	assert.Contains(t, Text(Conformance(""), Compact), `"violating":0`)
}
