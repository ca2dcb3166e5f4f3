package classify

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/schemas"
)

// mutants are taxonomies in which one pairing is not the contract's.
func mutants(t *testing.T) map[string]*schemas.Taxonomy {
	t.Helper()
	out := map[string]*schemas.Taxonomy{}
	add := func(name string, change func(*schemas.Taxonomy)) {
		tax, err := schemas.LoadTaxonomy()
		require.NoError(t, err)
		change(tax)
		out[name] = tax
	}
	// others are lists of kinds that differ from kinds by one.
	others := func(kinds []string) (out [][]string) {
		for _, k := range allKinds {
			if !slices.Contains(kinds, k) {
				out = append(out, append(slices.Clone(kinds), k))
			}
		}
		for i := range kinds {
			if less := slices.Delete(slices.Clone(kinds), i, i+1); len(less) > 0 {
				out = append(out, less)
			}
		}
		return out
	}
	base, err := schemas.LoadTaxonomy()
	require.NoError(t, err)
	for i, c := range base.Codes {
		for _, kinds := range others(c.Kinds) {
			add(fmt.Sprint(c.Code, kinds), func(m *schemas.Taxonomy) { m.Codes[i].Kinds = kinds })
		}
		add("without "+c.Code, func(m *schemas.Taxonomy) { m.Codes = slices.Delete(m.Codes, i, i+1) })
	}
	for i, f := range base.HTTPCodes {
		for k, row := range f.Pairings {
			for _, kinds := range others(row.Kinds) {
				add(fmt.Sprint(f.Prefix, row.Statuses, kinds), func(m *schemas.Taxonomy) { m.HTTPCodes[i].Pairings[k].Kinds = kinds })
			}
			for s := range row.Statuses {
				add(fmt.Sprint(f.Prefix, " one more than ", row.Statuses[s]), func(m *schemas.Taxonomy) { m.HTTPCodes[i].Pairings[k].Statuses[s]++ })
			}
		}
		add("without "+f.Prefix, func(m *schemas.Taxonomy) { m.HTTPCodes = slices.Delete(m.HTTPCodes, i, i+1) })
	}
	add("status 399", func(m *schemas.Taxonomy) { m.HTTPStatus.Min-- })
	add("status 600", func(m *schemas.Taxonomy) { m.HTTPStatus.Max++ })
	add("no status 599", func(m *schemas.Taxonomy) { m.HTTPStatus.Max-- })
	add("open SCHEMA_", func(m *schemas.Taxonomy) { m.ClosedPrefixes = nil })
	add("no demand", func(m *schemas.Taxonomy) { m.Kinds[1].DemandsCode = "" })
	for i, r := range base.ReservedCodes {
		add("without "+r.Code, func(m *schemas.Taxonomy) { m.ReservedCodes = slices.Delete(m.ReservedCodes, i, i+1) })
	}
	return out
}

// agrees tells whether the verdict on every code with every kind is that of the
// second writing, pairingOf.
func agrees(c *Classifier) bool {
	var j Judgement
	for _, code := range everyCode() {
		kinds, broken := pairingOf(code)
		for _, k := range allKinds {
			c.JudgeInto(&j, Payload{Text: envelopeOf(k, code)})
			fits := kinds == nil && (k != "tool_not_found" || broken != "") || slices.Contains(kinds, k)
			want := []pathRule{}
			if broken != "" {
				want = append(want, pathRule{"/error_code", broken})
			}
			if !fits {
				want = append(want, pathRule{"/error_kind", RulePairing})
			}
			if !slices.Equal(sortPathRules(want), pathRules(j.Violations)) {
				return false
			}
		}
	}
	return true
}

// TestEveryChangeOfAPairingIsNoticed is the mutation check of the pairing table.
func TestEveryChangeOfAPairingIsNoticed(t *testing.T) {
	ct, err := loadContract(schemas.Read)
	require.NoError(t, err)
	require.True(t, agrees(newWith(ct)), "the tables as they are")
	validators, err := schemas.LoadValidatorCodes()
	require.NoError(t, err)
	all := mutants(t)
	require.Greater(t, len(all), 150)
	for name, tax := range all {
		tables, err := newTables(tax, validators)
		require.NoError(t, err, name)
		mutant := *ct
		mutant.tables = tables
		assert.False(t, agrees(newWith(&mutant)), "nobody notices: %s", name)
	}
}

func TestTablesThatContradictThemselves(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*schemas.Taxonomy, *schemas.ValidatorCodes)
		says   string
	}{
		"unknown kind":             {func(m *schemas.Taxonomy, _ *schemas.ValidatorCodes) { m.Codes[0].Kinds = []string{"x"} }, `kind "x" is not in the taxonomy`},
		"no kind":                  {func(m *schemas.Taxonomy, _ *schemas.ValidatorCodes) { m.Codes[0].Kinds = nil }, "without a kind"},
		"listed twice":             {func(m *schemas.Taxonomy, _ *schemas.ValidatorCodes) { m.Codes[1].Code = m.Codes[0].Code }, "listed twice"},
		"status without a pairing": {func(m *schemas.Taxonomy, _ *schemas.ValidatorCodes) { m.HTTPCodes[0].Pairings = nil }, "no row for status 400"},
		"HTTP with unknown kind":   {func(m *schemas.Taxonomy, _ *schemas.ValidatorCodes) { m.HTTPCodes[2].Pairings[0].Kinds[0] = "x" }, "OPENBRIDGE_HTTP_400"},
		"validators' kind":         {func(_ *schemas.Taxonomy, v *schemas.ValidatorCodes) { v.ErrorKind = "x" }, "SCHEMA_TYPE_MISMATCH"},
	} {
		tax, err := schemas.LoadTaxonomy()
		require.NoError(t, err)
		validators, err := schemas.LoadValidatorCodes()
		require.NoError(t, err)
		tc.change(tax, validators)
		_, err = newTables(tax, validators)
		assert.ErrorContains(t, err, tc.says, name)
	}
}

func TestSchemasThatCannotBeUsed(t *testing.T) {
	changed := func(old, with string) func(string) ([]byte, error) {
		return func(name string) ([]byte, error) {
			text, err := schemas.Read(name)
			return bytes.ReplaceAll(text, []byte(old), []byte(with)), err
		}
	}
	for name, tc := range map[string]struct {
		read func(string) ([]byte, error)
		says string
	}{
		"unreadable":       {func(string) ([]byte, error) { return nil, errors.New("no such file") }, "read schema"},
		"no JSON":          {changed("{", "("), "parse schema"},
		"twice one name":   {changed(`"$schema": "https://json-schema.org/draft/2020-12/schema"`, `"$schema": "https://soakgate.dev/nowhere"`), "schema"},
		"dangling ref":     {changed("#/$defs/meta", "#/$defs/none"), "compile schema"},
		"unknown keyword":  {changed(`"minItems": 1`, `"maxItems": 1`), "fast twin"},
		"bad type of type": {changed(`"type": "boolean"`, `"type": 7`), "compile schema"},
	} {
		_, err := loadContract(tc.read)
		assert.ErrorContains(t, err, tc.says, name)
	}
}

// TestFindingsOf holds what becomes of errors that no schema of ours gives.
func TestFindingsOf(t *testing.T) {
	asIs := func(at []string) []string { return at }
	assert.Empty(t, findingsOf(nil, asIs))
	assert.Empty(t, findingsOf(errors.New("x"), asIs))
	leaf := &jsonschema.ValidationError{InstanceLocation: []string{"a/b", "c~d"}, ErrorKind: &kind.Type{Got: "null", Want: []string{"string", "number"}}}
	got := findingsOf(&jsonschema.ValidationError{ErrorKind: &kind.Group{}, Causes: []*jsonschema.ValidationError{leaf}}, asIs)
	assert.Equal(t, []Finding{{RuleType, "/a~1b/c~0d", "/a~1b/c~0d: expected string or number, got null"}}, got)
}

func TestGatheringIsBounded(t *testing.T) {
	w := &judging{dst: &Judgement{}}
	for range maxGathered + 5 {
		w.violate(RuleType, "/a", "/a: "+strings.Repeat("x", 2*MaxMessage))
	}
	assert.Len(t, w.dst.Violations, maxGathered)
	assert.Equal(t, 5, w.dst.Cut.Violations)
	assert.Len(t, w.dst.Violations[0].Message, MaxMessage)
}
