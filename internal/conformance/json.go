package conformance

import (
	"bufio"
	"encoding/json"
	"io"

	"github.com/soakgate/soakgate/internal/classify"
)

// jsonReport prints one object a payload and one with the summary, each on a
// line. Fields are added, never renamed.
type jsonReport struct {
	out *bufio.Writer
	enc *json.Encoder
}

// NewJSON reports for programs.
func NewJSON(w io.Writer) Report {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return &jsonReport{out, enc}
}

type jsonPayload struct {
	Path            string           `json:"path"`
	Index           int              `json:"index"`
	Carrier         classify.Carrier `json:"carrier"`
	Recognized      bool             `json:"recognized"`
	Shape           classify.Shape   `json:"shape"`
	ServerFamily    classify.Family  `json:"server_family"`
	Valid           bool             `json:"valid"`
	OffTaxonomy     bool             `json:"off_taxonomy"`
	ErrorKind       *string          `json:"error_kind"`
	ErrorCode       *string          `json:"error_code"`
	LegacyErrorKind *string          `json:"legacy_error_kind"`
	Retryable       *bool            `json:"retryable"`
	NormalizedKinds []string         `json:"normalized_kinds"`
	RateLimit       *jsonRateLimit   `json:"rate_limit"`
	RetryAfter      *float64         `json:"retry_after_seconds"`
	WarningsKinds   []string         `json:"warnings_kinds"`
	Violations      []jsonFinding    `json:"violations"`
	Advisories      []jsonFinding    `json:"advisories"`
	Hint            *string          `json:"hint"`
}

type jsonFinding struct {
	Path    string        `json:"path"`
	Rule    classify.Rule `json:"rule"`
	Message string        `json:"message"`
}

// jsonRateLimit has the members with a legal type, as they were sent.
type jsonRateLimit struct {
	LimitPerSecond any `json:"limit_per_second,omitempty"`
	Remaining      any `json:"remaining,omitempty"`
	ResetAt        any `json:"reset_at,omitempty"`
}

func (r *jsonReport) Payload(j *Judged) error {
	return r.enc.Encode(jsonPayload{
		Path: j.Path, Index: j.Index, Carrier: j.Carrier, Recognized: j.Recognized, Shape: j.Shape, ServerFamily: j.Family,
		Valid: j.Valid, OffTaxonomy: j.OffTaxonomy, ErrorKind: orNull(j.ErrorKind), ErrorCode: orNull(j.ErrorCode),
		LegacyErrorKind: orNull(j.LegacyErrorKind), Retryable: orNull(j.Retryable),
		NormalizedKinds: kindsOf(j.Normalized, func(n classify.Normalization) classify.Optional[string] { return n.Kind }),
		RateLimit:       rateLimitOf(j.RateLimit), RetryAfter: orNull(j.RetryAfterSeconds),
		WarningsKinds: kindsOf(j.Warnings, func(w classify.Warning) classify.Optional[string] { return w.Kind }),
		Violations:    findingsOf(j.Violations), Advisories: findingsOf(j.Advisories),
		Hint: orNull(classify.Optional[string]{Value: j.Hint, Set: j.Hint != ""}),
	})
}

func (r *jsonReport) Finish(run *Run) error {
	if err := r.enc.Encode(struct {
		Summary classify.Summary `json:"summary"`
	}{run.Summary}); err != nil {
		return err
	}
	return r.out.Flush()
}

func orNull[T any](o classify.Optional[T]) *T {
	if !o.Set {
		return nil
	}
	return &o.Value
}

func kindsOf[T any](rows []T, kind func(T) classify.Optional[string]) []string {
	out := []string{}
	for _, row := range rows {
		if k := kind(row); k.Set {
			out = append(out, k.Value)
		}
	}
	return out
}

func findingsOf(found []classify.Finding) []jsonFinding {
	out := make([]jsonFinding, len(found))
	for i, f := range found {
		out[i] = jsonFinding{f.Path, f.Rule, f.Message}
	}
	return out
}

func rateLimitOf(o classify.Optional[classify.RateLimit]) *jsonRateLimit {
	if !o.Set {
		return nil
	}
	r := o.Value
	return &jsonRateLimit{
		LimitPerSecond: numberOrText(r.LimitPerSecond, r.LimitPerSecondText),
		Remaining:      numberOrText(r.Remaining, r.RemainingText),
		ResetAt:        numberOrText(classify.Optional[float64]{}, r.ResetAtText),
	}
}

func numberOrText(number classify.Optional[float64], text classify.Optional[string]) any {
	switch {
	case number.Set:
		return number.Value
	case text.Set:
		return text.Value
	}
	return nil
}
