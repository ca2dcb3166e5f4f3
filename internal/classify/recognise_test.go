package classify

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	validEnvelope = `{"error_kind":"internal_error","tool":"t","summary":"s","details":[],"hints":[],"examples":[],"error_code":"INTERNAL_ERROR","retryable":false,"_envelope_version":1}`
	agentBody     = `{"error":{"code":"unavailable","message":"m"}}`
	agentPage     = `{"data":[],"meta":{"source":"s"},"pagination":null}`
	metaEvent     = `{"_meta":{"retry_after_seconds":1}}`
)

func quoted(t testing.TB, s string) string {
	t.Helper()
	b, err := json.Marshal(s)
	require.NoError(t, err)
	return string(b)
}

// TestRecognition says of each text which shape it has and which object of it
// is the record (R1 to R15, R155, R156, R161 to R163).
func TestRecognition(t *testing.T) {
	c := newClassifier(t)
	rpc := func(result string) string { return `{"jsonrpc":"2.0","id":1,"result":` + result + `}` }
	content := func(text string) string { return `{"content":[{"type":"text","text":` + quoted(t, text) + `}]}` }
	for _, tc := range []struct {
		name   string
		text   string
		shape  Shape
		object string // "" asks for nothing recognised
	}{
		{"the object", validEnvelope, ShapeEnvelope, validEnvelope},
		{"blanks around", " \r\n\t" + validEnvelope + "\n\v\f ", ShapeEnvelope, validEnvelope},
		{"prefix", "ToolError: " + validEnvelope, ShapeEnvelope, validEnvelope},
		{"chain", "MontyRuntimeError: RuntimeError: ToolError: " + validEnvelope, ShapeEnvelope, validEnvelope},
		{"calling tool", "Error calling tool 'x': " + validEnvelope, ShapeEnvelope, validEnvelope},
		{"any text in front", "2026-01-01 [ERROR] it said {braces} " + validEnvelope, ShapeEnvelope, validEnvelope},
		{"a whole object in front is skipped", `ctx={"a":{"error_kind":1,"error_code":2}} ` + validEnvelope, ShapeEnvelope, validEnvelope},
		{"the leftmost candidate", validEnvelope + strings.Replace(validEnvelope, `"t"`, `"u"`, 1), ShapeEnvelope, validEnvelope},
		{"a brace in an open string", `{"note":"unterminated ` + validEnvelope, ShapeEnvelope, validEnvelope},
		{"within a failing object", `{"a":` + validEnvelope + ` oops`, ShapeEnvelope, validEnvelope},
		{"within a failing object, later", `{"a":{},"b":[{"c":1}, ` + validEnvelope + ` oops`, ShapeEnvelope, validEnvelope},
		{"within a list that goes on", `[1,` + validEnvelope + `] tail`, ShapeEnvelope, validEnvelope},
		{"version alone", `{"_envelope_version":1}`, ShapeEnvelope, `{"_envelope_version":1}`},
		{"kind and code", `{"error_kind":1,"error_code":null}`, ShapeEnvelope, `{"error_kind":1,"error_code":null}`},
		{"escaped names", `{"error\u005fkind":1,"error_c\u006fde":2}`, ShapeEnvelope, `{"error\u005fkind":1,"error_c\u006fde":2}`},
		{"envelope before agent error", `{"_envelope_version":1,"error":{"code":"x"}}`, ShapeEnvelope, `{"_envelope_version":1,"error":{"code":"x"}}`},

		{"structured content", rpc(`{"structuredContent":` + validEnvelope + `,"isError":false}`), ShapeEnvelope, validEnvelope},
		{"content text", rpc(content(validEnvelope)), ShapeEnvelope, validEnvelope},
		{"content text with prefix", rpc(content("ToolError: " + validEnvelope)), ShapeEnvelope, validEnvelope},
		{"both", rpc(`{"structuredContent":` + metaEvent + `,` + content(validEnvelope)[1:]), ShapeMetaSuccess, metaEvent},
		{"structured content null", rpc(`{"structuredContent":null,` + content(validEnvelope)[1:]), ShapeEnvelope, validEnvelope},
		{"structured content says nothing", rpc(`{"structuredContent":{"result":"x"},` + content(validEnvelope)[1:]), ShapeEnvelope, validEnvelope},
		{"error message", `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":` + quoted(t, validEnvelope) + `}}`, ShapeEnvelope, validEnvelope},
		{"error message as a map", `{"jsonrpc":"2.0","error":{"message":` + validEnvelope + `}}`, ShapeEnvelope, validEnvelope},
		{"error first, then result", `{"jsonrpc":"2.0","error":{"message":"no"},"result":{"structuredContent":` + validEnvelope + `}}`, ShapeEnvelope, validEnvelope},
		{"agent error in content", rpc(content(agentBody)), ShapeAgentError, agentBody},
		{"agent page in structured content", rpc(`{"structuredContent":` + agentPage + `}`), ShapeAgentSuccess, agentPage},
		{"no message within a message", rpc(`{"structuredContent":` + rpc(`{"structuredContent":`+validEnvelope+`}`) + `}`), ShapeUnknown, ""},
		{"protocol meta is not ours", rpc(`{"_meta":{"normalized":[]},"content":[]}`), ShapeUnknown, ""},
		{"content without text", rpc(`{"content":[{"type":"image","data":"x"}]}`), ShapeUnknown, ""},
		{"text that is no text", rpc(`{"content":[{"text":7}]}`), ShapeUnknown, ""},
		{"result that is no object", rpc(`[1]`), ShapeUnknown, ""},
		{"jsonrpc without either", `{"jsonrpc":"2.0","method":"x"}`, ShapeUnknown, ""},

		{"agent error", agentBody, ShapeAgentError, agentBody},
		{"agent error, message alone", `{"error":{"message":"m"}}`, ShapeAgentError, `{"error":{"message":"m"}}`},
		{"error is text", `{"error":"broken"}`, ShapeUnknown, ""},
		{"error says nothing", `{"error":{"detail":1}}`, ShapeUnknown, ""},
		{"agent page", agentPage, ShapeAgentSuccess, agentPage},
		{"agent page by source", `{"data":1,"meta":{"source":"s"}}`, ShapeAgentSuccess, `{"data":1,"meta":{"source":"s"}}`},
		{"data and meta alone", `{"data":1,"meta":{}}`, ShapeUnknown, ""},
		{"meta is no object", `{"data":1,"meta":1,"pagination":null}`, ShapeUnknown, ""},
		{"page before meta", `{"data":1,"meta":{"source":"s"},"pagination":null,"_meta":{"warnings":[]}}`, ShapeAgentSuccess, `{"data":1,"meta":{"source":"s"},"pagination":null,"_meta":{"warnings":[]}}`},
		{"rendered agent error", "ToolError: [rate_limited] Too many.", ShapeAgentError, "[rate_limited] Too many."},
		{"rendered without prefix", "[quota_exceeded] m", ShapeAgentError, "[quota_exceeded] m"},
		{"rendered, unlisted, tool error", "ToolError: [some_thing] m", ShapeAgentError, "[some_thing] m"},
		{"rendered, unlisted, no tool error", "[some_thing] m", ShapeUnknown, ""},
		{"rendered in a chain of errors", "MontyRuntimeError: fastmcp.exceptions.ToolError: [some_thing] m", ShapeAgentError, "[some_thing] m"},
		{"rendered behind a call", "Error calling tool 'x': [some_thing] m", ShapeAgentError, "[some_thing] m"},
		{"log line", "[warn] m", ShapeUnknown, ""},
		{"logger's name in front", "log: [rate_limited] x", ShapeUnknown, ""},
		{"level in front", "WARNING: [unavailable] disk", ShapeUnknown, ""},
		{"level within a chain", "ToolError: WARNING: [unavailable] disk", ShapeUnknown, ""},
		{"kind in front", "rate_limited: [rate_limited] x", ShapeUnknown, ""},
		{"not snake case", "ToolError: [Some-Thing] m", ShapeUnknown, ""},
		{"no message", "ToolError: [rate_limited]", ShapeUnknown, ""},
		{"blank message", "ToolError: [rate_limited]  ", ShapeUnknown, ""},
		{"no blank", "ToolError: [rate_limited]m", ShapeUnknown, ""},
		{"empty code", "ToolError: [] m", ShapeUnknown, ""},
		{"long code", "ToolError: [" + strings.Repeat("a", 65) + "] m", ShapeUnknown, ""},

		{"meta", metaEvent, ShapeMetaSuccess, metaEvent},
		{"meta of something else", `{"_meta":{"progressToken":1,"_fastmcp":{}}}`, ShapeUnknown, ""},
		{"empty meta", `{"_meta":{}}`, ShapeUnknown, ""},
		{"null meta", `{"_meta":null}`, ShapeUnknown, ""},
		{"text around a meta event", "x " + metaEvent, ShapeUnknown, ""},

		{"empty", "", ShapeUnknown, ""},
		{"blank", " \n", ShapeUnknown, ""},
		{"list", "[" + validEnvelope + "]", ShapeUnknown, ""},
		{"string", quoted(t, validEnvelope), ShapeUnknown, ""},
		{"number", "7", ShapeUnknown, ""},
		{"null", "null", ShapeUnknown, ""},
		{"kind alone", `{"error_kind":"x"}`, ShapeUnknown, ""},
		{"FastAPI", `{"detail":[{"loc":["body"],"msg":"m","type":"missing"}]}`, ShapeUnknown, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			j := c.Judge(Payload{Text: []byte(tc.text)})
			assert.Equal(t, tc.shape, j.Shape)
			assert.Equal(t, tc.object, string(j.Object))
			assert.Equal(t, tc.object != "", j.Recognized)
		})
	}
}

// TestUnrecognised tells opaque, unreadable and other texts apart (R5, R6, R15).
func TestUnrecognised(t *testing.T) {
	c := newClassifier(t)
	printed := `{'error_kind': 'internal_error', '_envelope_version': 1}`
	for _, tc := range []struct {
		name       string
		p          Payload
		opaque     bool
		unreadable bool
		hint       string
	}{
		{"tool error by prefix", Payload{Text: []byte("ToolError: hung up")}, true, false, ""},
		{"tool error in a chain", Payload{Text: []byte("RuntimeError: fastmcp.exceptions.ToolError: hung up")}, true, false, ""},
		{"calling tool", Payload{Text: []byte("Error calling tool 'x': hung up")}, true, false, ""},
		{"tool error by carrier", Payload{Text: []byte("hung up"), ToolError: true}, true, false, ""},
		{"empty text of a tool error", Payload{ToolError: true}, true, false, ""},
		{"declared an error", Payload{Text: []byte("hung up"), Event: EventErrorEnvelope}, true, false, ""},
		{"declared an error, other object", Payload{Text: []byte(`{"a":1}`), Event: EventErrorEnvelope}, true, false, ""},
		{"declared an error, a list", Payload{Text: []byte(`[1]`), Event: EventErrorEnvelope}, true, false, ""},
		{"kind and summary", Payload{Text: []byte("auth_error: no identity")}, true, false, ""},
		{"kind and summary behind a prefix", Payload{Text: []byte("RuntimeError: auth_error: no identity")}, true, false, ""},
		{"another exception", Payload{Text: []byte("ValueError: no")}, false, false, ""},
		{"plain text", Payload{Text: []byte("hello")}, false, false, ""},
		{"printed dict", Payload{Text: []byte(printed)}, true, false, hintPrintedDict},
		{"printed dict behind a prefix", Payload{Text: []byte("ToolError: " + printed)}, true, false, hintPrintedDict},
		{"printed dict of something else", Payload{Text: []byte(`{'a': 1}`)}, false, false, ""},
		{"json-rpc error", Payload{Text: []byte(`{"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"}}`)}, true, false, ""},
		{"json-rpc error without message", Payload{Text: []byte(`{"jsonrpc":"2.0","error":{"code":-32601}}`)}, true, false, ""},
		{"json-rpc isError", Payload{Text: []byte(`{"jsonrpc":"2.0","result":{"isError":true,"content":[{"type":"text","text":"no"}]}}`)}, true, false, ""},
		{"json-rpc isError, structured", Payload{Text: []byte(`{"jsonrpc":"2.0","result":{"isError":true,"structuredContent":{"a":1}}}`)}, true, false, ""},
		{"json-rpc success", Payload{Text: []byte(`{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"fine"}]}}`)}, false, false, ""},
		{"json-rpc, kind and summary", Payload{Text: []byte(`{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"auth_error: no"}]}}`)}, true, false, ""},

		{"truncated", Payload{Text: []byte(validEnvelope[:100])}, false, true, hintTruncated},
		{"truncated after complete rows", Payload{Text: []byte(`{"error_kind":"x","details":[{"path":"","issue":"","received_type":""}],"hi`)}, false, true, hintTruncated},
		{"truncated in a json-rpc text", Payload{Text: []byte(`{"jsonrpc":"2.0","result":{"isError":true,"content":[{"type":"text","text":"{\"error_kind\":\"x"}]}}`)}, false, true, hintTruncated},
		{"truncated in a json-rpc error", Payload{Text: []byte(`{"jsonrpc":"2.0","error":{"message":"{\"error_kind\":\"x"}}`)}, false, true, hintTruncated},
		{"NaN", Payload{Text: []byte(strings.Replace(validEnvelope, `"examples":[]`, `"examples":[NaN]`, 1))}, false, true, hintTruncated},
		{"Infinity", Payload{Text: []byte(strings.Replace(validEnvelope, `"examples":[]`, `"examples":[-Infinity]`, 1))}, false, true, hintTruncated},
		{"raw line break in a string", Payload{Text: []byte(strings.Replace(validEnvelope, `"s"`, "\"a\nb\"", 1))}, false, true, hintTruncated},
		{"a name in plain text", Payload{Text: []byte(`the key "_envelope_version" lacks`)}, false, true, hintTruncated},
		{"tool error that names a key", Payload{Text: []byte(`ToolError: {"error_kind": oops`)}, false, true, hintTruncated},
		{"the name in a complete object", Payload{Text: []byte(`ToolError: {"error_kind":"x"}`)}, true, false, ""},
		{"the name in a complete object, behind a brace", Payload{Text: []byte(`{oops {"error_kind":"x"}`)}, false, false, ""},
		{"the name without quotes", Payload{Text: []byte(`{error_kind: 1}`)}, false, false, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			j := c.Judge(tc.p)
			assert.False(t, j.Recognized)
			assert.False(t, j.Valid)
			assert.Equal(t, tc.opaque, j.Opaque, "opaque")
			assert.Equal(t, tc.hint, j.Hint)
			want := []pathRule{}
			if tc.unreadable {
				want = []pathRule{{"", RuleInvalidJSON}}
			}
			assert.Equal(t, want, pathRules(j.Violations))
		})
	}
}

func TestTextAround(t *testing.T) {
	c := newClassifier(t)
	j := c.Judge(Payload{Text: []byte("\ufeff" + validEnvelope)})
	assert.True(t, j.Valid)
	assert.Equal(t, []pathRule{{"", RuleBOMStripped}}, pathRules(j.Advisories))
	j = c.Judge(Payload{Text: []byte("x " + validEnvelope + "\n \t")})
	assert.True(t, j.Valid)
	assert.Empty(t, j.Advisories)
	for _, tail := range []string{".", "}", validEnvelope, "\x00", "\ufeff"} {
		j = c.Judge(Payload{Text: []byte(validEnvelope + tail)})
		assert.True(t, j.Recognized)
		assert.Equal(t, []pathRule{{"", RuleTrailingData}}, pathRules(j.Violations), "%q", tail)
	}
	j = c.Judge(Payload{Text: []byte(`{"jsonrpc":"2.0","result":{"content":[{"text":"\ufeff` + strings.ReplaceAll(validEnvelope, `"`, `\"`) + `"}]}}`)})
	assert.True(t, j.Valid)
	assert.Equal(t, []pathRule{{"", RuleBOMStripped}}, pathRules(j.Advisories), "also in a text within a message")
}

// TestCarriersAgree puts one envelope into every carrier (R1, R14, U44).
func TestCarriersAgree(t *testing.T) {
	c := newClassifier(t)
	for _, file := range append(exampleFiles(t, "error-envelope/*"), exampleFiles(t, "contract/advised")...) {
		text := string(example(t, file))
		if !strings.HasPrefix(text, "{") || strings.Contains(file, "lone_surrogate") { // encoding/json replaces those
			continue
		}
		want := told(c.Judge(Payload{Text: []byte(text)}))
		if want.Shape != ShapeEnvelope {
			continue
		}
		for name, carried := range map[string]string{
			"prefix":             "ToolError: " + text,
			"error message":      `{"jsonrpc":"2.0","error":{"message":` + quoted(t, text) + `}}`,
			"content text":       `{"jsonrpc":"2.0","result":{"content":[{"text":` + quoted(t, text) + `}]}}`,
			"structured content": `{"jsonrpc":"2.0","result":{"structuredContent":` + text + `}}`,
		} {
			assert.Equal(t, want, told(c.Judge(Payload{Text: []byte(carried)})), "%s in %s", file, name)
		}
	}
}

func TestRenderedRetryAfter(t *testing.T) {
	c := newClassifier(t)
	for text, want := range map[string]Optional[float64]{
		"[rate_limited] m. Retry after 12s.":              Some(12.0),
		"[rate_limited] m. Retry after 0.5s.":             Some(0.5),
		"[rate_limited] m. Retry after 0s.":               Some(0.0),
		"[rate_limited] Retry after 3s. Retry after 12s.": Some(12.0),
		"[rate_limited] m.":                               {},
		"[rate_limited] Retry after soon.":                {},
		"[rate_limited] Retry after 12 minutes.":          {},
		"[rate_limited] Retry after -1s.":                 {},
		"[rate_limited] Retry after 9999999999999s.":      {},
	} {
		j := c.Judge(Payload{Text: []byte(text)})
		assert.True(t, j.Valid, text)
		assert.Equal(t, want, j.RetryAfterSeconds, text)
	}
	j := c.Judge(Payload{Text: []byte("[strange_code] m"), ToolError: true, Family: FamilySP})
	assert.Equal(t, []pathRule{{"/error/code", RuleCodeUnlisted}}, pathRules(j.Advisories))
	assert.Equal(t, FamilySP, j.Family, "a declared emitter stays")
	assert.Equal(t, Some("strange_code"), j.ErrorCode)
}

// TestJudgementsAreTheirOwn holds that a judgement survives its payload and the
// next judgement, and that many goroutines may share a classifier.
func TestJudgementsAreTheirOwn(t *testing.T) {
	c := newClassifier(t)
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := range 200 {
				tool := fmt.Sprintf("tool_%d_%d", worker, i)
				text := []byte(strings.Replace(validEnvelope, `"t"`, `"`+tool+`"`, 1))
				j := c.Judge(Payload{Text: text})
				clear(text)
				c.Judge(Payload{Text: []byte(benchEnvelope)})
				assert.Equal(t, Some(tool), j.Tool)
				assert.Equal(t, Some("internal_error"), j.ErrorKind)
			}
		})
	}
	wg.Wait()
}

// TestJudgeIntoForgets holds that nothing of an earlier judgement is left.
func TestJudgeIntoForgets(t *testing.T) {
	c := newClassifier(t)
	var j Judgement
	c.JudgeInto(&j, Payload{Text: []byte(`{"error_kind":"x","error_code":"TOKEN_ERROR","_meta":{"normalized":[{"kind":"y"}],"warnings":[{"kind":"z"}],"rate_limit":{"remaining":1},"retry_after_seconds":1}}`), Family: FamilySP})
	require.NotEmpty(t, j.Violations)
	c.JudgeInto(&j, Payload{Text: []byte("nothing")})
	assert.Equal(t, normalise(Judgement{Shape: ShapeUnknown, Family: FamilyUnknown}), normalise(j))
}
