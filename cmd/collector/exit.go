package main

// exitError is an error with the process's exit status. An empty text says
// that everything has been said already.
type exitError struct {
	code int
	err  error
}

// Error is the text of what went wrong.
func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

// Unwrap gives what went wrong.
func (e *exitError) Unwrap() error { return e.err }
