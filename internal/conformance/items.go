package conformance

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/soakgate/soakgate/internal/classify"
)

// MaxFailures bounds the failures that an item lists; all are counted.
const MaxFailures = 100

// Item is one item of the suite (R118 to R123) with its outcome.
type Item struct {
	Number   int
	Title    string
	Result   classify.ItemResult
	Tested   int // how many things it looked at
	Failed   int // how many of those failed
	Failures []Failure
	// Why says why the item was not tested, "" when it was.
	Why string
}

// Failure is one finding against an item.
type Failure struct {
	Source  string // where the payload is, as Source.String prints it
	Finding classify.Finding
}

// String is where a payload is: path, and line in a file of lines.
func (s Source) String() string {
	if s.Line > 0 {
		return s.Path + ":" + strconv.Itoa(s.Line)
	}
	return s.Path
}

// The items of the suite. The contract's item 4 says four kinds where its
// table has five: the table is right.
const (
	itemEnvelope = iota
	itemKinds
	itemVersion
	itemNormalized
	itemCapabilities
	itemFixtures
)

var titles = [classify.ItemCount]string{
	"every error response validates against the contract",
	"every error_kind is in the taxonomy",
	"_envelope_version is 1 on every error envelope",
	"_meta.normalized uses only the v1 kinds",
	"the capabilities have contract_version 1 and kinds of the taxonomy",
	"the server's fixtures match the schemas",
}

var whyNotTested = [classify.ItemCount]string{
	"no error envelope was among the payloads",
	"no error envelope with an error_kind was among the payloads",
	"no error envelope was among the payloads",
	"no normalization event was among the payloads",
	"no capabilities were given; --capabilities FILE names them",
	"no fixture file was given; standard input holds captured traffic, not fixtures",
}

// items collects what decides each item.
type items struct {
	list [classify.ItemCount]Item
	// kinds are the error kinds seen, for the comparison with the declared ones.
	kinds map[string]bool
}

// maxKinds bounds the kinds that are remembered; the taxonomy has ten.
const maxKinds = 1000

func newItems() *items {
	s := &items{kinds: map[string]bool{}}
	for i := range s.list {
		s.list[i].Number, s.list[i].Title = i+1, titles[i]
	}
	return s
}

// test counts one thing that item i looked at, with what was found against it.
func (s *items) test(i int, source string, found []classify.Finding) {
	item := &s.list[i]
	item.Tested++
	if len(found) == 0 {
		return
	}
	item.Failed++
	for _, f := range found {
		if len(item.Failures) < MaxFailures {
			item.Failures = append(item.Failures, Failure{source, f})
		}
	}
}

// add looks at one payload.
func (s *items) add(j *Judged) {
	source := j.String()
	unreadable := !j.Recognized && len(j.Violations) > 0
	if j.Shape == classify.ShapeEnvelope || unreadable {
		s.test(itemEnvelope, source, j.Violations)
	}
	if j.Shape == classify.ShapeEnvelope {
		if j.ErrorKind.Set || j.MistypedKind {
			s.test(itemKinds, source, offTaxonomy(j))
		}
		if j.ErrorKind.Set && len(s.kinds) < maxKinds {
			s.kinds[j.ErrorKind.Value] = true
		}
		s.test(itemVersion, source, otherVersion(j))
	}
	if j.Events > 0 {
		s.test(itemNormalized, source, otherEvents(j))
	}
	if j.Path != stdin && (j.Recognized || unreadable) {
		s.test(itemFixtures, source, j.Violations)
	}
}

// Items 2 to 4 are decided by what a judgement says of the payload, never by its
// violations: those are cut, and what was cut would pass.

// offTaxonomy is what item 2 has against j.
func offTaxonomy(j *Judged) []classify.Finding {
	switch {
	case j.MistypedKind:
		return against(classify.RuleType, "/error_kind", "expected text")
	case j.OffTaxonomy:
		return against(classify.RuleEnum, "/error_kind", "expected a kind of the taxonomy")
	}
	return nil
}

// otherVersion is what item 3 has against j.
func otherVersion(j *Judged) []classify.Finding {
	if j.EnvelopeVersion == classify.Some[int64](1) {
		return nil
	}
	return against(classify.RuleConst, "/_envelope_version", "expected 1")
}

// otherEvents is what item 4 has against j.
func otherEvents(j *Judged) []classify.Finding {
	if j.OffEvents == 0 {
		return nil
	}
	return against(classify.RuleEnum, "/_meta/normalized", fmt.Sprintf("expected one of the v1 kinds in each of %d events; %d have none", j.Events, j.OffEvents))
}

func against(rule classify.Rule, path, message string) []classify.Finding {
	return []classify.Finding{{Rule: rule, Path: path, Message: path + ": " + message}}
}

// declare reads and judges the capabilities.
func (s *items) declare(ctx context.Context, c *classify.Classifier, path string) (*classify.Capabilities, error) {
	text, err := await(ctx, func() ([]byte, error) { return readFile(path) })
	if err != nil {
		return nil, fmt.Errorf("read capabilities: %w", err)
	}
	declared, found, err := c.ParseCapabilities(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s.test(itemCapabilities, path, found)
	return &declared, nil
}

// decide gives each item its result. What was not looked at was not tested, and
// never passes (R124).
func (s *items) decide(declared *classify.Capabilities) ([]Item, []string) {
	for i := range s.list {
		switch item := &s.list[i]; {
		case item.Tested == 0:
			item.Result, item.Why = classify.ItemNotTested, whyNotTested[i]
		case item.Failed > 0:
			item.Result = classify.ItemFail
		default:
			item.Result = classify.ItemPass
		}
	}
	return s.list[:], s.notes(declared)
}

// notes names kinds that were seen and not declared (R116).
func (s *items) notes(declared *classify.Capabilities) []string {
	if declared == nil {
		return nil
	}
	var missing []string
	for kind := range s.kinds {
		if !slices.Contains(declared.ErrorKinds, kind) {
			missing = append(missing, strconv.Quote(kind))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	return []string{"kinds among the payloads that the capabilities do not declare: " + strings.Join(missing, ", ")}
}

func results(list []Item) map[string]classify.ItemResult {
	out := make(map[string]classify.ItemResult, len(list))
	for _, item := range list {
		out[strconv.Itoa(item.Number)] = item.Result
	}
	return out
}
