package classify

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestAgentErrors tries the REST body (R156 to R160).
func TestAgentErrors(t *testing.T) {
	c := newClassifier(t)
	for _, tc := range []struct {
		body       string
		violations []pathRule
		advisories []pathRule
		retryAfter Optional[float64]
	}{
		{`{"code":"unauthorized","message":"m","more":null}`, nil, nil, Optional[float64]{}},
		{`{"code":"rate_limited","message":"m","retry_after":0}`, nil, nil, Some(0.0)},
		{`{"code":"rate_limited","message":"m","retry_after":1.5}`, nil, nil, Some(1.5)},
		{`{"code":"rate_limited","message":"m","retry_after":-1}`, []pathRule{{"/error/retry_after", RuleMinimum}}, nil, Optional[float64]{}},
		{`{"code":"rate_limited","message":"m","retry_after":"1"}`, []pathRule{{"/error/retry_after", RuleType}}, nil, Optional[float64]{}},
		{`{"code":"rate_limited","message":"m","retry_after":1e999}`, []pathRule{{"/error/retry_after", RuleNumberRange}}, nil, Optional[float64]{}},
		{`{"code":"unknown_entity","message":"m","suggestions":["a"]}`, nil, nil, Optional[float64]{}},
		{`{"code":"unknown_entity","message":"m","suggestions":[1]}`, []pathRule{{"/error/suggestions/0", RuleType}}, nil, Optional[float64]{}},
		{`{"code":"unknown_entity","message":"m","suggestions":null}`, []pathRule{{"/error/suggestions", RuleType}}, nil, Optional[float64]{}},
		{`{"code":"teapot","message":"m"}`, nil, []pathRule{{"/error/code", RuleCodeUnlisted}}, Optional[float64]{}},
		{`{"code":7,"message":"m"}`, []pathRule{{"/error/code", RuleType}}, nil, Optional[float64]{}},
		{`{"message":"m"}`, []pathRule{{"/error/code", RuleRequired}}, nil, Optional[float64]{}},
		{`{"code":"unavailable"}`, []pathRule{{"/error/message", RuleRequired}}, nil, Optional[float64]{}},
		{`{"code":"quota_exceeded","message":"m"}`, nil, nil, Optional[float64]{}},
		{`{"code":"quota_exceeded","message":"m","reset_at":"2026-03-01T00:00:00Z"}`, nil, nil, Optional[float64]{}},
		{`{"code":"quota_exceeded","message":"m","reset_at":"2026-03-01T02:00:00+02:00"}`, nil, nil, Optional[float64]{}},
		{`{"code":"quota_exceeded","message":"m","reset_at":"2026-03-01T00:00:01Z"}`, nil, []pathRule{{"/error/reset_at", RuleResetAtMonthStart}}, Optional[float64]{}},
		{`{"code":"quota_exceeded","message":"m","reset_at":"2026-03-01T00:00:00.5Z"}`, nil, []pathRule{{"/error/reset_at", RuleResetAtMonthStart}}, Optional[float64]{}},
		{`{"code":"quota_exceeded","message":"m","reset_at":"2026-03-02T00:00:00Z"}`, nil, []pathRule{{"/error/reset_at", RuleResetAtMonthStart}}, Optional[float64]{}},
		{`{"code":"quota_exceeded","message":"m","reset_at":"next month"}`, nil, []pathRule{{"/error/reset_at", RuleResetAtMonthStart}}, Optional[float64]{}},
		{`{"code":"quota_exceeded","message":"m","reset_at":7}`, []pathRule{{"/error/reset_at", RuleType}}, nil, Optional[float64]{}},
		{`{"code":"rate_limited","message":"m","reset_at":"next month"}`, nil, nil, Optional[float64]{}},
	} {
		j := c.Judge(Payload{Text: []byte(`{"error":` + tc.body + `}`)})
		assert.Equal(t, ShapeAgentError, j.Shape, tc.body)
		assert.Equal(t, FamilyAgentAPI, j.Family, tc.body)
		assert.Equal(t, sortPathRules(tc.violations), pathRules(j.Violations), tc.body)
		assert.Equal(t, sortPathRules(tc.advisories), pathRules(j.Advisories), tc.body)
		assert.Equal(t, tc.retryAfter, j.RetryAfterSeconds, tc.body)
		assert.False(t, j.ErrorKind.Set || j.Retryable.Set, tc.body)
	}
}

// TestAgentSuccesses tries the three regions and the two idioms (R149 to R154).
func TestAgentSuccesses(t *testing.T) {
	c := newClassifier(t)
	page := func(data, meta, pagination string) string {
		return `{"data":` + data + `,"meta":` + meta + `,"pagination":` + pagination + `}`
	}
	const meta = `{"source":"s","as_of":null}`
	for _, tc := range []struct {
		name       string
		text       string
		violations []pathRule
		advisories []pathRule
	}{
		{"empty page", page(`[]`, meta, `{"limit":5,"has_more":false,"next_cursor":null}`), nil, nil},
		{"null data", page(`null`, meta, `null`), nil, nil},
		{"nulls in meta", page(`1`, `{"source":"s","currency":null,"unit":null,"delay":null,"non_redistributable":null}`, `null`), nil, nil},
		{"source lacks", page(`1`, `{}`, `null`), []pathRule{{"/meta/source", RuleRequired}}, nil},
		{"source null", page(`1`, `{"source":null}`, `null`), []pathRule{{"/meta/source", RuleType}}, nil},
		{"as_of lacks", page(`1`, `{"source":"s"}`, `null`), nil, nil},
		{"as_of number", page(`1`, `{"source":"s","as_of":1}`, `null`), []pathRule{{"/meta/as_of", RuleType}}, nil},
		{"flag as text", page(`1`, `{"source":"s","non_redistributable":"yes"}`, `null`), []pathRule{{"/meta/non_redistributable", RuleType}}, nil},
		{"pagination lacks", `{"data":1,"meta":` + meta + `}`, []pathRule{{"/pagination", RuleRequired}}, nil},
		{"pagination empty", page(`1`, meta, `{}`), []pathRule{{"/pagination/limit", RuleRequired}, {"/pagination/has_more", RuleRequired}, {"/pagination/next_cursor", RuleRequired}}, nil},
		{"pagination of wrong types", page(`1`, meta, `{"limit":1.5,"has_more":null,"next_cursor":1}`), []pathRule{{"/pagination/limit", RuleType}, {"/pagination/has_more", RuleType}, {"/pagination/next_cursor", RuleType}}, nil},
		{"pagination is text", page(`1`, meta, `"x"`), []pathRule{{"/pagination", RuleType}}, nil},

		{"number beside unit", page(`{"a":{"value":1,"unit":"USD"}}`, meta, `null`), nil, []pathRule{{"/data/a/value", RuleDecimalString}}},
		{"data itself a value", page(`{"value":1,"currency":"USD"}`, meta, `null`), nil, []pathRule{{"/data/value", RuleDecimalString}}},
		{"in a list, beside as_of", page(`[{"value":"1","unit":"x"},{"value":1,"as_of":"x"}]`, meta, `null`), nil, []pathRule{{"/data/1/value", RuleDecimalString}}},
		{"beside accession_number", page(`{"value":1,"accession_number":"x"}`, meta, `null`), nil, []pathRule{{"/data/value", RuleDecimalString}}},
		{"number alone", page(`{"value":1,"count":2}`, meta, `null`), nil, nil},
		{"null under value", page(`{"value":null,"unit":"x"}`, meta, `null`), nil, nil},
		{"null line", page(`{"lines":{"a":null,"b":{"value":"1"}}}`, meta, `null`), nil, []pathRule{{"/data/lines/a", RuleNoNull}}},
		{"null line in a list", page(`[{"lines":[null]}]`, meta, `null`), nil, []pathRule{{"/data/0/lines/0", RuleNoNull}}},
		{"lines itself null", page(`{"lines":null}`, meta, `null`), nil, nil},
		{"null in a record", page(`{"name":null}`, meta, `null`), nil, nil},
		{"an overridden part is not looked at", page(`{"x":{"value":1,"unit":"u"},"x":1}`, meta, `null`), []pathRule{{"/data/x", RuleDuplicateKey}}, nil},
		{"outside data", `{"data":1,"lines":{"a":null},"meta":` + meta + `,"pagination":null}`, nil, nil},

		{"telemetry", `{"data":1,"meta":` + meta + `,"pagination":null,"_meta":{"normalized":[]}}`, []pathRule{{"/_meta/normalized", RuleMinItems}}, nil},
		{"unresolved batch", page(`{"rows":[],"unresolved_tickers":["X"]}`, meta, `null`), nil, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			j := c.Judge(Payload{Text: []byte(tc.text)})
			assert.Equal(t, ShapeAgentSuccess, j.Shape)
			assert.Equal(t, FamilyAgentAPI, j.Family)
			assert.Equal(t, sortPathRules(tc.violations), pathRules(j.Violations))
			assert.Equal(t, sortPathRules(tc.advisories), pathRules(j.Advisories))
		})
	}
}

func TestInstant(t *testing.T) {
	day := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]Optional[time.Time]{
		"2026-01-31T12:00:00Z":          Some(day),
		"2026-01-31T14:00:00+02:00":     Some(day),
		"2026-01-31T12:00:00.25Z":       Some(day.Add(250 * time.Millisecond)),
		"Sat, 31 Jan 2026 12:00:00 GMT": Some(day),
		"1769860800":                    Some(day),
		"1769860800.5":                  Some(day.Add(500 * time.Millisecond)),
		"30":                            {},
		"-1769860800":                   {},
		"1769860800000":                 {},
		"NaN":                           {},
		"Infinity":                      {},
		"":                              {},
		"tomorrow":                      {},
		"2026-01-31":                    {},
		"2026-01-31T12:00:00":           {},
		"1969-12-31T23:59:59Z":          {},
		"2106-02-07T06:28:15Z":          {},
		"9999-01-01T00:00:00Z":          {},
	} {
		assert.Equal(t, want, instant(text), text)
	}
}
