package findings

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestContextCarriesTheReport(t *testing.T) {
	assert.Nil(t, FromContext(t.Context()))
	r := &Report{RejectInvalid: true}
	ctx, cancel := context.WithCancel(NewContext(t.Context(), r))
	defer cancel()
	assert.Same(t, r, FromContext(ctx))
}

func TestTheFirstDeliveryStands(t *testing.T) {
	var r Report
	_, delivered := r.Found()
	assert.False(t, delivered)
	r.Deliver(Found{Seen: 1, Invalid: 1})
	r.Deliver(Found{Seen: 2})
	f, delivered := r.Found()
	assert.True(t, delivered)
	assert.Equal(t, Found{Seen: 1, Invalid: 1}, f)
}

func TestMessage(t *testing.T) {
	one := []Finding{{Index: 1, Rule: "required", Message: "/error_code: expected this member, and it is missing"}}
	tests := []struct {
		name     string
		found    Found
		received int
		want     string
	}{
		{"nothing to say", Found{Seen: 3}, 3, ""},
		{"no records", Found{}, 0, "the request holds no log records: nothing was stored; is its body OTLP?"},
		{
			"one of three",
			Found{Seen: 3, Invalid: 1, Named: one},
			3,
			"1 of 3 log records break the contract; all are stored; index 1: /error_code: expected this member, and it is missing (rule required)",
		},
		{
			"rejected",
			Found{Seen: 3, Invalid: 1, Rejected: 1, Named: one},
			3,
			"1 of 3 log records break the contract, 1 are rejected and kept in quarantine; index 1: /error_code: expected this member, and it is missing (rule required)",
		},
		{"a processor changed the count", Found{Seen: 2, Invalid: 1, Named: one}, 3, "1 of 3 log records break the contract; all are stored"},
		{
			"more than are named",
			Found{Seen: 9, Invalid: 9, Named: one},
			9,
			"9 of 9 log records break the contract; all are stored; index 1: /error_code: expected this member, and it is missing (rule required); and 8 more",
		},
		{"a hint alone", Found{Seen: 1, Hints: []string{"send JSON"}}, 1, "all 1 log records are stored; send JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, tt.found.Message(tt.received, "log records"))
		})
	}
}

func TestMessageIsBoundedText(t *testing.T) {
	f := Found{Seen: 100, Invalid: 100}
	for i := range 100 {
		f.Named = append(f.Named, Finding{Index: i, Rule: "type", Message: "\xff" + strings.Repeat("é", 600)})
	}
	m := f.Message(100, "spans")
	require.LessOrEqual(t, len(m), MaxMessage)
	assert.True(t, utf8.ValidString(m))
	assert.Contains(t, m, "index 0: ")
	assert.NotContains(t, m, "index 8: ", "no more than MaxNamed are named")
}
