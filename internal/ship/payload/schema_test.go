package payload

import (
	"bytes"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/schemas"
)

// compile loads a schema of the contract.
func compile(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	for _, n := range schemas.All() {
		b, err := schemas.Read(n)
		require.NoError(t, err)
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		require.NoError(t, err)
		require.NoError(t, c.AddResource(schemas.BaseURL+n, doc))
	}
	s, err := c.Compile(schemas.BaseURL + name)
	require.NoError(t, err)
	return s
}

// TestSchemasAgreeOnPayloads holds what is sent against the contract's own
// JSON Schemas: sound payloads pass, and so does no payload that breaks a rule
// which a schema can state by itself.
func TestSchemasAgreeOnPayloads(t *testing.T) {
	envelopes, answers := compile(t, schemas.ErrorEnvelope), compile(t, schemas.ResponseMeta)
	valid := func(p *Payload) error {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(Text(p.Doc, Compact))))
		require.NoError(t, err)
		if p.Event == EventMeta {
			return answers.Validate(doc)
		}
		return envelopes.Validate(doc)
	}
	for _, prefix := range []string{"sp", "ads", ""} {
		for _, e := range ErrorsOf(prefix) {
			p := Envelope(e, "t")
			p.Normalize(LongBlock(3))
			require.NoError(t, valid(p), e.code)
		}
		for i := range 8 {
			for _, m := range Telemetry(prefix, i) {
				require.NoError(t, valid(MetaAnswer("t", m, i%2)))
			}
		}
	}
	structural := []string{"required", "type", "const", "minimum", "minItems", "at_least_one"}
	seen := 0
	for _, b := range Breakages() {
		if slices.Contains(structural, b.Violations[0].Rule) {
			require.Error(t, valid(b.Broken("sp", "t")), b.Name)
			seen++
		}
	}
	assert.Equal(t, 17, seen)
}
