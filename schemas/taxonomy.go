package schemas

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Taxonomy is taxonomy.json: the vocabularies of the contract, one row a fact.
type Taxonomy struct {
	Title           string `json:"title"`
	Description     string `json:"description"`
	SuiteVersion    string `json:"suite_version"` // of the whole set of schemas, tables and rules (R125)
	EnvelopeVersion int64  `json:"envelope_version"`

	Kinds          []Kind       `json:"kinds"`
	Codes          []Code       `json:"codes"`
	HTTPStatus     StatusRange  `json:"http_status"`
	HTTPCodes      []HTTPFamily `json:"http_codes"`
	ClosedPrefixes []Prefix     `json:"closed_prefixes"`
	ReservedCodes  []Reserved   `json:"reserved_codes"`
	KindScopes     []Scope      `json:"kind_scopes"`
	CodeScopes     []Scope      `json:"code_scopes"`

	NormalizationKinds   []NormalizationKind `json:"normalization_kinds"`
	NormalizationReasons []string            `json:"normalization_reasons"`
	WarningKinds         []WarningKind       `json:"warning_kinds"`
	AgentCodes           []AgentCode         `json:"agent_codes"`
	FeatureLevels        []FeatureLevel      `json:"feature_levels"`
	HintCategories       []string            `json:"hint_categories"`
	EnvVars              []EnvVar            `json:"env_vars"`
}

// Kind is one error_kind (R40 to R49).
type Kind struct {
	Kind    string   `json:"kind"`
	Rule    string   `json:"rule"`
	Servers []string `json:"servers"`
	Round   string   `json:"round"`
	Meaning string   `json:"meaning"`
	// DemandsCode is the only code this kind goes with, "" when there is no
	// such demand (R63).
	DemandsCode string `json:"demands_code,omitempty"`
	DemandsRule string `json:"demands_rule,omitempty"`
}

// Code is one listed error_code and the kinds it goes with (R54 to R61, R72).
type Code struct {
	Code    string   `json:"code"`
	Rule    string   `json:"rule"`
	Kinds   []string `json:"kinds"`
	Meaning string   `json:"meaning"`
}

// StatusRange is the inclusive range of statuses in an upstream HTTP code (R64).
type StatusRange struct {
	Min  uint16 `json:"min"`
	Max  uint16 `json:"max"`
	Rule string `json:"rule"`
}

// HTTPFamily is a family of codes that end in an HTTP status (R64 to R68).
type HTTPFamily struct {
	Prefix string `json:"prefix"`
	Rule   string `json:"rule"`
	// Pairings are tried in order: the first row that has the status, or has
	// no list of statuses, says which kinds are right.
	Pairings []HTTPPairing `json:"pairings"`
}

// HTTPPairing says which kinds go with these statuses, or with all others.
type HTTPPairing struct {
	Rule     string   `json:"rule"`
	Statuses []int    `json:"statuses,omitempty"`
	Kinds    []string `json:"kinds"`
}

// Prefix is a namespace of codes of which every member is listed (R73).
type Prefix struct {
	Prefix string `json:"prefix"`
	Rule   string `json:"rule"`
}

// Reserved is a code that must not be sent, and what to send in its place (R70).
type Reserved struct {
	Code string `json:"code"`
	Rule string `json:"rule"`
	Use  string `json:"use"`
}

// Scope says that a value, or all values with a prefix, belong to one server
// (R52, R69). Infers tells whether such a value names its emitter when nobody
// declared one (R53).
type Scope struct {
	Prefix string `json:"prefix,omitempty"`
	Value  string `json:"value,omitempty"`
	Server string `json:"server"`
	Rule   string `json:"rule"`
	Infers bool   `json:"infers"`
}

// NormalizationKind is one kind of _meta.normalized and the members it
// requires (R83, R84).
type NormalizationKind struct {
	Kind     string   `json:"kind"`
	Rule     string   `json:"rule"`
	Required []string `json:"required"`
	Meaning  string   `json:"meaning"`
}

// WarningKind is one kind of _meta.warnings and the servers that list it (R100).
type WarningKind struct {
	Kind    string   `json:"kind"`
	Rule    string   `json:"rule"`
	Servers []string `json:"servers"`
}

// AgentCode is one code of the agent API (R158). ResetsMonthly marks the code
// whose reset_at is the first instant of a month (R160).
type AgentCode struct {
	Code          string `json:"code"`
	Rule          string `json:"rule"`
	ResetsMonthly bool   `json:"resets_monthly,omitempty"`
}

// FeatureLevel says which members came with which level. The version on the
// wire is the same for all (R105).
type FeatureLevel struct {
	Level       string   `json:"level"`
	Rule        string   `json:"rule"`
	Members     []string `json:"members"`
	WireVersion int64    `json:"wire_version"`
}

// EnvVar is an environment variable of the servers, with its default (R112).
type EnvVar struct {
	Name    string `json:"name"`
	Default bool   `json:"default"`
	Rule    string `json:"rule"`
}

// ValidatorCodes is jsonschema_error_codes.json: one error_code for each
// JSON Schema validator (R71, R74).
type ValidatorCodes struct {
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Rule        string          `json:"rule"`
	ErrorKind   string          `json:"error_kind"`
	Codes       []ValidatorCode `json:"codes"`
}

// ValidatorCode is the code of one validator; the validator "*" stands for
// every one that is not named. Details lists members that a row of details may
// carry and need not.
type ValidatorCode struct {
	Validator string   `json:"validator"`
	Code      string   `json:"code"`
	Details   []string `json:"details"`
}

// LoadTaxonomy reads taxonomy.json. An unknown or misspelt member is an error.
func LoadTaxonomy() (*Taxonomy, error) {
	t := new(Taxonomy)
	return t, load("taxonomy.json", t)
}

// LoadValidatorCodes reads jsonschema_error_codes.json.
func LoadValidatorCodes() (*ValidatorCodes, error) {
	v := new(ValidatorCodes)
	return v, load("jsonschema_error_codes.json", v)
}

func load(name string, into any) error {
	text, err := Read(name)
	if err != nil {
		return fmt.Errorf("read the embedded table: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("decode the embedded table %s: %w", name, err)
	}
	return nil
}

// Pairing is the row that says which kinds go with that status: the first that
// lists it, or lists none. It is false when there is no such row.
func (f HTTPFamily) Pairing(status int) (HTTPPairing, bool) {
	for _, p := range f.Pairings {
		if len(p.Statuses) == 0 || slices.Contains(p.Statuses, status) {
			return p, true
		}
	}
	return HTTPPairing{}, false
}

// Covers tells whether value is in the scope of s.
func (s Scope) Covers(value string) bool {
	if s.Value != "" {
		return value == s.Value
	}
	return strings.HasPrefix(value, s.Prefix)
}
