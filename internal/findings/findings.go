// Package findings carries what the exporter found in a request back to the
// receiver that took the request, through the request's context. It owns that
// context key and the text of the answer; it judges nothing, keeps nothing
// beyond the request, and takes no values of a payload into the text.
package findings

import (
	"context"
	"fmt"
	"strings"
	"sync"
)

const (
	// MaxNamed is how many findings the answer's text names. A sender repairs one
	// thing at a time; the numbers say how much there is.
	MaxNamed = 8
	// MaxMessage bounds the answer's text in bytes. Senders log it as one line, and
	// gRPC peers commonly refuse more than 8 KiB of trailers.
	MaxMessage = 2048
	// maxNamedText bounds what one finding says, so that several fit.
	maxNamedText = 400
)

// Finding is the first broken rule of one log record or span.
type Finding struct {
	Index   int    // place of the log record or span in the request, from 0
	Rule    string // the rule's id
	Message string // begins with the JSON Pointer; holds no values of the payload
}

// Found is what an exporter found in one request. The zero value says that all
// is well.
type Found struct {
	Seen     int       // log records or spans that reached the exporter
	Invalid  int       // of these, how many break the contract
	Rejected int       // of these, how many are kept in quarantine only
	Named    []Finding // the first MaxNamed of the invalid ones, in order
	Hints    []string  // distinct advice about senders' handlers, from a closed set
}

// Report is the slip that a receiver puts into a request's context. Safe for
// concurrent use: a pipeline may hand one request to several exporters.
type Report struct {
	// RejectInvalid asks the exporter to keep what breaks the contract in
	// quarantine only.
	RejectInvalid bool

	mu        sync.Mutex
	delivered bool
	found     Found
}

type key struct{}

// NewContext gives the context the report.
func NewContext(ctx context.Context, r *Report) context.Context {
	return context.WithValue(ctx, key{}, r)
}

// FromContext is the context's report, or nil: the request came from a receiver
// that wants none, or something between the two dropped the context.
func FromContext(ctx context.Context) *Report {
	r, _ := ctx.Value(key{}).(*Report)
	return r
}

// Deliver hands over what was found, once the data is safe. Of several exporters
// behind one receiver the first speaks: they judge alike.
func (r *Report) Deliver(f Found) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.delivered {
		r.delivered, r.found = true, f
	}
}

// Found is what was delivered, and whether anything was: an exporter of ours
// delivers even when all is well.
func (r *Report) Found() (f Found, delivered bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.found, r.delivered
}

// Message is the answer's text for a request of received things, named as in
// "log records"; "" when there is nothing to say. When a processor between
// receiver and exporter changed the number of things, indexes mean nothing to the
// sender, and are left out.
func (f Found) Message(received int, things string) string {
	var b strings.Builder
	switch {
	case received == 0:
		fmt.Fprintf(&b, "the request holds no %s: nothing was stored; is its body OTLP?", things)
	case f.Invalid > 0:
		fmt.Fprintf(&b, "%d of %d %s break the contract", f.Invalid, received, things)
		if f.Rejected > 0 {
			fmt.Fprintf(&b, ", %d are rejected and kept in quarantine", f.Rejected)
		} else {
			b.WriteString("; all are stored")
		}
	case len(f.Hints) > 0:
		fmt.Fprintf(&b, "all %d %s are stored", received, things)
	default:
		return ""
	}
	if f.Seen == received {
		f.name(&b)
	}
	for _, h := range f.Hints {
		b.WriteString("; " + h)
	}
	return bounded(b.String(), MaxMessage)
}

func (f Found) name(b *strings.Builder) {
	for i, n := range f.Named {
		if i == MaxNamed {
			break
		}
		fmt.Fprintf(b, "; index %d: %s (rule %s)", n.Index, bounded(n.Message, maxNamedText), n.Rule)
	}
	if more := f.Invalid - len(f.Named); more > 0 {
		fmt.Fprintf(b, "; and %d more", more)
	}
}

// bounded is s within a number of bytes and in UTF-8, as protobuf asks of text.
func bounded(s string, most int) string {
	if len(s) > most {
		const dots = "..."
		s = s[:most-len(dots)] + dots
	}
	// A character that the cut took apart goes with what was never one.
	return strings.ToValidUTF8(s, "")
}
