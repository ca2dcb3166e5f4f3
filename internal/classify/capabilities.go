package classify

import (
	"errors"
	"fmt"

	"github.com/soakgate/soakgate/internal/classify/jsontape"
	"github.com/soakgate/soakgate/internal/classify/locate"
)

// ErrNoCapabilities reports an object that declares nothing of a server.
var ErrNoCapabilities = errors.New(`no capability object: expected "openbridge_envelope", or "contract_version" with "error_kinds"`)

// MaxDeclared bounds each list of Capabilities; a server has tens of tools.
const MaxDeclared = 10_000

// Capabilities is what a server declares of itself (R114 to R117). Lists keep
// every text that was sent, also those that break the contract.
type Capabilities struct {
	ContractVersion Optional[int64]
	ErrorKinds      []string
	NormalizedKinds []string
	// NormalizationMeta and StrictUnknownFields are the declared defaults of
	// MCP_SCHEMA_KEY_NORMALIZATION_META and MCP_STRICT_UNKNOWN_FIELDS (R112).
	NormalizationMeta   Optional[bool]
	StrictUnknownFields Optional[bool]
	Tools               []string
	SpecURL             Optional[string]
}

// ParseCapabilities reads {"openbridge_envelope": {...}} or the answer of the
// contract tool, alone or in a JSON-RPC result, and judges it by its schema.
// The findings are violations; an error means that there is nothing to judge.
func (c *Classifier) ParseCapabilities(text []byte) (Capabilities, []Finding, error) {
	var dst Judgement
	dst.reset()
	w := c.scratch.Get().(*judging)
	defer c.scratch.Put(w)
	w.begin(c.contract, &dst, Payload{Text: text})
	t, root, err := w.capabilityObject(text)
	if err != nil {
		w.finish()
		return Capabilities{}, nil, fmt.Errorf("read capabilities: %w", err)
	}
	w.root = root
	out := w.readCapabilities(t, root)
	w.schema(&w.capabilities, t)
	w.hygiene(t)
	w.finish()
	return out, dst.Violations, nil
}

// capabilityObject finds the object that declares, unwrapping JSON-RPC once.
func (w *judging) capabilityObject(text []byte) (*jsontape.Tape, uint32, error) {
	t, root, err := w.wholeObject(text)
	if err != nil {
		return nil, 0, err
	}
	if result, ok := t.Member(root, "result"); ok {
		if structured, ok := t.Member(result, "structuredContent"); ok {
			root = structured
		} else if i, ok := contentText(t, result); ok && t.Nodes[i].Kind == jsontape.String {
			if t, root, err = w.wholeObject(t.AppendString(nil, i)); err != nil {
				return nil, 0, err
			}
		}
	}
	_, declared := t.Member(root, "openbridge_envelope")
	_, version := t.Member(root, "contract_version")
	_, kinds := t.Member(root, "error_kinds")
	if !declared && !version && !kinds {
		return nil, 0, ErrNoCapabilities
	}
	return t, root, nil
}

// wholeObject reads a text that is one JSON object.
func (w *judging) wholeObject(text []byte) (*jsontape.Tape, uint32, error) {
	if len(text) > MaxPayload {
		return nil, 0, fmt.Errorf("the text has %d bytes, of which at most %d are read", len(text), MaxPayload)
	}
	at, out := w.scan.Locate(text)
	if out != locate.Object {
		return nil, 0, errors.New("expected one JSON object and nothing else")
	}
	return at.Tape, at.Root, nil
}

func (w *judging) readCapabilities(t *jsontape.Tape, root uint32) Capabilities {
	var out Capabilities
	from := root
	if declared, ok := t.Member(root, "openbridge_envelope"); ok {
		from = declared
		w.declaration(t, root, &out) // env_vars and tools may stand beside it
	}
	w.declaration(t, from, &out)
	return out
}

// declaration reads the members of one object over what out already has.
func (w *judging) declaration(t *jsontape.Tape, i uint32, out *Capabilities) {
	if t.Nodes[i].Kind != jsontape.Object {
		return
	}
	for j := range t.Children(i) {
		switch t.Key(j) {
		case "contract_version":
			if t.Nodes[j].Kind == jsontape.Number {
				v, ok := t.Int(j)
				out.ContractVersion = Optional[int64]{v, ok}
			}
		case "error_kinds":
			out.ErrorKinds = w.texts(t, j)
		case "normalized_kinds":
			out.NormalizedKinds = w.texts(t, j)
		case "tools":
			out.Tools = w.texts(t, j)
		case "spec_url":
			out.SpecURL = w.textOf(t, j)
		case "env_vars":
			out.NormalizationMeta = envDefault(t, j, "MCP_SCHEMA_KEY_NORMALIZATION_META")
			out.StrictUnknownFields = envDefault(t, j, "MCP_STRICT_UNKNOWN_FIELDS")
		}
	}
}

// texts lists the strings of array i.
func (w *judging) texts(t *jsontape.Tape, i uint32) []string {
	var out []string
	if t.Nodes[i].Kind != jsontape.Array {
		return nil
	}
	for j := range t.Children(i) {
		if s := w.textOf(t, j); s.Set && len(out) < MaxDeclared {
			out = append(out, s.Value)
		}
	}
	return out
}

// envDefault reads env_vars.<name>.default.
func envDefault(t *jsontape.Tape, vars uint32, name string) Optional[bool] {
	i, ok := t.Member(vars, name)
	if !ok {
		return Optional[bool]{}
	}
	i, ok = t.Member(i, "default")
	if !ok {
		return Optional[bool]{}
	}
	kind := t.Nodes[i].Kind
	return Optional[bool]{kind == jsontape.True, kind == jsontape.True || kind == jsontape.False}
}
