package register

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/soak"
	"github.com/soakgate/soakgate/internal/soak/policy"
)

const good = `complaints:
  - {id: c1, server: sp, kind: parsing, action: open, note: cut off, by: ann, at: 2026-03-01T00:00:00Z, entered: 2026-03-02T00:00:00Z}
  - {id: c1, server: sp, kind: parsing, action: resolve, ref: "issue 4", fixed_in: 1.4.1, by: bob, at: 2026-03-03T00:00:00+02:00, entered: 2026-03-03T00:00:00Z}
reviews:
  - {server: sp, by: ann, at: 2026-03-05T00:00:00Z, entered: 2026-03-05T00:00:00Z}
overrides:
  - {server: sp, deployment: d1, counts: false, reason: load test, by: ann, at: 2026-03-05T00:00:00Z, entered: 2026-03-05T00:00:00Z}
`

func testPolicy() policy.Policy {
	p := policy.Default()
	p.Servers = []policy.Server{{Name: "sp"}}
	p.Exclude = []policy.Exclusion{{Name: "openbridge", Reason: "r"}}
	return p
}

func TestParse(t *testing.T) {
	r, err := Parse([]byte(good), testPolicy())
	require.NoError(t, err)
	at := time.Date(2026, 3, 5, 0, 0, 0, 0, time.UTC)
	assert.Equal(t, soak.Registers{
		Complaints: []soak.Complaint{
			{ID: "c1", Server: "sp", Kind: "parsing", Action: "open", Note: "cut off", By: "ann", At: at.AddDate(0, 0, -4), RecordedAt: at.AddDate(0, 0, -3)},
			{ID: "c1", Server: "sp", Kind: "parsing", Action: "resolve", Ref: "issue 4", FixedIn: "1.4.1", By: "bob", At: at.AddDate(0, 0, -2).Add(-2 * time.Hour), RecordedAt: at.AddDate(0, 0, -2)},
		},
		Reviews:   []soak.Review{{Server: "sp", By: "ann", At: at, RecordedAt: at}},
		Overrides: []soak.Override{{Server: "sp", Deployment: "d1", Reason: "load test", By: "ann", At: at, RecordedAt: at}},
	}, r)
}

func TestParseErrorsNameLineAndKey(t *testing.T) {
	for _, tt := range []struct{ name, from, to, want string }{
		{"unknown key", "note: cut off", "nota: cut off", `line 2: complaints[0].nota: unknown key; did you mean "note"?`},
		{"misspelt server of an override", "overrides:\n  - {server: sp", "overrides:\n  - {server: spp", `line 7: overrides[0].server: server "spp" is not named in the policy`},
		{"misspelt server of a complaint", "id: c1, server: sp, kind: parsing, action: open", "id: c1, server: spp, kind: parsing, action: open", "line 2: complaints[0].server"},
		{"unknown kind", "kind: parsing, action: open", "kind: parse, action: open", "complaints[0].kind"},
		{"unknown action", "action: open", "action: close", "complaints[0].action"},
		{"resolved without a reference", `ref: "issue 4", `, "", "line 3: complaints[1].ref"},
		{"resolved without a way", "fixed_in: 1.4.1, ", "", "complaints[1]: a resolution wants either"},
		{"resolved in two ways", "fixed_in: 1.4.1", "fixed_in: 1.4.1, not_ours: true", "either fixed_in or not_ours"},
		{"opened as fixed", "note: cut off", "fixed_in: 1.4.1", "only a resolution"},
		{"never entered", ", entered: 2026-03-02T00:00:00Z", "", "complaints[0].entered"},
		{"nobody", "reviews:\n  - {server: sp, by: ann,", "reviews:\n  - {server: sp,", "reviews[0].by"},
		{"override without reason", "reason: load test, ", "", "overrides[0].reason"},
		{"instant without offset", "at: 2026-03-01T00:00:00Z", "at: 2026-03-01", "complaints[0].at"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Contains(t, good, tt.from)
			r, err := Parse([]byte(strings.Replace(good, tt.from, tt.to, 1)), testPolicy())
			require.ErrorContains(t, err, tt.want)
			assert.Equal(t, soak.Registers{}, r, "a refused register says nothing")
		})
	}
	_, err := Parse(nil, testPolicy())
	require.ErrorContains(t, err, "empty")
}

func TestExcludedServersMayHaveComplaints(t *testing.T) {
	_, err := Parse([]byte(strings.ReplaceAll(good, "server: sp", "server: openbridge")), testPolicy())
	require.NoError(t, err)
}
