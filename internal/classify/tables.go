package classify

import (
	"fmt"
	"strconv"

	"github.com/soakgate/soakgate/schemas"
)

// tables are the taxonomy in the form in which it is looked up.
type tables struct {
	taxonomy *schemas.Taxonomy

	kinds    map[string]kindRow
	codes    map[string]codeRow // listed codes, every upstream HTTP code among them
	reserved map[string]schemas.Reserved
	// closed are prefixes of which every right code is in codes (R64, R73).
	closed   []closedPrefix
	warnings map[string]familySet
	events   map[string]bool // kinds of normalization (R83)
	agent    map[string]schemas.AgentCode
}

// kindSet is a set of error kinds by their bits.
type kindSet uint32

type kindRow struct {
	bit     kindSet
	demands string // the only code that goes with this kind, if there is one
	rule    string // of that demand
}

type codeRow struct {
	kinds  kindSet
	status uint16 // of an upstream HTTP code
	rule   string // the requirement that pairs it
}

type closedPrefix struct{ prefix, rule, expected string }

// familySet is a set of server families by their bits; see familyBit.
type familySet uint8

func familyBit(f Family) familySet {
	switch f {
	case FamilySP:
		return 1
	case FamilyAds:
		return 2
	}
	return 0
}

func loadTables() (*tables, error) {
	tax, err := schemas.LoadTaxonomy()
	if err != nil {
		return nil, err
	}
	validators, err := schemas.LoadValidatorCodes()
	if err != nil {
		return nil, err
	}
	return newTables(tax, validators)
}

// newTables refuses a taxonomy that contradicts itself.
func newTables(tax *schemas.Taxonomy, validators *schemas.ValidatorCodes) (*tables, error) {
	t := &tables{
		taxonomy: tax,
		kinds:    map[string]kindRow{}, codes: map[string]codeRow{}, reserved: map[string]schemas.Reserved{},
		warnings: map[string]familySet{}, events: map[string]bool{}, agent: map[string]schemas.AgentCode{},
	}
	for i, k := range tax.Kinds {
		t.kinds[k.Kind] = kindRow{bit: 1 << i, demands: k.DemandsCode, rule: k.DemandsRule}
	}
	if err := t.addCodes(tax, validators); err != nil {
		return nil, err
	}
	for _, r := range tax.ReservedCodes {
		t.reserved[r.Code] = r
	}
	for _, p := range tax.ClosedPrefixes {
		t.closed = append(t.closed, closedPrefix{p.Prefix, p.Rule, "a listed " + p.Prefix + "* code"})
	}
	for _, w := range tax.WarningKinds {
		for _, server := range w.Servers {
			t.warnings[w.Kind] |= familyBit(Family(server))
		}
	}
	for _, a := range tax.AgentCodes {
		t.agent[a.Code] = a
	}
	for _, n := range tax.NormalizationKinds {
		t.events[n.Kind] = true
	}
	return t, nil
}

// addCodes fills codes: the listed ones, those of JSON Schema validators, and
// each upstream HTTP code with the pairing that its status has.
func (t *tables) addCodes(tax *schemas.Taxonomy, validators *schemas.ValidatorCodes) error {
	add := func(code, rule string, status uint16, kinds ...string) error {
		row := codeRow{rule: rule, status: status}
		for _, k := range kinds {
			bit := t.kinds[k].bit
			if bit == 0 {
				return fmt.Errorf("pair code %s (%s): kind %q is not in the taxonomy", code, rule, k)
			}
			row.kinds |= bit
		}
		if _, twice := t.codes[code]; twice || row.kinds == 0 {
			return fmt.Errorf("pair code %s (%s): it is listed twice, or without a kind", code, rule)
		}
		t.codes[code] = row
		return nil
	}
	for _, c := range tax.Codes {
		if err := add(c.Code, c.Rule, 0, c.Kinds...); err != nil {
			return err
		}
	}
	for _, c := range validators.Codes {
		if err := add(c.Code, validators.Rule, 0, validators.ErrorKind); err != nil {
			return err
		}
	}
	for _, f := range tax.HTTPCodes {
		t.closed = append(t.closed, closedPrefix{f.Prefix, f.Rule, fmt.Sprintf("%s and three digits, %d to %d",
			f.Prefix, tax.HTTPStatus.Min, tax.HTTPStatus.Max)})
		for status := tax.HTTPStatus.Min; status <= tax.HTTPStatus.Max; status++ {
			row, ok := f.Pairing(int(status))
			if !ok {
				return fmt.Errorf("pair codes %s*: no row for status %d", f.Prefix, status)
			}
			if err := add(f.Prefix+strconv.Itoa(int(status)), row.Rule, status, row.Kinds...); err != nil {
				return err
			}
		}
	}
	return nil
}

// kindNames lists the kinds of a set in the taxonomy's order.
func (t *tables) kindNames(set kindSet) []string {
	var out []string
	for _, k := range t.taxonomy.Kinds {
		if t.kinds[k.Kind].bit&set != 0 {
			out = append(out, k.Kind)
		}
	}
	return out
}
