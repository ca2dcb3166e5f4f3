package fastschema

import (
	"strconv"
	"strings"

	"github.com/soakgate/soakgate/internal/classify/jsontape"
)

// MaxRejectedItems is how many items of one array the library is shown that
// are not accepted. An array of a million wrong items would otherwise cost a
// million errors of hundreds of bytes each.
const MaxRejectedItems = 100

// Instance is the value that the library judges in place of a node: what the
// schema looks at, and no more. Members that the schema does not name are left
// out, values it accepts unseen are nil, and of an array's items only those
// are shown that are not accepted. That changes neither the verdict nor what is
// wrong, because Compile refuses keywords that count or forbid unnamed parts.
type Instance struct {
	Value any
	// shown has, for the pointer of each array in Value, where its items stand
	// in the array that it stands for.
	shown map[string][]int
}

// Instance builds what the library judges in place of node i.
func (s *Schema) Instance(t *jsontape.Tape, i uint32) Instance {
	b := builder{tape: t, shown: map[string][]int{}}
	return Instance{b.build(i, "", []*Schema{s}), b.shown}
}

// Location turns reference tokens into Value to those into the node.
func (in Instance) Location(tokens []string) []string {
	out := make([]string, len(tokens))
	at := ""
	for k, token := range tokens {
		out[k] = token
		if shown, ok := in.shown[at]; ok {
			if n, err := strconv.Atoi(token); err == nil && n < len(shown) {
				out[k] = strconv.Itoa(shown[n])
			}
		}
		at += "/" + token
	}
	return out
}

// builder keeps what a build shares. Pointers in it are not escaped: the names
// in a schema hold no slash, and others are left out.
type builder struct {
	tape  *jsontape.Tape
	shown map[string][]int
}

// build makes the value for the schemas that are applied to node i.
func (b *builder) build(i uint32, at string, schemas []*Schema) any {
	if len(schemas) == 0 {
		return nil
	}
	switch b.tape.Nodes[i].Kind {
	case jsontape.True:
		return true
	case jsontape.False:
		return false
	case jsontape.Number:
		return b.number(i)
	case jsontape.String:
		return b.tape.String(i)
	case jsontape.Array:
		return b.array(i, at, schemas)
	case jsontape.Object:
		return b.object(i, at, schemas)
	}
	return nil
}

// array shows the items that are not accepted, and of the accepted ones as many
// as a count is compared with.
func (b *builder) array(i uint32, at string, schemas []*Schema) []any {
	var items []*Schema
	least := 0
	for _, s := range schemas {
		items = append(items, s.itemSchemas...)
		least = max(least, s.leastItems())
	}
	out, shown := []any{}, []int{}
	index, rejected := -1, 0
	for j := range b.tape.Children(i) {
		index++
		if accepted := acceptedBy(items, b.tape, j); !accepted {
			rejected++
		} else if len(out) >= least {
			continue
		}
		out = append(out, b.build(j, at+"/"+strconv.Itoa(len(out)), items))
		shown = append(shown, index)
		if rejected == MaxRejectedItems {
			break
		}
	}
	b.shown[at] = shown
	return out
}

// leastItems is the largest minItems that s or a schema applied in place asks.
func (s *Schema) leastItems() int {
	least := s.minItems
	for _, in := range s.inPlace() {
		least = max(least, in.leastItems())
	}
	return least
}

func acceptedBy(schemas []*Schema, t *jsontape.Tape, i uint32) bool {
	for _, s := range schemas {
		if !s.Accepts(t, i) {
			return false
		}
	}
	return true
}

func (b *builder) object(i uint32, at string, schemas []*Schema) map[string]any {
	out := map[string]any{}
	for j := range b.tape.Children(i) {
		key := b.tape.Key(j)
		var subs []*Schema
		named := false
		for _, s := range schemas {
			wanted, ok := s.wanted[key]
			named = named || ok
			subs = append(subs, wanted...)
		}
		if named {
			out[key] = b.build(j, at+"/"+key, subs)
		}
	}
	return out
}

// number gives the library a value whose size is bounded: it computes with
// exact fractions, for which 1e999999999 is a gigabyte of digits. A number
// beyond a double is shown as 0; errors at such a number are the caller's to
// drop, since the value is not used (R17).
func (b *builder) number(i uint32) any {
	if b.tape.Nodes[i].Has(jsontape.Integral) {
		if v, ok := b.tape.Int(i); ok {
			return v
		}
	}
	f, _ := b.tape.Float(i)
	return f
}

// hasSlash tells whether a name would need escaping in a pointer.
func hasSlash(name string) bool { return strings.ContainsAny(name, "/~") }
