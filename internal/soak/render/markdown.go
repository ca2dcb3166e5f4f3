package render

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/soakgate/soakgate/internal/soak"
)

// Markdown is the verdict to paste into a release's pull request.
func Markdown(v soak.Verdict, strata []soak.Stratum) []byte {
	var b bytes.Buffer
	line := func(format string, args ...any) {
		fmt.Fprintf(&b, format, args...)
		b.WriteByte('\n')
	}
	line("## Soak: %s", decisionName(v.Decision))
	line("")
	line("As of %s, policy %s.", instant(v.AsOf.At), escape(v.Policy.Name))
	line("")
	for _, l := range headline(v) {
		line("- %s", escape(l))
	}
	server := ""
	for _, g := range v.Gates {
		if g.Server != server {
			server = g.Server
			line("")
			line("### %s", escape(serverName(server)))
			line("")
			line("| gate | state | why | observed | required | measure | needs |")
			line("| --- | --- | --- | --- | --- | --- | --- |")
		}
		needs := ""
		if g.Needs != "" {
			needs = g.Needs + when(g.ETA)
		}
		line("| %s | **%s** | %s | %s | %s | %s | %s |", g.Gate, g.State, escape(g.Why), escape(g.Observed), escape(g.Required), escape(Measure(g)), escape(needs))
	}
	var details bytes.Buffer
	for _, g := range v.Gates {
		for _, f := range g.Findings {
			fmt.Fprintf(&details, "- %s %s, finding: %s: %s\n", escape(g.Server), g.Gate, escape(findingText(f)), escape(f.Text))
		}
		for _, n := range g.Notes {
			fmt.Fprintf(&details, "- %s %s: %s\n", escape(g.Server), g.Gate, escape(n))
		}
	}
	if details.Len() > 0 {
		line("")
		line("### Notes")
		line("")
		b.Write(details.Bytes())
	}
	if len(strata) > 0 {
		line("")
		line("### Well-formed calls")
		line("")
		line("| server | kind | tool | deployment | calls |")
		line("| --- | --- | --- | --- | --- |")
		for _, s := range strata {
			line("| %s | %s | %s | %s | %d |", escape(s.Server), escape(s.Kind), escape(s.Tool), escape(s.Deployment), s.Calls)
		}
	}
	return b.Bytes()
}

// escape keeps text from senders from becoming markup (R147).
func escape(s string) string {
	var b strings.Builder
	for _, r := range clean(s) {
		if strings.ContainsRune("\\`*_[]<>|#&@", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
