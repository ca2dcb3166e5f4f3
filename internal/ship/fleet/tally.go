package fleet

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/soakgate/soakgate/internal/ship/payload"
)

// Tally is what was shipped and acknowledged, counted from what was generated.
// Every list is sorted by its naming members, and holds no row without records.
type Tally struct {
	Records int64 `json:"records"` // log records, those that are not ours included
	Ignored int64 `json:"ignored"` // log lines that are not ours
	Opaque  int64 `json:"opaque"`  // failed calls whose text holds no envelope (R5)
	Twins   int64 `json:"twins"`   // records that repeat a call told of by another
	// Events counts records by event name, "" for those without one.
	Events map[string]int64 `json:"events"`
	// Carriers counts records of ours by what their body is: text, map or none.
	Carriers       map[string]int64     `json:"carriers"`
	Deployments    []DeploymentCount    `json:"deployments"`
	Calls          []CallCount          `json:"calls"`
	Shapes         []ShapeCount         `json:"shapes"`
	Errors         []ErrorCount         `json:"errors"`
	Legacy         []LegacyCount        `json:"legacy_error_kinds"`
	Normalizations []NormalizationCount `json:"normalizations"`
	Blocks         []BlockCount         `json:"blocks"`
	Violations     []FindingCount       `json:"violations"`
	Advisories     []FindingCount       `json:"advisories"`
	Warnings       []WarningCount       `json:"warnings"`
	RateLimits     []RateLimitCount     `json:"rate_limits"`
}

// DeploymentCount is the traffic of one deployment in one state of the option.
type DeploymentCount struct {
	Server      string `json:"server"`
	Version     string `json:"version"`
	Deployment  string `json:"deployment"`
	Environment string `json:"environment"`
	Option      bool   `json:"option"`
	Replayed    bool   `json:"replayed"` // false: without mcp.replay.id
	Records     int64  `json:"records"`
	Calls       int64  `json:"calls"`
}

// CallCount counts calls, each once however many records tell of it.
type CallCount struct {
	Server  string `json:"server"`
	Tool    string `json:"tool"`
	Outcome string `json:"outcome"` // success or error
	Calls   int64  `json:"calls"`
}

// ShapeCount counts judged payloads. The shape is unknown for opaque and for
// unreadable texts.
type ShapeCount struct {
	Server  string `json:"server"`
	Shape   string `json:"shape"`
	Valid   bool   `json:"valid"`
	Records int64  `json:"records"`
}

// ErrorCount counts recognised envelopes. Kind or code is "" when absent.
type ErrorCount struct {
	Server  string `json:"server"`
	Kind    string `json:"error_kind"`
	Code    string `json:"error_code"`
	Valid   bool   `json:"valid"`
	Records int64  `json:"records"`
}

// LegacyCount counts envelopes that carry legacy_error_kind (R38).
type LegacyCount struct {
	Server  string `json:"server"`
	Version string `json:"version"`
	Kind    string `json:"legacy_error_kind"`
	Records int64  `json:"records"`
}

// NormalizationCount counts events, and the calls that have any, by kind (R87).
type NormalizationCount struct {
	Server     string `json:"server"`
	Deployment string `json:"deployment"`
	Kind       string `json:"kind"`
	Events     int64  `json:"events"`
	Calls      int64  `json:"calls"`
}

// BlockCount counts answers that carry normalized, and their bytes (D6, D10).
type BlockCount struct {
	Server      string `json:"server"`
	Deployment  string `json:"deployment"`
	Blocks      int64  `json:"blocks"`
	Malformed   int64  `json:"malformed"`
	Bytes       int64  `json:"bytes"`        // normalized bytes of all blocks
	Largest     int64  `json:"largest"`      // of one block
	Sized       int64  `json:"sized"`        // blocks whose answer's size is known
	SizedBytes  int64  `json:"sized_bytes"`  // normalized bytes of those
	AnswerBytes int64  `json:"answer_bytes"` // sizes of those answers
}

// FindingCount counts a violation or an advisory.
type FindingCount struct {
	Server  string `json:"server"`
	Rule    string `json:"rule"`
	Path    string `json:"path"`
	Records int64  `json:"records"`
}

// WarningCount counts rows of _meta.warnings by kind.
type WarningCount struct {
	Server   string `json:"server"`
	Kind     string `json:"kind"`
	Warnings int64  `json:"warnings"`
}

// RateLimitCount counts what _meta tells of throttling. Sums of retry-after are
// exact: all values are multiples of a quarter second.
type RateLimitCount struct {
	Server         string  `json:"server"`
	RateLimits     int64   `json:"rate_limits"` // with any usable member
	AtZero         int64   `json:"at_zero"`     // remaining is 0
	Textual        int64   `json:"textual"`     // a limit or remaining is text
	RetryAfters    int64   `json:"retry_afters"`
	RetryAfterSum  float64 `json:"retry_after_seconds_sum"`
	RetryAfterMost float64 `json:"retry_after_seconds_max"`
}

// tallier adds up a Tally. A row is found by its naming members, which are
// those of a row with all counts at zero.
type tallier struct {
	t              Tally
	deployments    map[DeploymentCount]*DeploymentCount
	calls          map[CallCount]*CallCount
	shapes         map[ShapeCount]*ShapeCount
	errors         map[ErrorCount]*ErrorCount
	legacy         map[LegacyCount]*LegacyCount
	normalizations map[NormalizationCount]*NormalizationCount
	blocks         map[BlockCount]*BlockCount
	violations     map[FindingCount]*FindingCount
	advisories     map[FindingCount]*FindingCount
	warnings       map[WarningCount]*WarningCount
	rateLimits     map[RateLimitCount]*RateLimitCount
}

func newTallier() *tallier {
	return &tallier{
		t:              Tally{Events: map[string]int64{}, Carriers: map[string]int64{}},
		deployments:    map[DeploymentCount]*DeploymentCount{},
		calls:          map[CallCount]*CallCount{},
		shapes:         map[ShapeCount]*ShapeCount{},
		errors:         map[ErrorCount]*ErrorCount{},
		legacy:         map[LegacyCount]*LegacyCount{},
		normalizations: map[NormalizationCount]*NormalizationCount{},
		blocks:         map[BlockCount]*BlockCount{},
		violations:     map[FindingCount]*FindingCount{},
		advisories:     map[FindingCount]*FindingCount{},
		warnings:       map[WarningCount]*WarningCount{},
		rateLimits:     map[RateLimitCount]*RateLimitCount{},
	}
}

// row finds or makes the row named by key.
func row[R comparable](m map[R]*R, key R) *R {
	r := m[key]
	if r == nil {
		r = &key
		m[key] = r
	}
	return r
}

// add counts n records of the variant from the source.
func (a *tallier) add(s *Source, v *variant, n int64) {
	server, deployment := s.server.Name, s.deployment.ID
	a.t.Records += n
	a.t.Events[v.eventName()] += n
	d := row(a.deployments, DeploymentCount{
		Server: server, Version: s.phase.Version, Deployment: deployment,
		Environment: s.deployment.Environment, Option: s.phase.Option, Replayed: s.replay != "",
	})
	d.Records += n
	if !v.Ours {
		a.t.Ignored += n
		return
	}
	a.t.Carriers[v.carrier] += n
	switch {
	case v.Twin:
		a.t.Twins += n
	case v.Outcome != "":
		d.Calls += n
		row(a.calls, CallCount{Server: server, Tool: v.Tool, Outcome: v.Outcome}).Calls += n
	}
	if v.Event == payload.EventEnvelope || v.Event == payload.EventMeta {
		shape := cmp.Or(v.Shape, "unknown")
		row(a.shapes, ShapeCount{Server: server, Shape: shape, Valid: v.Shape != "" && len(v.Violations) == 0}).Records += n
	}
	if v.Opaque {
		a.t.Opaque += n
	}
	a.findings(server, v, n)
	if v.Shape == "mcp_envelope_v1" {
		row(a.errors, ErrorCount{Server: server, Kind: v.Kind, Code: v.Code, Valid: len(v.Violations) == 0}).Records += n
	}
	if v.Legacy != "" {
		row(a.legacy, LegacyCount{Server: server, Version: s.phase.Version, Kind: v.Legacy}).Records += n
	}
	a.meta(server, deployment, v, n)
}

func (a *tallier) findings(server string, v *variant, n int64) {
	for _, f := range v.Violations {
		row(a.violations, FindingCount{Server: server, Rule: f.Rule, Path: f.Path}).Records += n
	}
	for _, f := range v.Advisories {
		row(a.advisories, FindingCount{Server: server, Rule: f.Rule, Path: f.Path}).Records += n
	}
}

func (a *tallier) meta(server, deployment string, v *variant, n int64) {
	for i, k := range v.Normalized {
		r := row(a.normalizations, NormalizationCount{Server: server, Deployment: deployment, Kind: k})
		r.Events += n
		if slices.Index(v.Normalized, k) == i {
			r.Calls += n
		}
	}
	if v.Block {
		r := row(a.blocks, BlockCount{Server: server, Deployment: deployment})
		r.Blocks += n
		r.Bytes += n * v.NormalizedBytes
		r.Largest = max(r.Largest, v.NormalizedBytes)
		if v.Malformed() {
			r.Malformed += n
		}
		if v.AnswerBytes >= 0 {
			r.Sized += n
			r.SizedBytes += n * v.NormalizedBytes
			r.AnswerBytes += n * v.AnswerBytes
		}
	}
	for _, k := range v.Warnings {
		row(a.warnings, WarningCount{Server: server, Kind: k}).Warnings += n
	}
	if !v.RateLimit && v.RetryAfter < 0 {
		return
	}
	r := row(a.rateLimits, RateLimitCount{Server: server})
	if v.RateLimit {
		r.RateLimits += n
	}
	if v.AtZero {
		r.AtZero += n
	}
	if v.Textual {
		r.Textual += n
	}
	if v.RetryAfter >= 0 {
		r.RetryAfters += n
		r.RetryAfterSum += float64(n) * v.RetryAfter
		r.RetryAfterMost = max(r.RetryAfterMost, v.RetryAfter)
	}
}

// tally gives the sum, its lists sorted.
func (a *tallier) tally() Tally {
	t := a.t
	t.Deployments, t.Calls, t.Shapes = rows(a.deployments), rows(a.calls), rows(a.shapes)
	t.Errors, t.Legacy = rows(a.errors), rows(a.legacy)
	t.Normalizations, t.Blocks = rows(a.normalizations), rows(a.blocks)
	t.Violations, t.Advisories = rows(a.violations), rows(a.advisories)
	t.Warnings, t.RateLimits = rows(a.warnings), rows(a.rateLimits)
	return t
}

// rows lists the rows in the order of their printed names.
func rows[R comparable](m map[R]*R) []R {
	type named struct {
		name string
		row  R
	}
	all := make([]named, 0, len(m))
	for k, r := range m {
		all = append(all, named{fmt.Sprintf("%q", fmt.Sprint(k)), *r})
	}
	slices.SortFunc(all, func(a, b named) int { return cmp.Compare(a.name, b.name) })
	out := make([]R, len(all))
	for i, n := range all {
		out[i] = n.row
	}
	return out
}

// Counter counts the items of a stream that were acknowledged. The zero
// Counter is of no use; it is for one goroutine at a time.
type Counter struct {
	sources []*Source
	counts  [][]int64 // by source and variant
}

// NewCounter starts to count at zero.
func (s *Stream) NewCounter() *Counter {
	c := &Counter{sources: s.sources}
	for _, src := range s.sources {
		c.counts = append(c.counts, make([]int64, len(src.pool.variants)))
	}
	return c
}

// Add counts items.
func (c *Counter) Add(items []Item) {
	for _, it := range items {
		c.counts[it.src.index][it.variant]++
	}
}

// Tally is what the items counted so far hold.
func (c *Counter) Tally() Tally {
	a := newTallier()
	for i, counts := range c.counts {
		for v, n := range counts {
			if n > 0 {
				a.add(c.sources[i], &c.sources[i].pool.variants[v], n)
			}
		}
	}
	return a.tally()
}
