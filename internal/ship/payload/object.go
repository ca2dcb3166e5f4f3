package payload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
)

// Object is a JSON object whose members keep their order, as a Python server's
// dict does.
type Object []Member

// Member is one member of an Object.
type Member struct {
	Key   string
	Value any // string, bool, int, float64, nil, object, []any or literal
}

// literal is JSON text put in as it stands. It exists in text bodies only: an
// OTLP AnyValue cannot hold 1e400 or NaN.
type literal string

// With is o with key set to value: in its old place, or at the end.
func (o Object) With(key string, value any) Object {
	out := slices.Clone(o)
	for i := range out {
		if out[i].Key == key {
			out[i].Value = value
			return out
		}
	}
	return append(out, Member{key, value})
}

// Without is o less the member key.
func (o Object) Without(key string) Object {
	return slices.DeleteFunc(slices.Clone(o), func(m Member) bool { return m.Key == key })
}

// get gives the last member key, as JSON readers do when a key comes twice.
func (o Object) get(key string) (any, bool) {
	for _, m := range slices.Backward(o) {
		if m.Key == key {
			return m.Value, true
		}
	}
	return nil, false
}

// str is the member key when it is text, else "".
func (o Object) str(key string) string {
	v, _ := o.get(key)
	s, _ := v.(string)
	return s
}

// Spacing is the text between members and after keys.
type Spacing struct{ comma, colon string }

// The two spacings that servers' libraries write.
var (
	Compact = Spacing{",", ":"}
	Spaced  = Spacing{", ", ": "} // what Python's json.dumps writes by default
)

// Text is v as JSON.
func Text(v any, s Spacing) string {
	var b strings.Builder
	writeJSON(&b, v, s)
	return b.String()
}

func writeJSON(b *strings.Builder, v any, s Spacing) {
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case literal:
		b.WriteString(string(v))
	case string:
		b.WriteString(quote(v))
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case int:
		b.WriteString(strconv.Itoa(v))
	case float64:
		b.WriteString(number(v))
	case Object:
		b.WriteByte('{')
		for i, m := range v {
			if i > 0 {
				b.WriteString(s.comma)
			}
			b.WriteString(quote(m.Key) + s.colon)
			writeJSON(b, m.Value, s)
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteString(s.comma)
			}
			writeJSON(b, e, s)
		}
		b.WriteByte(']')
	default:
		panic(fmt.Sprintf("ship: no JSON for a %T", v)) // only our own tables reach this
	}
}

// quote writes a JSON string without escaping <, > and &, as servers do.
func quote(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }) {
		return `"` + s + `"`
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err) // a string always encodes
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// number writes a float as Python does: 5.0, not 5.
func number(f float64) string {
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// Mappable tells whether v can travel as an AnyValue: no literal in it, and no
// key twice.
func Mappable(v any) bool {
	switch v := v.(type) {
	case literal:
		return false
	case Object:
		seen := map[string]bool{}
		for _, m := range v {
			if seen[m.Key] || !Mappable(m.Value) {
				return false
			}
			seen[m.Key] = true
		}
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { return !Mappable(e) })
	}
	return true
}

// Structure is v as the log API's value: what a server that logs a dict sends.
// It takes mappable values only.
func Structure(v any) attribute.Value {
	switch v := v.(type) {
	case string:
		return attribute.StringValue(v)
	case bool:
		return attribute.BoolValue(v)
	case int:
		return attribute.IntValue(v)
	case float64:
		return attribute.Float64Value(v)
	case Object:
		kvs := make([]attribute.KeyValue, len(v))
		for i, m := range v {
			kvs[i] = attribute.KeyValue{Key: attribute.Key(m.Key), Value: Structure(m.Value)}
		}
		return attribute.MapValue(kvs...)
	case []any:
		vs := make([]attribute.Value, len(v))
		for i, e := range v {
			vs[i] = Structure(e)
		}
		return attribute.SliceValue(vs...)
	}
	return attribute.Value{} // null is an AnyValue with no value set
}
