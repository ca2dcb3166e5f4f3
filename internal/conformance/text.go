package conformance

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/soakgate/soakgate/internal/classify"
	"github.com/soakgate/soakgate/schemas"
)

// maxPrinted is how many payloads with findings the text report prints. The
// others are counted, and the other formats have them all.
const maxPrinted = 50

// maxUnrecognized is how many payloads that are nothing of ours the text report
// names, for whoever expected them to be.
const maxUnrecognized = 20

// textReport prints what is wrong and what to do about it.
type textReport struct {
	out     *bufio.Writer
	fixes   map[classify.Rule]string
	printed int
	left    int
	// unrecognized are places, each with the hint that is known for it.
	unrecognized []string
}

// NewText reports for people. The error says that the embedded rules are broken.
func NewText(w io.Writer) (Report, error) {
	rules, err := schemas.LoadRules()
	if err != nil {
		return nil, err
	}
	r := &textReport{out: bufio.NewWriter(w), fixes: map[classify.Rule]string{}}
	for _, rule := range rules {
		r.fixes[classify.Rule(rule.ID)] = rule.Fix
	}
	return r, nil
}

func (r *textReport) Payload(j *Judged) error {
	if !j.Recognized && len(j.Violations) == 0 && len(r.unrecognized) < maxUnrecognized {
		name := j.String()
		if j.Hint != "" {
			name += ": " + j.Hint
		}
		r.unrecognized = append(r.unrecognized, name)
	}
	if len(j.Violations)+len(j.Advisories) == 0 {
		return nil
	}
	if r.printed == maxPrinted {
		r.left++
		return nil
	}
	r.printed++
	fmt.Fprintf(r.out, "%s (%s)\n", printable(j.String()), j.Shape)
	r.findings("error", j.Violations, j.Cut.Violations)
	r.findings("advice", j.Advisories, j.Cut.Advisories)
	if j.Hint != "" {
		fmt.Fprintf(r.out, "  hint    %s\n", j.Hint)
	}
	_, err := fmt.Fprintln(r.out)
	return err
}

func (r *textReport) findings(severity string, found []classify.Finding, cut int) {
	for _, f := range found {
		where := ""
		if f.Path == "" {
			where = "the whole text: "
		}
		fmt.Fprintf(r.out, "  %-7s %s  %s%s\n", severity, f.Rule, where, printable(f.Message))
		if fix := r.fixes[f.Rule]; fix != "" {
			fmt.Fprintf(r.out, "          do: %s\n", fix)
		}
	}
	if cut > 0 {
		fmt.Fprintf(r.out, "          and %d more\n", cut)
	}
}

func (r *textReport) Finish(run *Run) error {
	if r.left > 0 {
		fmt.Fprintf(r.out, "and %d more payloads with findings; --format json has them all\n\n", r.left)
	}
	s := run.Summary
	fmt.Fprintf(r.out, "%d payloads: %d conform, %d violate the contract, %d are nothing of ours\n", s.Payloads, s.Conforming, s.Violating, s.Unrecognized)
	for _, name := range r.unrecognized {
		fmt.Fprintf(r.out, "  nothing of ours: %s\n", printable(name))
	}
	if more := s.Unrecognized - len(r.unrecognized); more > 0 {
		fmt.Fprintf(r.out, "  and %d more; --format json has them all\n", more)
	}
	if run.Server != "" {
		fmt.Fprintf(r.out, "server %s, version %s\n", printable(run.Server), printable(orUnknown(run.ServerVersion)))
	}
	fmt.Fprintf(r.out, "suite %s\n\n", printable(s.SuiteVersion))
	for _, item := range run.Items {
		fmt.Fprintf(r.out, "item %d  %-10s  %s", item.Number, item.Result, item.Title)
		switch item.Result {
		case classify.ItemFail:
			fmt.Fprintf(r.out, " (%d of %d do not; the first: %s %s)", item.Failed, item.Tested, printable(item.Failures[0].Source), printable(item.Failures[0].Finding.Path))
		case classify.ItemNotTested:
			fmt.Fprintf(r.out, " (%s)", item.Why)
		}
		fmt.Fprintln(r.out)
		if item.Number == itemCapabilities+1 { // no payload above tells of these
			for _, f := range item.Failures {
				r.findings("error", []classify.Finding{f.Finding}, 0)
			}
		}
	}
	for _, note := range run.Notes {
		fmt.Fprintf(r.out, "note: %s\n", printable(note))
	}
	return r.out.Flush()
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// printable replaces what could steer a terminal: names of members and files
// are not ours.
func printable(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return unicode.ReplacementChar
	}, s)
}
