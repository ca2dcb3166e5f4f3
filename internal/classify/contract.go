package classify

import (
	"bytes"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/soakgate/soakgate/internal/classify/fastschema"
	"github.com/soakgate/soakgate/schemas"
)

// contract is everything a judgement is made by: the schemas, each with its
// fast twin, and the tables.
type contract struct {
	*tables
	envelope, meta, capabilities, agentSuccess, agentError judge
}

// judge is one schema: the library's, which is the truth, and its fast twin.
type judge struct {
	slow *jsonschema.Schema
	fast *fastschema.Schema
}

// loadContract makes the contract from the tables and from the schemas that
// read gives.
func loadContract(read func(name string) ([]byte, error)) (*contract, error) {
	t, err := loadTables()
	if err != nil {
		return nil, err
	}
	compiler, err := newCompiler(read)
	if err != nil {
		return nil, err
	}
	ct := &contract{tables: t}
	for name, j := range map[string]*judge{
		schemas.ErrorEnvelope: &ct.envelope,
		schemas.ResponseMeta:  &ct.meta,
		schemas.Capabilities:  &ct.capabilities,
		schemas.AgentSuccess:  &ct.agentSuccess,
		schemas.AgentError:    &ct.agentError,
	} {
		if j.slow, err = compiler.Compile(schemas.BaseURL + name); err != nil {
			return nil, fmt.Errorf("compile schema %s: %w", name, err)
		}
		if j.fast, err = fastschema.Compile(j.slow); err != nil {
			return nil, fmt.Errorf("compile the fast twin of %s: %w", name, err)
		}
	}
	return ct, nil
}

// newCompiler knows every embedded schema by its $id. Formats are not asserted:
// draft 2020-12 makes them notes, and reset_at must pass whatever it holds (R92).
func newCompiler(read func(name string) ([]byte, error)) (*jsonschema.Compiler, error) {
	c := jsonschema.NewCompiler()
	for _, name := range schemas.All() {
		text, err := read(name)
		if err != nil {
			return nil, fmt.Errorf("read schema %s: %w", name, err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf("parse schema %s: %w", name, err)
		}
		if err := c.AddResource(schemas.BaseURL+name, doc); err != nil {
			return nil, fmt.Errorf("add schema %s: %w", name, err)
		}
	}
	return c, nil
}
