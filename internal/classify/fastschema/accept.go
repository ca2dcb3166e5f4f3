package fastschema

import "github.com/soakgate/soakgate/internal/classify/jsontape"

// Accepts tells whether the library would accept node i. Numbers beyond a
// double are not accepted where the schema asks anything of them.
func (s *Schema) Accepts(t *jsontape.Tape, i uint32) bool {
	if s.free {
		return true
	}
	n := &t.Nodes[i]
	if s.types != 0 && !s.types.has(n.Kind) {
		return false
	}
	if n.Kind == jsontape.Number && !s.acceptsNumber(t, i) {
		return false
	}
	if s.hasEnum && !s.listed(t, i) {
		return false
	}
	switch n.Kind {
	case jsontape.Object:
		if len(s.members) > 0 && !s.acceptsMembers(t, i) {
			return false
		}
	case jsontape.Array:
		if !s.acceptsItems(t, i) {
			return false
		}
	}
	return s.acceptsInPlace(t, i)
}

func (s *Schema) acceptsNumber(t *jsontape.Tape, i uint32) bool {
	if s.integers && !t.IsInteger(i) {
		return false
	}
	if !s.hasMinimum {
		return !t.Nodes[i].Has(jsontape.OutOfRange)
	}
	f, ok := t.Float(i)
	return ok && f >= s.minimum
}

func (s *Schema) listed(t *jsontape.Tape, i uint32) bool {
	switch t.Nodes[i].Kind {
	case jsontape.String:
		raw, plain := t.Plain(i)
		if !plain {
			raw = t.AppendString(nil, i)
		}
		for k := range s.enum {
			if s.enum[k].isText && string(raw) == s.enum[k].text {
				return true
			}
		}
	case jsontape.Number:
		f, ok := t.Float(i)
		for k := range s.enum {
			if ok && !s.enum[k].isText && f == s.enum[k].number {
				return true
			}
		}
	}
	return false
}

func (s *Schema) acceptsMembers(t *jsontape.Tape, i uint32) bool {
	var seen uint64
	end := t.Nodes[i].Next
	for j := i + 1; j < end; j = t.Nodes[j].Next {
		if t.Nodes[j].Has(jsontape.Overridden) {
			continue
		}
		k := s.find(t, j)
		if k < 0 {
			continue
		}
		seen |= 1 << k
		if sch := s.members[k].sch; sch != nil && !sch.Accepts(t, j) {
			return false
		}
	}
	return s.required&^seen == 0
}

// find is the index in members of the name of member j, -1 when it is not there.
func (s *Schema) find(t *jsontape.Tape, j uint32) int {
	n := &t.Nodes[j]
	if n.Has(jsontape.KeyEscaped | jsontape.NotUnicode) {
		return s.findName(t.Key(j))
	}
	name := t.Text[n.KeyStart:n.KeyEnd]
	for k := range s.members {
		if m := s.members[k].name; len(m) == len(name) && m == string(name) {
			return k
		}
	}
	return -1
}

func (s *Schema) findName(name string) int {
	for k := range s.members {
		if s.members[k].name == name {
			return k
		}
	}
	return -1
}

func (s *Schema) acceptsItems(t *jsontape.Tape, i uint32) bool {
	end := t.Nodes[i].Next
	if s.items == nil && s.minItems == 0 {
		return true
	}
	count := 0
	for j := i + 1; j < end; j = t.Nodes[j].Next {
		count++
		if s.items != nil && !s.items.Accepts(t, j) {
			return false
		}
	}
	return count >= s.minItems
}

func (s *Schema) acceptsInPlace(t *jsontape.Tape, i uint32) bool {
	for _, sub := range s.all {
		if !sub.Accepts(t, i) {
			return false
		}
	}
	if len(s.any) > 0 {
		met := false
		for _, sub := range s.any {
			if met = sub.Accepts(t, i); met {
				break
			}
		}
		if !met {
			return false
		}
	}
	if s.not != nil && s.not.Accepts(t, i) {
		return false
	}
	for k := range s.choices {
		if !s.choices[k].accepts(t, i) {
			return false
		}
	}
	for k := range s.conds {
		branch := s.conds[k].otherwise
		if s.conds[k].when.Accepts(t, i) {
			branch = s.conds[k].then
		}
		if branch != nil && !branch.Accepts(t, i) {
			return false
		}
	}
	return true
}

// accepts applies to node i the schemas whose text its member has.
func (c *choice) accepts(t *jsontape.Tape, i uint32) bool {
	j, ok := t.Member(i, c.member)
	if !ok {
		// What is no object meets "required" and "properties" without having
		// members, so every condition holds for it.
		return t.Nodes[i].Kind == jsontape.Object || c.acceptsAll(t, i)
	}
	for k := range c.cases {
		for v := range c.cases[k].texts {
			if t.StringIs(j, c.cases[k].texts[v].text) && !c.cases[k].then.Accepts(t, i) {
				return false
			}
		}
	}
	return true
}

func (c *choice) acceptsAll(t *jsontape.Tape, i uint32) bool {
	for k := range c.cases {
		if !c.cases[k].then.Accepts(t, i) {
			return false
		}
	}
	return true
}
