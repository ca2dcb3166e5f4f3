// Package strictyaml decodes one YAML document into a struct and names line and
// key of everything that does not fit. It owns the strictness that a policy
// needs: an unknown key, a key given twice or a value of the wrong type is an
// error, never a default. It refuses aliases and merge keys, so that what is
// read is what stands there.
package strictyaml

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Error is one thing wrong with a document.
type Error struct {
	Line int    // 1 is the first line
	Path string // keys from the root, joined by dots; list items as [i]
	Text string // what was expected and what was found
}

// Error gives line, path and text.
func (e *Error) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("line %d: %s", e.Line, e.Text)
	}
	return fmt.Sprintf("line %d: %s: %s", e.Line, e.Path, e.Text)
}

// Texter is a scalar with a notation of its own, such as a duration. SetText
// gets the scalar as written and returns an error that says what was expected.
type Texter interface{ SetText(s string) error }

// Lines remembers where each member of a decoded document stood, by path.
type Lines map[string]int

// At makes an error about the member at path. A member that was not written is
// blamed on the nearest parent that was.
func (l Lines) At(path, format string, args ...any) error {
	line := 1
	for p := path; p != ""; p = parent(p) {
		if n, ok := l[p]; ok {
			line = n
			break
		}
	}
	return &Error{Line: line, Path: path, Text: fmt.Sprintf(format, args...)}
}

func parent(path string) string {
	return path[:max(0, strings.LastIndexAny(path, ".["))]
}

// Decode reads the one document of data into out, a pointer to a struct whose
// fields carry json tags. Members that the document leaves out keep the value
// that out had. All faults found are joined, each an *Error.
func Decode(data []byte, out any) (Lines, error) {
	dec := yaml.NewDecoder(strings.NewReader(string(data)))
	var doc yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, &Error{Line: 1, Text: "the document is empty"}
	case err != nil:
		return nil, fmt.Errorf("read YAML: %w", err)
	}
	var more yaml.Node
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, &Error{Line: max(more.Line, 1), Text: "want one document, got a second one (or text that is not YAML after the first)"}
	}
	d := decoder{lines: Lines{}}
	d.value(doc.Content[0], reflect.ValueOf(out).Elem(), "")
	return d.lines, errors.Join(d.errs...)
}

type decoder struct {
	lines Lines
	errs  []error
}

func (d *decoder) fail(n *yaml.Node, path, format string, args ...any) {
	d.errs = append(d.errs, &Error{Line: n.Line, Path: path, Text: fmt.Sprintf(format, args...)})
}

func (d *decoder) value(n *yaml.Node, v reflect.Value, path string) {
	d.lines[path] = n.Line
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		d.fail(n, path, "anchors and aliases are not accepted: write the value out")
		return
	}
	if t, ok := reflect.TypeAssert[Texter](v.Addr()); ok {
		if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
			d.fail(n, path, "want a single value, got %s", kindOf(n))
		} else if err := t.SetText(n.Value); err != nil {
			d.fail(n, path, "%v", err)
		}
		return
	}
	if v.Type() == reflect.TypeFor[time.Time]() {
		at, err := time.Parse(time.RFC3339, n.Value)
		if n.Kind != yaml.ScalarNode || err != nil {
			d.fail(n, path, "want an instant with offset such as 2026-03-01T12:00:00Z, got %s", kindOf(n))
			return
		}
		v.Set(reflect.ValueOf(at.UTC()))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.mapping(n, v, path)
	case reflect.Slice:
		d.sequence(n, v, path)
	case reflect.String:
		if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
			d.fail(n, path, "want text, got %s (quote it if text is meant)", kindOf(n))
			return
		}
		v.SetString(n.Value)
	case reflect.Bool:
		d.scalar(n, v, path, "!!bool", "true or false")
	case reflect.Int, reflect.Int64:
		d.scalar(n, v, path, "!!int", "a whole number")
	default:
		panic("strictyaml: no notation for " + v.Type().String())
	}
}

func (d *decoder) scalar(n *yaml.Node, v reflect.Value, path, tag, want string) {
	if n.Kind != yaml.ScalarNode || n.Tag != tag || n.Decode(v.Addr().Interface()) != nil {
		d.fail(n, path, "want %s, got %s", want, kindOf(n))
	}
}

func (d *decoder) sequence(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.SequenceNode {
		d.fail(n, path, "want a list, got %s", kindOf(n))
		return
	}
	items := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, item := range n.Content {
		d.value(item, items.Index(i), fmt.Sprintf("%s[%d]", path, i))
	}
	v.Set(items)
}

func (d *decoder) mapping(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.MappingNode {
		d.fail(n, path, "want keys and values, got %s", kindOf(n))
		return
	}
	fields := map[string]int{}
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		fields[name] = i
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, at := n.Content[i], join(path, short(n.Content[i].Value))
		field, known := fields[key.Value]
		switch first, again := seen[key.Value]; {
		case again:
			d.fail(key, at, "given twice: it already stands on line %d", first)
		case !known:
			d.fail(key, at, "unknown key%s", suggest(short(key.Value), fields))
		default:
			seen[key.Value] = key.Line
			d.value(n.Content[i+1], v.Field(field), at)
			d.lines[at] = key.Line
		}
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// suggest names the known key nearest to a misspelt one, or else all of them.
func suggest(key string, fields map[string]int) string {
	names := make([]string, 0, len(fields))
	for name := range fields {
		if name != "" && name != "-" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	nearest := slices.MinFunc(names, func(a, b string) int { return distance(key, a) - distance(key, b) })
	if distance(key, nearest) <= 2 {
		return fmt.Sprintf("; did you mean %q?", nearest)
	}
	return "; known here: " + strings.Join(names, ", ")
}

// distance is the Levenshtein distance of two short words.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			diagonal, row[j] = row[j], min(row[j]+1, row[j-1]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}

// short is at most the first characters of a text, so that an error stays short.
func short(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}

// kindOf says what a node is, with the first characters of a scalar.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "keys and values"
	case yaml.SequenceNode:
		return "a list"
	}
	value := short(n.Value)
	switch n.Tag {
	case "!!null":
		return "nothing"
	case "!!str":
		return fmt.Sprintf("text %q", value)
	case "!!int", "!!float":
		return "the number " + value
	case "!!bool":
		return "the truth value " + value
	}
	return fmt.Sprintf("%q", value)
}
