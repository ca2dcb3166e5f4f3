package conformance

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/soakgate/soakgate/internal/classify"
)

// junitReport gathers test cases, one a payload and one an item, and prints
// them at the end, since their counts stand first.
type junitReport struct {
	out      io.Writer
	payloads junitSuite
}

// NewJUnit reports for CI.
func NewJUnit(w io.Writer) Report {
	return &junitReport{out: w, payloads: junitSuite{Name: "payloads"}}
}

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Timestamp  string          `xml:"timestamp,attr,omitempty"`
	Properties []junitProperty `xml:"properties>property,omitempty"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitOutcome `xml:"failure,omitempty"`
	Skipped *junitOutcome `xml:"skipped,omitempty"`
}

type junitOutcome struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

func (s *junitSuite) add(c junitCase) {
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Skipped != nil:
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

func (r *junitReport) Payload(j *Judged) error {
	c := junitCase{Class: "payloads." + string(j.Shape), Name: j.String()}
	switch {
	case len(j.Violations) > 0:
		c.Failure = failureOf(j.Violations)
	case !j.Recognized:
		c.Skipped = &junitOutcome{Message: "nothing of ours"}
	}
	r.payloads.add(c)
	return nil
}

// failureOf prints findings, one a line, under the first.
func failureOf(found []classify.Finding) *junitOutcome {
	var text strings.Builder
	for _, f := range found {
		fmt.Fprintf(&text, "\n%s  %s", f.Rule, f.Message)
	}
	return &junitOutcome{Message: string(found[0].Rule) + " " + found[0].Message, Type: string(found[0].Rule), Text: text.String() + "\n"}
}

func (r *junitReport) Finish(run *Run) error {
	items := junitSuite{Name: "items", Timestamp: run.At.UTC().Format("2006-01-02T15:04:05Z"), Properties: []junitProperty{
		{"suite_version", run.Summary.SuiteVersion}, {"server", run.Server}, {"server_version", run.ServerVersion},
	}}
	for _, item := range run.Items {
		c := junitCase{Class: "items", Name: fmt.Sprintf("item %d: %s", item.Number, item.Title)}
		switch item.Result {
		case classify.ItemFail:
			var text strings.Builder
			for _, f := range item.Failures {
				fmt.Fprintf(&text, "\n%s  %s  %s", f.Source, f.Finding.Rule, f.Finding.Message)
			}
			c.Failure = &junitOutcome{Message: fmt.Sprintf("%d of %d do not", item.Failed, item.Tested), Type: "item", Text: text.String() + "\n"}
		case classify.ItemNotTested:
			c.Skipped = &junitOutcome{Message: item.Why}
		}
		items.add(c)
	}
	all := junitSuites{
		Name: "conformance", Tests: items.Tests + r.payloads.Tests, Failures: items.Failures + r.payloads.Failures,
		Skipped: items.Skipped + r.payloads.Skipped, Suites: []junitSuite{items, r.payloads},
	}
	if _, err := io.WriteString(r.out, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(r.out)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(r.out, "\n")
	return err
}
