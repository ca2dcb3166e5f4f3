// Package fastschema is the fast twin of a compiled JSON Schema. It reads the
// library's own compiled schema, so that there is one text to maintain, and
// answers one question about a parsed value: would the library accept it? It
// refuses to say why not (the library does that), and it refuses, when it
// compiles, a schema with a keyword it does not know.
package fastschema

import (
	"fmt"
	"math/big"
	"reflect"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/soakgate/soakgate/internal/classify/jsontape"
)

// Schema is a compiled check. It is immutable once compiled.
type Schema struct {
	types    kinds // 0 allows every type
	integers bool  // numbers must be integers

	hasEnum bool
	enum    []value

	hasMinimum bool
	minimum    float64
	minItems   int

	members  []member // sorted by first appearance; looked up by length and bytes
	required uint64   // bit i: members[i] must be there
	items    *Schema

	all   []*Schema // allOf and $ref
	any   []*Schema
	not   *Schema
	conds []cond
	// choices are conditions of the form "if this member is this text, then",
	// which are nearly all there are; one lookup serves all that share a member.
	choices []choice

	// free is true when every value is accepted.
	free bool
	// wanted are the member names that this schema, or one applied in place,
	// looks at; itemsWanted says the same of items.
	wanted      map[string][]*Schema
	itemSchemas []*Schema
}

type member struct {
	name string
	sch  *Schema // nil when only its presence matters
}

type cond struct{ when, then, otherwise *Schema }

// choice applies a schema where the member has one of the texts.
type choice struct {
	member string
	cases  []choiceCase
}

type choiceCase struct {
	texts []value
	then  *Schema
}

// value is a constant of an enum or const: a string, or an integer.
type value struct {
	text   string
	number float64
	isText bool
}

// kinds is a set of jsontape kinds.
type kinds uint16

func (k kinds) has(kind jsontape.Kind) bool { return k&(1<<kind) != 0 }

// known lists the fields of jsonschema.Schema that Compile understands, or that
// do not affect what is accepted. Any other field that is set is an error.
var known = map[string]bool{
	"DraftVersion": true, "Location": true, "ID": true, "Title": true, "Description": true, "Comment": true,
	"Ref": true, "Types": true, "Enum": true, "Const": true, "Not": true, "AllOf": true, "AnyOf": true,
	"If": true, "Then": true, "Else": true, "Required": true, "Properties": true, "MinItems": true,
	"Items2020": true, "Minimum": true,
}

// Compile makes the fast twin of sch. The error names the schema's location
// and the keyword that has no twin.
func Compile(sch *jsonschema.Schema) (*Schema, error) {
	c := compiler{done: map[*jsonschema.Schema]*Schema{}}
	return c.compile(sch)
}

type compiler struct {
	done map[*jsonschema.Schema]*Schema
}

func (c *compiler) compile(sch *jsonschema.Schema) (*Schema, error) {
	if sch == nil {
		return nil, nil
	}
	if s, ok := c.done[sch]; ok {
		if s == nil {
			return nil, fmt.Errorf("compile %s: a schema that refers to itself has no fast twin", sch.Location)
		}
		return s, nil
	}
	c.done[sch] = nil
	s := new(Schema)
	if err := c.fill(s, sch); err != nil {
		return nil, err
	}
	s.finish()
	c.done[sch] = s
	return s, nil
}

func (c *compiler) fill(s *Schema, sch *jsonschema.Schema) error {
	if sch.Bool != nil && *sch.Bool { // true, or {}
		return nil
	}
	if err := refuseUnknown(sch); err != nil {
		return err
	}
	if err := s.assertions(sch); err != nil {
		return err
	}
	var err error
	sub := func(sch *jsonschema.Schema) (out *Schema) {
		if err == nil {
			out, err = c.compile(sch)
		}
		return out
	}
	list := func(schemas []*jsonschema.Schema) (out []*Schema) {
		for _, sch := range schemas {
			out = append(out, sub(sch))
		}
		return out
	}
	s.items, s.not = sub(sch.Items2020), sub(sch.Not)
	s.all, s.any = list(sch.AllOf), list(sch.AnyOf)
	if sch.Ref != nil {
		s.all = append(s.all, sub(sch.Ref))
	}
	if sch.If != nil {
		s.conds = append(s.conds, cond{sub(sch.If), sub(sch.Then), sub(sch.Else)})
	}
	names := slices.Clone(sch.Required)
	for name := range sch.Properties {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(names) > 64 || slices.ContainsFunc(names, hasSlash) {
		return fmt.Errorf("compile %s: more than 64 members, or a name with / or ~, has no fast twin", sch.Location)
	}
	for i, name := range names {
		s.members = append(s.members, member{name, sub(sch.Properties[name])})
		if slices.Contains(sch.Required, name) {
			s.required |= 1 << i
		}
	}
	return err
}

// refuseUnknown reports a keyword that Compile does not understand.
func refuseUnknown(sch *jsonschema.Schema) error {
	v := reflect.ValueOf(sch).Elem()
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.IsExported() && !known[f.Name] && !v.Field(i).IsZero() {
			return fmt.Errorf("compile %s: the keyword behind %s has no fast twin; add one, or leave the keyword out", sch.Location, f.Name)
		}
	}
	return nil
}

// typeKinds maps the names of JSON Schema's types.
var typeKinds = map[string]kinds{
	"null":    1 << jsontape.Null,
	"boolean": 1<<jsontape.True | 1<<jsontape.False,
	"number":  1 << jsontape.Number,
	"integer": 1 << jsontape.Number,
	"string":  1 << jsontape.String,
	"array":   1 << jsontape.Array,
	"object":  1 << jsontape.Object,
}

func (s *Schema) assertions(sch *jsonschema.Schema) error {
	if sch.Types != nil {
		names := sch.Types.ToStrings()
		for _, name := range names {
			s.types |= typeKinds[name]
		}
		s.integers = slices.Contains(names, "integer") && !slices.Contains(names, "number")
	}
	var consts []any
	if sch.Enum != nil {
		s.hasEnum, consts = true, sch.Enum.Values
	}
	if sch.Const != nil {
		if s.hasEnum {
			return fmt.Errorf("compile %s: enum and const together have no fast twin", sch.Location)
		}
		s.hasEnum, consts = true, []any{*sch.Const}
	}
	for _, v := range consts {
		switch v := v.(type) {
		case string:
			s.enum = append(s.enum, value{text: v, isText: true})
		case interface{ Float64() (float64, error) }: // json.Number
			f, err := v.Float64()
			if err != nil {
				return fmt.Errorf("compile %s: constant: %w", sch.Location, err)
			}
			s.enum = append(s.enum, value{number: f})
		default:
			return fmt.Errorf("compile %s: a constant that is neither text nor number has no fast twin", sch.Location)
		}
	}
	if sch.MinItems != nil {
		s.minItems = *sch.MinItems
	}
	if sch.Minimum != nil {
		return s.setMinimum(sch.Location, sch.Minimum)
	}
	return nil
}

func (s *Schema) setMinimum(location string, bound *big.Rat) error {
	f, exact := bound.Float64()
	if !exact {
		return fmt.Errorf("compile %s: a minimum that is no double has no fast twin", location)
	}
	s.hasMinimum, s.minimum = true, f
	return nil
}

// asChoice reads s as a choice, when it is one and nothing else.
func (s *Schema) asChoice() (choice, bool) {
	if len(s.conds) != 1 || s.types != 0 || s.hasEnum || s.hasMinimum || s.minItems != 0 || len(s.members) > 0 ||
		s.items != nil || s.not != nil || len(s.all) > 0 || len(s.any) > 0 || len(s.choices) > 0 {
		return choice{}, false
	}
	c := s.conds[0]
	if c.otherwise != nil || c.then == nil || len(c.when.members) != 1 || c.when.required != 1 || len(c.when.inPlace()) > 0 ||
		c.when.types != 0 || c.when.hasEnum || c.when.hasMinimum || c.when.minItems != 0 || c.when.items != nil {
		return choice{}, false
	}
	m := c.when.members[0]
	if m.sch == nil || !m.sch.hasEnum || m.sch.types != 0 || len(m.sch.inPlace()) > 0 ||
		slices.ContainsFunc(m.sch.enum, func(v value) bool { return !v.isText }) {
		return choice{}, false
	}
	return choice{m.name, []choiceCase{{m.sch.enum, c.then}}}, true
}

// fold turns the choices among the parts of allOf into choices of s.
func (s *Schema) fold() {
	rest := s.all[:0:0]
	for _, sub := range s.all {
		c, ok := sub.asChoice()
		if !ok {
			rest = append(rest, sub)
			continue
		}
		same := slices.IndexFunc(s.choices, func(have choice) bool { return have.member == c.member })
		if same < 0 {
			s.choices = append(s.choices, c)
		} else {
			s.choices[same].cases = append(s.choices[same].cases, c.cases...)
		}
	}
	s.all = rest
}

// finish derives what the schema looks at from its parts.
func (s *Schema) finish() {
	s.wanted = map[string][]*Schema{}
	for _, m := range s.members {
		s.wanted[m.name] = nil // its presence matters
		if m.sch != nil && !m.sch.free {
			s.wanted[m.name] = []*Schema{m.sch}
		}
	}
	if s.items != nil && !s.items.free {
		s.itemSchemas = append(s.itemSchemas, s.items)
	}
	for _, in := range s.inPlace() {
		for name, schemas := range in.wanted {
			s.wanted[name] = append(s.wanted[name], schemas...)
		}
		s.itemSchemas = append(s.itemSchemas, in.itemSchemas...)
	}
	s.free = s.types == 0 && !s.hasEnum && !s.hasMinimum && s.minItems == 0 &&
		len(s.members) == 0 && s.items == nil && len(s.inPlace()) == 0
	s.fold()
}

// inPlace lists the schemas that are applied to the same value as s.
func (s *Schema) inPlace() []*Schema {
	out := slices.Concat(s.all, s.any)
	for _, c := range s.conds {
		out = append(out, c.when, c.then, c.otherwise)
	}
	for _, c := range s.choices {
		for _, row := range c.cases {
			out = append(out, row.then)
		}
	}
	out = append(out, s.not)
	return slices.DeleteFunc(out, func(s *Schema) bool { return s == nil })
}
