// Package render writes a verdict for people and programs: text, JSON, Markdown,
// and metrics. It owns forms only; every number in them is the verdict's.
package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/soakgate/soakgate/internal/soak"
)

// JSON is the verdict as schemas/soak-verdict.schema.json has it.
func JSON(v soak.Verdict) ([]byte, error) {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write verdict as JSON: %w", err)
	}
	return append(b, '\n'), nil
}

// SGR sequences of a terminal.
const (
	reset  = "\x1b[0m"
	bold   = "\x1b[1m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	red    = "\x1b[31m"
	purple = "\x1b[35m"
)

var stateColours = map[soak.State]string{soak.StatePass: green, soak.StateWaived: yellow, soak.StateHold: yellow, soak.StateBlock: red, soak.StateUnknown: purple}

var decisionColours = map[soak.Decision]string{soak.DecisionFlip: green, soak.DecisionHold: yellow, soak.DecisionBlock: red, soak.DecisionCouldNotTell: purple}

// Text is the verdict for a terminal, in colour when asked to. Strata, which may
// be nil, are shown beneath.
func Text(v soak.Verdict, strata []soak.Stratum, colour bool) []byte {
	t := textWriter{colour: colour}
	t.line("%s  as of %s, policy %s", t.paint(bold+decisionColours[v.Decision], decisionName(v.Decision)), instant(v.AsOf.At), clean(v.Policy.Name))
	for _, l := range headline(v) {
		t.line("  %s", clean(l))
	}
	server := ""
	for _, g := range v.Gates {
		if g.Server != server {
			server = g.Server
			t.line("")
			t.line("%s", t.paint(bold, serverName(server)))
			for _, s := range v.Servers {
				if s.Name == server {
					t.line("  candidates %s; anchor %s; current run from %s", clean(orNone(s.Candidates)), clean(orNothing(s.Anchor)), orNothing(s.RunFrom))
				}
			}
		}
		t.gate(g)
	}
	if len(strata) > 0 {
		t.line("")
		t.line("%s", t.paint(bold, "well-formed calls by server, kind, tool, deployment (shown; the gate asks for the margins)"))
		for _, s := range strata {
			t.line("  %-18s %-30s %-24s %-20s %8d", clean(s.Server), clean(s.Kind), clean(s.Tool), clean(s.Deployment), s.Calls)
		}
	}
	return t.b.Bytes()
}

type textWriter struct {
	b      bytes.Buffer
	colour bool
}

func (t *textWriter) line(format string, args ...any) {
	fmt.Fprintf(&t.b, format, args...)
	t.b.WriteByte('\n')
}

func (t *textWriter) paint(colour, s string) string {
	if !t.colour {
		return s
	}
	return colour + s + reset
}

func (t *textWriter) gate(g soak.Gate) {
	state := string(g.State)
	t.line("  %s %-17s %s", t.paint(stateColours[g.State], fmt.Sprintf("%-7s", state)), g.Gate, clean(g.Why))
	if g.State != soak.StatePass {
		t.line("          observed  %s", clean(g.Observed))
		t.line("          required  %s", clean(g.Required))
	}
	if m := Measure(g); m != "" && g.Measure.High != nil {
		t.line("          measure   %s", clean(m))
	}
	if g.Needs != "" {
		t.line("          needs     %s%s", clean(g.Needs), when(g.ETA))
	}
	if g.Since != nil {
		t.line("          since     %s", Since(*g.Since))
	}
	for _, p := range g.Parts {
		if p.State != soak.StatePass {
			t.line("          - %s: %s (%s)", clean(p.Name), clean(p.Observed), clean(p.Required))
		}
	}
	for _, f := range g.Findings {
		t.line("          finding   %s", clean(findingText(f)))
	}
	for _, n := range g.Notes {
		t.line("          note      %s", clean(n))
	}
}

func findingText(f soak.Finding) string {
	if f.Waived {
		return strconv.Quote(f.ID) + ", waived"
	}
	return strconv.Quote(f.ID)
}

// Measure is a gate's figure in one line: numerator, denominator, interval,
// threshold and window (U51).
func Measure(g soak.Gate) string {
	m := g.Measure
	if m == nil {
		return ""
	}
	s := fmt.Sprintf("%d of %d", m.Numerator, m.Denominator)
	if m.Low != nil && m.High != nil && m.Confidence != nil {
		s += fmt.Sprintf(", rate at least %s, at most %s (each at %s %%)", number(*m.Low), number(*m.High), number(100**m.Confidence))
	}
	return s + "; threshold " + m.Threshold + "; window " + m.Window
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', 6, 64) }

// headline says in a few lines what decided and what follows.
func headline(v soak.Verdict) []string {
	var lines []string
	if len(v.Deciding) > 0 {
		lines = append(lines, "decided by: "+refs(v.Deciding))
	}
	if v.Decision == soak.DecisionBlock && len(v.Unknown) > 0 {
		lines = append(lines, "could not be read besides: "+refs(v.Unknown))
	}
	switch {
	case v.ETA != nil:
		lines = append(lines, "can decide from "+instant(*v.ETA)+" at the earliest")
	case len(v.NoDate) > 0:
		for _, n := range v.NoDate {
			lines = append(lines, "no date: "+n)
		}
	}
	if v.ProposedDay != "" {
		lines = append(lines, "all servers flip on "+v.ProposedDay)
	}
	if v.ValidUntil != nil {
		lines = append(lines, "valid until "+instant(*v.ValidUntil))
	}
	if v.Since != nil {
		lines = append(lines, "unchanged since "+Since(*v.Since))
	}
	lines = append(lines, fmt.Sprintf("policy %s, in force since %s", v.Policy.Hash, instant(v.Policy.InForceSince)))
	for _, y := range v.Policy.Young {
		lines = append(lines, "young threshold: "+y)
	}
	for _, w := range v.Waivers {
		lines = append(lines, fmt.Sprintf("waiver %s: %s %s %q until %s, by %s: %s", w.Status, w.Server, w.Gate, w.Finding, instant(w.Until), w.Who, w.Reason))
	}
	for _, e := range v.Excluded {
		lines = append(lines, fmt.Sprintf("excluded: %s (%s)", e.Name, e.Reason))
	}
	return append(lines, v.Notes...)
}

func refs(gates []soak.GateRef) string {
	names := make([]string, len(gates))
	for i, g := range gates {
		names[i] = g.Server + " " + string(g.Gate)
	}
	return strings.Join(names, ", ")
}

// Since is a since mark in words.
func Since(s soak.Since) string {
	if s.Open {
		return instant(s.At) + " or before"
	}
	return instant(s.At)
}

func when(at *time.Time) string {
	if at == nil {
		return " (no date)"
	}
	return " (" + instant(*at) + " at the earliest)"
}

func instant(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func decisionName(d soak.Decision) string {
	switch d {
	case soak.DecisionFlip, soak.DecisionHold, soak.DecisionBlock:
		return string(d)
	}
	return "COULD NOT TELL"
}

func serverName(server string) string {
	if server == "*" {
		return "all servers"
	}
	return clean(server)
}

func orNothing(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func orNone(list []string) string { return orNothing(strings.Join(list, ", ")) }

// clean keeps names that come from senders from steering a terminal (R147).
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
