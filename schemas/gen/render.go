package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"text/template"

	"github.com/soakgate/soakgate/schemas"
)

//go:embed contract.md.tmpl
var page string

// contract is what the template prints.
type contract struct {
	*schemas.Taxonomy
	Validators *schemas.ValidatorCodes
	Rules      []rule
	Envelope   []member
	Meta       []member
	RateLimit  []member
	Warning    []member
	AgentError []member
	AgentPage  []member
	AgentMeta  []member
	Pagination []member
	Declared   []member
}

// rule is a row of rules.json with its examples as text.
type rule struct {
	schemas.Rule
	RightText, WrongText string
}

// member is one member that a schema describes.
type member struct {
	Name, Type, Says string
	Required         bool
}

func render(examples fs.FS) ([]byte, error) {
	var c contract
	var err error
	if c.Taxonomy, err = schemas.LoadTaxonomy(); err != nil {
		return nil, err
	}
	if c.Validators, err = schemas.LoadValidatorCodes(); err != nil {
		return nil, err
	}
	if c.Rules, err = rules(examples); err != nil {
		return nil, err
	}
	for _, part := range []struct {
		into *[]member
		file string
		path []string
	}{
		{&c.Envelope, schemas.ErrorEnvelope, nil},
		{&c.Meta, schemas.ResponseMeta, []string{"$defs", "meta"}},
		{&c.RateLimit, schemas.ResponseMeta, []string{"$defs", "rate_limit"}},
		{&c.Warning, schemas.ResponseMeta, []string{"$defs", "warning"}},
		{&c.AgentError, schemas.AgentError, []string{"properties", "error"}},
		{&c.AgentPage, schemas.AgentSuccess, nil},
		{&c.AgentMeta, schemas.AgentSuccess, []string{"properties", "meta"}},
		{&c.Pagination, schemas.AgentSuccess, []string{"properties", "pagination"}},
		{&c.Declared, schemas.Capabilities, []string{"$defs", "declaration"}},
	} {
		if *part.into, err = members(part.file, part.path); err != nil {
			return nil, err
		}
	}
	t, err := template.New("contract").Funcs(template.FuncMap{
		"code": code, "codes": codes, "servers": servers, "cell": cell, "from": func(r []string) string { return strings.Join(r, ", ") },
		"statuses": statuses,
	}).Parse(page)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, c)
	return out.Bytes(), err
}

func rules(examples fs.FS) ([]rule, error) {
	rows, err := schemas.LoadRules()
	if err != nil {
		return nil, err
	}
	out := make([]rule, len(rows))
	for i, row := range rows {
		out[i].Rule = row
		for _, side := range []struct {
			file string
			into *string
		}{{row.Right, &out[i].RightText}, {row.Wrong, &out[i].WrongText}} {
			text, err := fs.ReadFile(examples, side.file)
			if err != nil {
				return nil, fmt.Errorf("read the example of %s: %w", row.ID, err)
			}
			if *side.into, err = excerpt(row, side.file, text); err != nil {
				return nil, fmt.Errorf("show %s of %s: %w", side.file, row.ID, err)
			}
		}
	}
	return out, nil
}

// node is what of a schema the document tells.
type node struct {
	Title       string                     `json:"title"`
	Description string                     `json:"description"`
	Type        any                        `json:"type"`
	Ref         string                     `json:"$ref"`
	Not         any                        `json:"not"`
	Required    []string                   `json:"required"`
	Properties  map[string]json.RawMessage `json:"properties"`
}

// members reads the members that the schema at path in a file describes: the
// required ones first, in the schema's order, then the others by name.
func members(file string, path []string) ([]member, error) {
	text, err := schemas.Read(file)
	if err != nil {
		return nil, err
	}
	raw := json.RawMessage(text)
	for _, name := range path {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(raw, &object); err != nil {
			return nil, fmt.Errorf("%s at %s: %w", file, name, err)
		}
		raw = object[name]
	}
	var n node
	if err := json.Unmarshal(raw, &n); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var out []member
	for name, raw := range n.Properties {
		var p node
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, fmt.Errorf("%s, member %s: %w", file, name, err)
		}
		says := strings.TrimSpace(strings.TrimSuffix(p.Title, ".") + ". " + p.Description)
		says = strings.TrimSpace(strings.TrimPrefix(says, ". "))
		if says == "." {
			says = ""
		}
		out = append(out, member{Name: name, Type: typeOf(p), Says: says, Required: slices.Contains(n.Required, name)})
	}
	place := func(m member) int {
		if i := slices.Index(n.Required, m.Name); i >= 0 {
			return i
		}
		return len(n.Required)
	}
	slices.SortFunc(out, func(a, b member) int {
		if d := place(a) - place(b); d != 0 {
			return d
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out, nil
}

func typeOf(n node) string {
	switch t := n.Type.(type) {
	case string:
		return t
	case []any:
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(t), " ", " or "), "[]")
	}
	switch {
	case n.Not != nil:
		return "not allowed"
	case n.Ref != "":
		return "see " + n.Ref[strings.LastIndex(n.Ref, "/")+1:]
	}
	return "any"
}

// code is s as inline code, whatever it holds.
func code(s string) string {
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + s + fence
}

func codes(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = code(s)
	}
	return strings.Join(out, ", ")
}

// cell is text for a cell of a table.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

func servers(list []string) string { return strings.Join(list, ", ") }

func statuses(list []int) string {
	if len(list) == 0 {
		return "all others"
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ", "), "[]")
}
