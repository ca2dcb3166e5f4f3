package classify

import "time"

// Optional is a value that may be absent. Absence is never read as zero (R145).
type Optional[T any] struct {
	Value T
	Set   bool
}

// Some is the value v, present.
func Some[T any](v T) Optional[T] { return Optional[T]{Value: v, Set: true} }

// Shape names the family of a payload, whatever its validity (R11).
type Shape string

// The shapes of the contract's catalogue, section 18.
const (
	ShapeUnknown      Shape = "unknown"
	ShapeEnvelope     Shape = "mcp_envelope_v1"
	ShapeMetaSuccess  Shape = "meta_success"
	ShapeAgentSuccess Shape = "agent_envelope_success"
	ShapeAgentError   Shape = "agent_error"
)

// Rule is the id of a rule of the contract, as section 18 of the catalogue has it.
type Rule string

// Finding is one broken rule: a violation, or an advisory.
type Finding struct {
	Rule Rule
	// Path is a JSON Pointer (RFC 6901) into the recognised object; "" is the whole text.
	Path string
	// Message says what was expected and where, in at most MaxMessage bytes. It
	// never repeats a value of the payload.
	Message string
}

// Normalization is one event of _meta.normalized (R82 to R88). Members that
// were absent or not text are not set.
type Normalization struct {
	Kind, From, To, Field, Canonical, FromType, ToType, Reason Optional[string]
}

// RateLimit is _meta.rate_limit (R90 to R94).
type RateLimit struct {
	LimitPerSecond     Optional[float64]
	LimitPerSecondText Optional[string] // set when upstream sent text
	Remaining          Optional[float64]
	RemainingText      Optional[string]
	ResetAtText        Optional[string]    // the raw upstream text
	ResetAt            Optional[time.Time] // parsed from it where that is possible
}

// Warning is one row of _meta.warnings (R99).
type Warning struct {
	Kind, Summary Optional[string]
}

// Judgement is what the contract says of one payload.
type Judgement struct {
	Recognized  bool
	Shape       Shape
	Valid       bool // recognised and without violations
	Opaque      bool // an error text without an envelope in it (R5)
	OffTaxonomy bool // error_kind is text outside the closed taxonomy (R50)
	// MistypedKind is true when error_kind is there and no text (R27). With
	// OffTaxonomy, EnvelopeVersion and OffEvents it decides items of the
	// conformance suite, for which Violations will not do: that list is cut.
	MistypedKind bool
	Family       Family

	ErrorKind       Optional[string] // verbatim, also when invalid
	ErrorCode       Optional[string]
	LegacyErrorKind Optional[string]
	Tool            Optional[string]
	Retryable       Optional[bool]
	EnvelopeVersion Optional[int64]
	HTTPStatus      Optional[uint16] // from an upstream HTTP code

	HasNormalized bool // the key normalized stands under _meta: a block (D6)
	Normalized    []Normalization
	// Events counts the rows of _meta.normalized, OffEvents those among them that
	// are no object with a kind of R83; a normalized that is no array is one such
	// row. Both count beyond MaxRows.
	Events, OffEvents int
	RateLimit         Optional[RateLimit]
	RetryAfterSeconds Optional[float64]
	Warnings          []Warning

	InnerErrorKind Optional[string] // with advisory nested_envelope (R13)
	InnerErrorCode Optional[string]

	Violations []Finding
	Advisories []Finding
	// Cut counts what was found and not kept, beyond MaxFindings and MaxRows.
	Cut Cut
	// Hint says what a sender can do about a text that was not recognised, ""
	// when nothing is known.
	Hint string

	// Object is the recognised object, as found; it aliases the payload or a
	// text decoded from it. Nil when nothing was recognised.
	Object []byte
	// MetaBytes is the length of the value of _meta as found, 0 without one.
	MetaBytes int
	// NormalizedBytes is the length of the member "normalized":<value> in
	// compact JSON (D10).
	NormalizedBytes Optional[uint32]
}

// Cut counts what a judgement leaves out because there is too much of it.
type Cut struct{ Violations, Advisories, Normalized, Warnings int }
