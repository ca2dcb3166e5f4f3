package classify

import (
	"github.com/soakgate/soakgate/schemas"
)

// outOfScope finds the row by which value belongs to another server than the
// declared one. Only the servers of the contract's vocabularies have a scope:
// openbridge uses the shared kinds, and an undeclared emitter has none.
func outOfScope(rows []schemas.Scope, declared Family, value string) (schemas.Scope, bool) {
	if declared != FamilySP && declared != FamilyAds {
		return schemas.Scope{}, false
	}
	for _, row := range rows {
		if row.Server != string(declared) && row.Covers(value) {
			return row, true
		}
	}
	return schemas.Scope{}, false
}

// infer names the emitter from kind and code when none is declared; when the
// two disagree it is unknown (R53).
func (t *tables) infer(kind, code Optional[string]) Family {
	byKind := inferred(t.taxonomy.KindScopes, kind)
	byCode := inferred(t.taxonomy.CodeScopes, code)
	switch {
	case byKind == FamilyUnknown:
		return byCode
	case byCode == FamilyUnknown, byCode == byKind:
		return byKind
	}
	return FamilyUnknown
}

func inferred(rows []schemas.Scope, value Optional[string]) Family {
	for _, row := range rows {
		if value.Set && row.Infers && row.Covers(value.Value) {
			return Family(row.Server)
		}
	}
	return FamilyUnknown
}
