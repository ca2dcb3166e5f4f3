// Package register reads complaints, reviews and deployment overrides from a YAML
// file, for teams that keep them in version control. It owns the file's form and
// refuses what it does not understand, with line and name; what entries mean is
// decided elsewhere.
package register

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/soakgate/soakgate/internal/soak"
	"github.com/soakgate/soakgate/internal/soak/policy"
	"github.com/soakgate/soakgate/internal/soak/strictyaml"
)

// file is the form of a register file. Each entry says when it took effect (at)
// and when it was entered (entered): a verdict as of an instant counts only
// what had been entered by then (D1).
type file struct {
	Complaints []complaint `json:"complaints"`
	Reviews    []review    `json:"reviews"`
	Overrides  []override  `json:"overrides"`
}

type complaint struct {
	ID      string    `json:"id"`
	Server  string    `json:"server"`
	Kind    string    `json:"kind"`
	Action  string    `json:"action"`
	Ref     string    `json:"ref"`
	FixedIn string    `json:"fixed_in"`
	NotOurs bool      `json:"not_ours"`
	Note    string    `json:"note"`
	By      string    `json:"by"`
	At      time.Time `json:"at"`
	Entered time.Time `json:"entered"`
}

type review struct {
	Server  string    `json:"server"`
	By      string    `json:"by"`
	Note    string    `json:"note"`
	At      time.Time `json:"at"`
	Entered time.Time `json:"entered"`
}

type override struct {
	Server     string    `json:"server"`
	Deployment string    `json:"deployment"`
	Counts     bool      `json:"counts"`
	Reason     string    `json:"reason"`
	By         string    `json:"by"`
	At         time.Time `json:"at"`
	Entered    time.Time `json:"entered"`
}

// kinds are what a complaint can be about.
var kinds = []string{"payload_size", "parsing"}

// Parse reads a register file. Servers that the policy neither lists nor excludes
// are errors: a misspelt name would hide a complaint. All faults are reported.
func Parse(data []byte, p policy.Policy) (soak.Registers, error) {
	var f file
	lines, err := strictyaml.Decode(data, &f)
	if err != nil {
		return soak.Registers{}, fmt.Errorf("read register: %w", err)
	}
	c := checker{lines: lines, policy: p}
	var out soak.Registers
	for i, e := range f.Complaints {
		path := fmt.Sprintf("complaints[%d]", i)
		c.common(path, e.Server, e.By, e.At, e.Entered)
		c.need(e.ID != "", path+".id", "want an id")
		c.need(slices.Contains(kinds, e.Kind), path+".kind", "want payload_size or parsing, got %q", e.Kind)
		switch e.Action {
		case soak.ComplaintOpen, soak.ComplaintReopen:
			c.need(e.FixedIn == "" && !e.NotOurs, path, "only a resolution says fixed_in or not_ours")
		case soak.ComplaintResolve:
			c.need(e.Ref != "", path+".ref", "a resolution wants a reference")
			c.need((e.FixedIn != "") != e.NotOurs, path, "a resolution wants either fixed_in or not_ours: true")
		default:
			c.need(false, path+".action", "want open, resolve or reopen, got %q", e.Action)
		}
		out.Complaints = append(out.Complaints, soak.Complaint{
			ID: e.ID, Server: e.Server, Kind: e.Kind, Action: e.Action, Ref: e.Ref, FixedIn: e.FixedIn, NotOurs: e.NotOurs,
			Note: e.Note, By: e.By, At: e.At, RecordedAt: e.Entered,
		})
	}
	for i, e := range f.Reviews {
		c.common(fmt.Sprintf("reviews[%d]", i), e.Server, e.By, e.At, e.Entered)
		out.Reviews = append(out.Reviews, soak.Review{Server: e.Server, By: e.By, Note: e.Note, At: e.At, RecordedAt: e.Entered})
	}
	for i, e := range f.Overrides {
		path := fmt.Sprintf("overrides[%d]", i)
		c.common(path, e.Server, e.By, e.At, e.Entered)
		c.need(e.Deployment != "", path+".deployment", "want the deployment's id")
		c.need(e.Reason != "", path+".reason", "want a reason")
		out.Overrides = append(out.Overrides, soak.Override{
			Server: e.Server, Deployment: e.Deployment, Counts: e.Counts, Reason: e.Reason, By: e.By, At: e.At, RecordedAt: e.Entered,
		})
	}
	if err := errors.Join(c.errs...); err != nil {
		return soak.Registers{}, fmt.Errorf("read register: %w", err)
	}
	return out, nil
}

type checker struct {
	lines  strictyaml.Lines
	policy policy.Policy
	errs   []error
}

func (c *checker) need(ok bool, path, format string, args ...any) {
	if !ok {
		c.errs = append(c.errs, c.lines.At(path, format, args...))
	}
}

func (c *checker) common(path, server, by string, at, entered time.Time) {
	_, listed := c.policy.Server(server)
	_, excluded := c.policy.Excluded(server)
	c.need(listed || excluded, path+".server", "server %q is not named in the policy", server)
	c.need(by != "", path+".by", "want who")
	c.need(!at.IsZero(), path+".at", "want when it took effect")
	c.need(!entered.IsZero(), path+".entered", "want when it was entered")
}
