package classify

import (
	"fmt"
	"strings"
	"testing"
)

// Payloads of the sizes that servers send.
const (
	benchEnvelope = `{"error_kind":"mcp_input_validation","tool":"sp_list_order_items","summary":"Tool input validation failed for one or more fields.",` +
		`"details":[{"path":"filters/0/marketplaceIds","issue":"Expected an array of strings but a single string was given","received_type":"string"},` +
		`{"path":"createdAfter","issue":"The value is not a valid ISO-8601 date-time","received_type":"string"}],` +
		`"hints":["Wrap the value in an array.","Use an ISO-8601 date-time such as 2026-01-31T00:00:00Z."],"examples":[{"marketplaceIds":["ATVPDKIKX0DER"]}],` +
		`"error_code":"SCHEMA_TYPE_MISMATCH","retryable":false,"_envelope_version":1}`
	benchMeta = `{"_meta":{"normalized":[{"kind":"renamed","from":"MarketplaceIds","to":"marketplaceIds","reason":"schema_canonical_key"},` +
		`{"kind":"coerced","field":"marketplaceIds","from_type":"str","to_type":"list"}]}}`
)

func benchmark(b *testing.B, p Payload) {
	c := newClassifier(b)
	var j Judgement
	b.SetBytes(int64(len(p.Text)))
	b.ReportAllocs()
	for b.Loop() {
		c.JudgeInto(&j, p)
	}
}

func BenchmarkJudge(b *testing.B) {
	withMeta := strings.TrimSuffix(benchEnvelope, "}") + "," + benchMeta[1:]
	for name, text := range map[string]string{
		"envelope":            benchEnvelope,
		"envelope_and_meta":   withMeta,
		"envelope_in_text":    "ToolError: " + benchEnvelope,
		"envelope_invalid":    strings.Replace(benchEnvelope, `"retryable":false`, `"retryable":"false"`, 1),
		"meta":                benchMeta,
		"json_rpc":            `{"jsonrpc":"2.0","id":1,"result":{"isError":true,"content":[{"type":"text","text":` + fmt.Sprintf("%q", benchEnvelope) + `}]}}`,
		"opaque":              "ToolError: the upstream service hung up before it answered the request",
		"agent_error_in_text": "ToolError: [rate_limited] Too many requests for this key. Retry after 12s.",
	} {
		b.Run(name, func(b *testing.B) { benchmark(b, Payload{Text: []byte(text), Family: FamilySP}) })
	}
}

// BenchmarkJudgeSize shows that time grows with the size and not faster.
func BenchmarkJudgeSize(b *testing.B) {
	for _, size := range []int{1 << 10, 32 << 10, 1 << 20} {
		text := strings.Replace(benchEnvelope, "Tool input", strings.Repeat("a long summary ", size/15), 1)
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) { benchmark(b, Payload{Text: []byte(text)}) })
	}
}

// TestJudgingAllocatesLittle guards the path of valid payloads: an allocation or two for
// each text that is no word of the contract, and none for the parse.
func TestJudgingAllocatesLittle(t *testing.T) {
	c := newClassifier(t)
	for text, limit := range map[string]float64{benchEnvelope: 8, benchMeta: 10} {
		var j Judgement
		payload := Payload{Text: []byte(text), Family: FamilySP}
		if got := testing.AllocsPerRun(100, func() { c.JudgeInto(&j, payload) }); got > limit {
			t.Errorf("%.0f allocations for %.60s, at most %.0f are right", got, text, limit)
		}
	}
}
