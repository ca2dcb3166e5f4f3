package schemas_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/schemas"
)

// compile compiles one schema by the library alone, as a server's author would.
func compile(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	for _, each := range schemas.All() {
		require.NoError(t, c.AddResource(schemas.BaseURL+each, document(t, each)))
	}
	sch, err := c.Compile(schemas.BaseURL + name)
	require.NoError(t, err)
	return sch
}

func document(t *testing.T, name string) map[string]any {
	t.Helper()
	text, err := schemas.Read(name)
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	return doc.(map[string]any)
}

func TestSchemasSayWhatTheyAre(t *testing.T) {
	files, err := filepath.Glob("*.schema.json")
	require.NoError(t, err)
	files = slices.DeleteFunc(files, func(name string) bool { return strings.HasPrefix(name, "soak-") }) // the soak's, not the contract's
	assert.ElementsMatch(t, files, schemas.All(), "every schema of the contract is embedded and listed")
	for _, name := range schemas.All() {
		doc := document(t, name)
		assert.Equal(t, "https://json-schema.org/draft/2020-12/schema", doc["$schema"], name)
		assert.Equal(t, schemas.BaseURL+name, doc["$id"], name)
		assert.NotEmpty(t, doc["title"], name)
		assert.NotEmpty(t, doc["description"], name)
		assertNoFormat(t, name, doc)
	}
}

// assertNoFormat holds the decision that no format is asserted (R92): a format
// keyword would be a note that reads like a rule.
func assertNoFormat(t *testing.T, name string, v any) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		assert.NotContains(t, v, "format", name)
		for _, part := range v {
			assertNoFormat(t, name, part)
		}
	case []any:
		for _, part := range v {
			assertNoFormat(t, name, part)
		}
	}
}

// TestExamples holds each schema to its folder of examples, by the library alone.
func TestExamples(t *testing.T) {
	for _, name := range schemas.All() {
		sch := compile(t, name)
		folder := filepath.Join("examples", strings.TrimSuffix(name, ".schema.json"))
		for sub, want := range map[string]bool{"valid": true, "invalid": false} {
			files, err := filepath.Glob(filepath.Join(folder, sub, "*.json"))
			require.NoError(t, err)
			require.NotEmpty(t, files, "%s has no %s examples", name, sub)
			for _, file := range files {
				t.Run(file, func(t *testing.T) {
					err := sch.Validate(payload(t, file))
					assert.Equal(t, want, err == nil, "the library says: %v", err)
				})
			}
		}
	}
}

// TestContractExamplesPassTheSchema holds that what is in examples/contract is
// there because no schema can hold it.
func TestContractExamplesPassTheSchema(t *testing.T) {
	sch := compile(t, schemas.ErrorEnvelope)
	files, err := filepath.Glob("examples/contract/*/*.json")
	require.NoError(t, err)
	checked := 0
	for _, file := range files {
		doc := payload(t, file).(map[string]any)
		if _, envelope := doc["_envelope_version"]; !envelope || strings.Contains(file, "number_range") {
			continue
		}
		checked++
		require.NoError(t, sch.Validate(doc), file)
	}
	assert.Greater(t, checked, 10)
}

func payload(t *testing.T, file string) any {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err, file)
	return v
}

// TestResetAtIsNeverRejected tries U36's junk in every date-like text.
func TestResetAtIsNeverRejected(t *testing.T) {
	meta, agent := compile(t, schemas.ResponseMeta), compile(t, schemas.AgentError)
	for _, junk := range []string{"", "tomorrow", "2026-13-45T99:99:99Z", "1777000000", "\u0000"} {
		assert.NoError(t, meta.Validate(map[string]any{"_meta": map[string]any{"rate_limit": map[string]any{"reset_at": junk}}}))
		assert.NoError(t, agent.Validate(map[string]any{"error": map[string]any{"code": "c", "message": "m", "reset_at": junk}}))
	}
}

// TestTaxonomyAndSchemasAgree holds the lists that stand in both.
func TestTaxonomyAndSchemasAgree(t *testing.T) {
	tax, err := schemas.LoadTaxonomy()
	require.NoError(t, err)
	kinds := column(tax.Kinds, func(k schemas.Kind) string { return k.Kind })
	normalizations := column(tax.NormalizationKinds, func(k schemas.NormalizationKind) string { return k.Kind })
	meta, capabilities := compile(t, schemas.ResponseMeta), compile(t, schemas.Capabilities)
	declaration := capabilities.Else.Ref
	event := meta.Properties["_meta"].Ref.Properties["normalized"].Items2020.Ref

	assert.Equal(t, kinds, texts(compile(t, schemas.ErrorEnvelope).Properties["error_kind"].Enum.Values))
	assert.Equal(t, kinds, texts(declaration.Properties["error_kinds"].Items2020.Enum.Values))
	assert.Equal(t, normalizations, texts(event.Properties["kind"].Enum.Values))
	assert.Equal(t, normalizations, texts(declaration.Properties["normalized_kinds"].Items2020.Enum.Values))
	for _, v := range tax.EnvVars {
		assert.Contains(t, declaration.Properties["env_vars"].Ref.Properties, v.Name)
	}
	for _, k := range tax.NormalizationKinds {
		whole := map[string]any{"kind": k.Kind}
		for _, name := range k.Required {
			whole[name] = "x"
		}
		require.NoError(t, event.Validate(whole), k.Kind)
		for _, name := range k.Required {
			lacking := map[string]any{}
			for key, v := range whole {
				if key != name {
					lacking[key] = v
				}
			}
			assert.Error(t, event.Validate(lacking), "%s without %s", k.Kind, name)
		}
	}
}

// TestTaxonomyIsWhole counts what the contract's tables have.
func TestTaxonomyIsWhole(t *testing.T) {
	tax, err := schemas.LoadTaxonomy()
	require.NoError(t, err)
	validators, err := schemas.LoadValidatorCodes()
	require.NoError(t, err)
	assert.Len(t, tax.Kinds, 10)
	assert.Len(t, tax.Codes, 9)
	assert.Len(t, validators.Codes, 19)
	assert.Len(t, tax.HTTPCodes, 3)
	assert.Len(t, tax.AgentCodes, 8)
	assert.Len(t, tax.WarningKinds, 6)
	assert.NotEmpty(t, tax.SuiteVersion)
	for _, f := range tax.HTTPCodes {
		_, ok := f.Pairing(418)
		assert.True(t, ok, f.Prefix)
	}
	_, ok := schemas.HTTPFamily{Pairings: []schemas.HTTPPairing{{Statuses: []int{429}}}}.Pairing(418)
	assert.False(t, ok)
}

func TestRulesNameFilesThatExist(t *testing.T) {
	rules, err := schemas.LoadRules()
	require.NoError(t, err)
	require.NotEmpty(t, rules)
	for _, r := range rules {
		assert.FileExists(t, filepath.Join("examples", r.Right), r.ID)
		assert.FileExists(t, filepath.Join("examples", r.Wrong), r.ID)
		for what, text := range map[string]string{"severity": r.Severity, "where": r.Where, "meaning": r.Meaning, "fix": r.Fix} {
			assert.NotEmpty(t, text, "%s of %s", what, r.ID)
		}
		assert.NotEmpty(t, r.From, r.ID)
	}
}

func column[T any](rows []T, name func(T) string) []string {
	var out []string
	for _, row := range rows {
		out = append(out, name(row))
	}
	return out
}

func texts(values []any) []string {
	return column(values, func(v any) string { return v.(string) })
}

// TestTablesRefuseWhatTheyDoNotKnow holds that a misspelt member of a table is
// an error: it would otherwise be a rule that is silently not applied.
func TestTablesRefuseWhatTheyDoNotKnow(t *testing.T) {
	text, err := schemas.Read("taxonomy.json")
	require.NoError(t, err)
	d := json.NewDecoder(bytes.NewReader(bytes.Replace(text, []byte(`"demands_code"`), []byte(`"demands_kode"`), 1)))
	d.DisallowUnknownFields()
	require.ErrorContains(t, d.Decode(new(schemas.Taxonomy)), "demands_kode")
	assert.False(t, slices.Contains(schemas.All(), "taxonomy.json"))
}
