package fastschema_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/classify/fastschema"
	"github.com/soakgate/soakgate/internal/classify/jsontape"
)

func library(t testing.TB, schema string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	require.NoError(t, err, schema)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("test:///s.json", doc))
	sch, err := c.Compile("test:///s.json")
	require.NoError(t, err, schema)
	return sch
}

func tape(t testing.TB, text string) *jsontape.Tape {
	t.Helper()
	out := new(jsontape.Tape)
	_, err := out.Parse([]byte(text), 0)
	require.NoError(t, err, text)
	return out
}

// places lists where the library finds a value wrong.
func places(err error, locate func([]string) []string) []string {
	var tree *jsonschema.ValidationError
	if !errors.As(err, &tree) {
		return []string{}
	}
	var out []string
	for _, cause := range tree.Causes {
		out = append(out, places(cause, locate)...)
	}
	if len(tree.Causes) == 0 {
		out = append(out, fmt.Sprintf("%s %T", strings.Join(locate(tree.InstanceLocation), "/"), tree.ErrorKind))
	}
	return out
}

func asIs(at []string) []string { return at }

// schemas use every keyword that has a fast twin, alone and in combination.
var schemas = []string{
	`{}`, `true`, `{"title":"nothing asked"}`,
	`{"type":"string"}`, `{"type":["number","string"]}`, `{"type":"integer"}`, `{"type":["integer","number"]}`, `{"type":"boolean"}`, `{"type":"null"}`,
	`{"type":"array"}`, `{"type":"object"}`,
	`{"enum":["a","b"]}`, `{"const":1}`, `{"const":"a"}`, `{"type":"integer","const":1}`,
	`{"minimum":0}`, `{"type":"number","minimum":-1.5}`,
	`{"minItems":2}`, `{"items":{"type":"string"}}`, `{"items":{"type":"string"},"minItems":1}`, `{"items":true}`,
	`{"required":["a"]}`, `{"properties":{"a":{"type":"string"}}}`, `{"required":["a","b"],"properties":{"a":{"type":"string"},"c":{"items":{"type":"integer"}}}}`,
	`{"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{"anyOf":[{"type":"string"},{"minItems":1,"type":"array"}]}`,
	`{"allOf":[{"required":["a"]},{"properties":{"a":{"minimum":1}}}]}`,
	`{"not":{"required":["a"]}}`, `{"properties":{"a":{"not":{}}}}`, `{"not":{"items":{"type":"string"}}}`,
	`{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}`,
	`{"if":{"type":"array"},"then":{"items":{"minimum":0}}}`, `{"if":{"type":"string"},"else":{"type":"object"}}`,
	`{"allOf":[{"if":{"required":["a"],"properties":{"a":{"const":"a"}}},"then":{"required":["b"]}},{"if":{"required":["a"],"properties":{"a":{"enum":["b","x"]}}},"then":{"properties":{"c":{"type":"string"}}}},{"if":{"required":["c"],"properties":{"c":{"const":"a"}}},"then":{"required":["b"]}}]}`,
	`{"allOf":[{"if":{"properties":{"a":{"const":"a"}}},"then":{"required":["b"]}}]}`,
	`{"allOf":[{"if":{"required":["a"],"properties":{"a":{"const":1}}},"then":{"required":["b"]}}]}`,
	`{"allOf":[{"if":{"required":["a"],"properties":{"a":{"type":"string","const":"a"}}},"then":{"required":["b"]},"else":{"required":["c"]}}]}`,
	`{"$defs":{"d":{"type":"array","items":{"$ref":"#/$defs/e"}},"e":{"required":["a"],"properties":{"a":{"type":"string"}}}},"properties":{"a":{"$ref":"#/$defs/d"},"b":{"$ref":"#/$defs/e"}}}`,
	`{"properties":{"a":{"items":{"items":{"type":"string"},"minItems":1}}}}`,
}

// randomValue writes JSON with names and values that the schemas care about.
func randomValue(r *rand.Rand, depth int) string {
	if depth == 0 || r.IntN(3) == 0 {
		return []string{`"a"`, `"b"`, `"x"`, `"\u0061"`, `""`, `0`, `1`, `1.0`, `-3`, `2.5`, `1e3`, `123456789012345678901`, `true`, `false`, `null`}[r.IntN(15)]
	}
	var parts []string
	n := r.IntN(4)
	if r.IntN(2) == 0 {
		for range n {
			parts = append(parts, randomValue(r, depth-1))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	for range n {
		name := []string{`"a"`, `"b"`, `"c"`, `"d"`, `"\u0062"`}[r.IntN(5)]
		parts = append(parts, name+":"+randomValue(r, depth-1))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// TestTwinsAgree holds the fast twin to the library on random values: the same
// verdict, and the same errors at the same places for the pruned instance.
func TestTwinsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, schema := range schemas {
		slow := library(t, schema)
		fast, err := fastschema.Compile(slow)
		require.NoError(t, err, schema)
		accepted, rejected := 0, 0
		for range 1500 {
			text := randomValue(r, 4)
			tp := tape(t, text)
			whole, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
			require.NoError(t, err)
			slowErr := slow.Validate(whole)
			require.Equal(t, slowErr == nil, fast.Accepts(tp, 0), "%s\n%s\n%v", schema, text, slowErr)
			in := fast.Instance(tp, 0)
			require.ElementsMatch(t, places(slowErr, asIs), places(slow.Validate(in.Value), in.Location), "%s\n%s\n%v", schema, text, in.Value)
			if slowErr == nil {
				accepted++
			} else {
				rejected++
			}
		}
		assert.NotZero(t, accepted, schema)
		if !strings.Contains(`{} true {"title":"nothing asked"} {"items":true}`, schema) {
			assert.NotZero(t, rejected, schema)
		}
	}
}

// TestCompileRefusesWhatItDoesNotKnow holds that no keyword is silently ignored.
func TestCompileRefusesWhatItDoesNotKnow(t *testing.T) {
	many := make([]string, 65)
	for i := range many {
		many[i] = fmt.Sprintf("%q", fmt.Sprint("m", i))
	}
	for name, tc := range map[string]struct{ schema, says string }{
		"maximum":              {`{"maximum":1}`, "Maximum"},
		"pattern":              {`{"pattern":"a"}`, "Pattern"},
		"maxItems":             {`{"maxItems":1}`, "MaxItems"},
		"additionalProperties": {`{"additionalProperties":false}`, "AdditionalProperties"},
		"minProperties":        {`{"minProperties":1}`, "MinProperties"},
		"oneOf":                {`{"oneOf":[{"type":"string"}]}`, "OneOf"},
		"uniqueItems":          {`{"uniqueItems":true}`, "UniqueItems"},
		"prefixItems":          {`{"prefixItems":[{"type":"string"}]}`, "PrefixItems"},
		"dependentRequired":    {`{"dependentRequired":{"a":["b"]}}`, "DependentRequired"},
		"false":                {`{"properties":{"a":false}}`, "Bool"},
		"below":                {`{"items":{"allOf":[{"maxLength":1}]}}`, "MaxLength"},
		"enum and const":       {`{"enum":["a"],"const":"a"}`, "enum and const"},
		"null constant":        {`{"const":null}`, "neither text nor number"},
		"constant beyond":      {`{"const":1e400}`, "constant"},
		"minimum of a third":   {`{"minimum":0.1}`, "minimum"},
		"recursion":            {`{"items":{"$ref":"#"}}`, "refers to itself"},
		"too many members":     {`{"required":[` + strings.Join(many, ",") + `]}`, "64 members"},
		"a slash in a name":    {`{"required":["a/b"]}`, "no fast twin"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := fastschema.Compile(library(t, tc.schema))
			require.ErrorContains(t, err, tc.says)
			assert.ErrorContains(t, err, "test:///s.json", "says which schema")
		})
	}
}

// TestNumbersBeyondADouble holds what the library cannot be asked.
func TestNumbersBeyondADouble(t *testing.T) {
	for schema, want := range map[string]bool{
		`{"type":"number"}`: false, `{"minimum":0}`: false, `{"const":1}`: false, `{}`: true, `{"type":"string"}`: false,
	} {
		fast, err := fastschema.Compile(library(t, schema))
		require.NoError(t, err)
		assert.Equal(t, want, fast.Accepts(tape(t, `1e999`), 0), schema)
	}
	fast, err := fastschema.Compile(library(t, `{"type":"number"}`))
	require.NoError(t, err)
	assert.Zero(t, fast.Instance(tape(t, `1e999`), 0).Value)
}

// TestInstanceIsBounded holds that what the library sees does not grow with the
// payload.
func TestInstanceIsBounded(t *testing.T) {
	slow := library(t, `{"properties":{"wrong":{"items":{"type":"string"}},"right":{"items":{"type":"string"},"minItems":1},"any":{"type":"array"}}}`)
	fast, err := fastschema.Compile(slow)
	require.NoError(t, err)
	rights := strings.Repeat(`"x",`, 10_000)
	tp := tape(t, `{"wrong":[`+rights+strings.Repeat(`1,`, 10_000)+`1],"right":[`+rights+`"x"],"any":[`+rights+`1],"unnamed":[`+rights+`1]}`)
	in := fast.Instance(tp, 0)
	value := in.Value.(map[string]any)
	assert.Len(t, value, 3, "members that the schema names")
	assert.Len(t, value["wrong"], fastschema.MaxRejectedItems)
	assert.Len(t, value["right"], 1, "as many as minItems asks")
	assert.Empty(t, value["any"])
	at := places(slow.Validate(in.Value), in.Location)
	assert.Len(t, at, fastschema.MaxRejectedItems)
	assert.Contains(t, at, "wrong/10000 *kind.Type", "the first wrong item, by its own index")
	assert.Equal(t, []string{"wrong", "x", "7"}, in.Location([]string{"wrong", "x", "7"}), "what is no index stays")
}
