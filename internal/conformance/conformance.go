// Package conformance runs the contract's conformance suite over payloads in
// files: it judges each, decides the six items of the suite, and reports for
// people, programs and CI. It refuses to keep anything: a run is recorded by
// whoever it is handed to.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/soakgate/soakgate/internal/classify"
	"github.com/soakgate/soakgate/schemas"
)

// Options says what to run. Paths are files, folders, or "-" for In.
type Options struct {
	Paths         []string
	Server        string // declares the emitter (R53); "" declares none
	ServerVersion string
	Capabilities  string    // file with the capability object, "" for none
	SuiteVersion  string    // "" takes that of the embedded contract (R125)
	At            time.Time // when the run was made
	In            io.Reader // what the path "-" reads
	Progress      io.Writer // a terminal that shows how far the run is, or nil
}

// Run is one finished run.
type Run struct {
	At            time.Time
	Server        string
	ServerVersion string
	Summary       classify.Summary
	Items         []Item // items 1 to 6, in order
	// Capabilities is what the server declares, nil when no file was given.
	Capabilities *classify.Capabilities
	// Notes are facts that break nothing and are worth reading.
	Notes []string
}

// Conforms tells whether all that was tested conforms: no payload violates the
// contract and no item failed.
func (r *Run) Conforms() bool {
	for _, item := range r.Items {
		if item.Result == classify.ItemFail {
			return false
		}
	}
	return r.Summary.Violating == 0
}

// Recorder keeps a run in the store at dsn.
type Recorder func(ctx context.Context, dsn string, run Run) error

// Report is told of each payload as it is judged, and of the run at its end.
type Report interface {
	Payload(p *Judged) error
	Finish(r *Run) error
}

// Judged is one payload with its judgement, both valid until the next.
type Judged struct {
	Source
	classify.Judgement
}

// ErrNothingTested reports a run that says nothing of a server.
var ErrNothingTested = errors.New("nothing was tested")

// Execute judges every payload below the paths and decides the items. An error
// means that the run says nothing: an unreadable input, or nothing to judge.
func Execute(ctx context.Context, o Options, report Report) (*Run, error) {
	c, err := classify.New()
	if err != nil {
		return nil, err
	}
	server, family := classify.NameServer(o.Server)
	run := &Run{At: o.At, Server: server, ServerVersion: o.ServerVersion}
	if run.Summary.SuiteVersion = o.SuiteVersion; o.SuiteVersion == "" {
		if run.Summary.SuiteVersion, err = embeddedSuite(); err != nil {
			return nil, err
		}
	}
	items := newItems()
	if o.Capabilities != "" {
		if run.Capabilities, err = items.declare(ctx, c, o.Capabilities); err != nil {
			return nil, err
		}
	}
	in := &interruptible{ctx: ctx, in: o.In}
	progress := meter{to: o.Progress}
	judged := new(Judged)
	err = walk(ctx, o.Paths, in, func(s Source) error {
		if ctx.Err() != nil {
			return fmt.Errorf("judge %s: %w", s.Path, context.Cause(ctx))
		}
		judged.Source = s
		c.JudgeInto(&judged.Judgement, classify.Payload{Text: s.Text, Family: family})
		if s.broken && !judged.Recognized && len(judged.Violations) == 0 {
			return fmt.Errorf("read %s: expected JSON, and this is none; raw text is read from a name that ends in .txt", s)
		}
		run.count(judged)
		items.add(judged)
		progress.step(run.Summary.Payloads)
		return report.Payload(judged)
	})
	progress.end()
	if err != nil {
		return nil, err
	}
	run.Items, run.Notes = items.decide(run.Capabilities)
	run.Summary.Items = results(run.Items)
	switch s := run.Summary; {
	case s.Payloads == 0:
		return nil, fmt.Errorf("%w: no payload was found below %s", ErrNothingTested, strings.Join(o.Paths, ", "))
	case s.Unrecognized == s.Payloads && run.Conforms():
		return nil, fmt.Errorf("%w: none of %d payloads is an envelope, an answer with _meta or an agent API answer", ErrNothingTested, s.Payloads)
	}
	return run, report.Finish(run)
}

// count puts a payload into one of three classes, which add up.
func (r *Run) count(j *Judged) {
	s := &r.Summary
	s.Payloads++
	switch {
	case len(j.Violations) > 0:
		s.Violating++
	case j.Recognized:
		s.Conforming++
	default:
		s.Unrecognized++
	}
}

func embeddedSuite() (string, error) {
	t, err := schemas.LoadTaxonomy()
	if err != nil {
		return "", err
	}
	return t.SuiteVersion, nil
}
