package ship

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/soakgate/soakgate/internal/ship/fleet"
)

// WriteText writes the summary for people.
func (s *Summary) WriteText(w io.Writer) error {
	tw := &lines{tw: tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight|tabwriter.DiscardEmptyColumns)}
	p := func(format string, args ...any) {
		_, err := fmt.Fprintf(w, format+"\n", args...)
		tw.err = errors.Join(tw.err, err)
	}
	perSecond := 0.0
	if s.Seconds > 0 {
		perSecond = float64(s.Acknowledged) / s.Seconds
	}
	p("scenario %s, seed %d, to %s over %s", s.Scenario, s.Seed, s.Endpoint, s.Protocol)
	if s.ReplayID != "" {
		p("replay %s, events from %s to %s", s.ReplayID, s.From.Format("2006-01-02T15:04:05Z"), s.To.Format("2006-01-02T15:04:05Z"))
	}
	p("%d of %d records acknowledged in %d requests and %.1f s (%.0f a second); %d are not ours", s.Acknowledged, s.Planned, s.Requests, s.Seconds, perSecond, s.Tally.Ignored)
	for _, r := range s.Reasons {
		p("not acknowledged: %s", r)
	}
	p("")
	tw.row("server", "deployment", "environment", "records", "calls")
	for _, d := range s.Tally.Deployments {
		tw.row(d.Server, d.Deployment, d.Environment, d.Records, d.Calls)
	}
	tw.end(p)
	tw.row("server", "error_kind", "records", "invalid")
	for _, k := range byKind(s.Tally.Errors) {
		tw.row(k.server, k.kind, k.records, k.invalid)
	}
	tw.end(p)
	tw.row("server", "rule", "path", "violations")
	for _, v := range s.Tally.Violations {
		tw.row(v.Server, v.Rule, v.Path, v.Records)
	}
	tw.end(p)
	p("a soak that sees nothing else says %s", s.Expect)
	return tw.err
}

// lines writes aligned tables and keeps the first fault.
type lines struct {
	tw  *tabwriter.Writer
	err error
}

func (l *lines) row(cells ...any) {
	for _, c := range cells {
		_, err := fmt.Fprintf(l.tw, "%v\t", c)
		l.err = errors.Join(l.err, err)
	}
	_, err := fmt.Fprintln(l.tw)
	l.err = errors.Join(l.err, err)
}

func (l *lines) end(p func(string, ...any)) {
	l.err = errors.Join(l.err, l.tw.Flush())
	p("")
}

// kindCount sums an error kind over its codes.
type kindCount struct {
	server, kind     string
	records, invalid int64
}

// byKind sums the errors over their codes; they are sorted by server and kind.
func byKind(errors []fleet.ErrorCount) []kindCount {
	var out []kindCount
	for _, e := range errors {
		if n := len(out); n == 0 || out[n-1].server != e.Server || out[n-1].kind != e.Kind {
			out = append(out, kindCount{server: e.Server, kind: e.Kind})
		}
		last := &out[len(out)-1]
		last.records += e.Records
		if !e.Valid {
			last.invalid += e.Records
		}
	}
	return out
}
