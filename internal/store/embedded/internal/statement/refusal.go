package statement

// Refusal says why a statement is not run. It is the caller's to see: it names
// the rule, and what to do instead where there is something.
type Refusal struct {
	// Reason completes "the statement is refused: ".
	Reason string
}

// Error is the sentence shown to the client.
func (r *Refusal) Error() string {
	return "the embedded ClickHouse refuses this statement: " + r.Reason
}

func refuse(reason string) error { return &Refusal{Reason: reason} }

// SyntaxError says that the text ends within a quote or a comment, so that it
// cannot be told what in it is code. The engine would refuse it too.
type SyntaxError struct{ Reason string }

// Error is the sentence shown to the client.
func (e *SyntaxError) Error() string { return "Syntax error: " + e.Reason }

func syntax(reason string) error { return &SyntaxError{Reason: reason} }
