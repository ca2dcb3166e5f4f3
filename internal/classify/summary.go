package classify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// ItemResult is the outcome of one item of the conformance suite (R124).
type ItemResult string

// The outcomes. The empty value is none: an item nobody reported is no pass.
const (
	ItemPass      ItemResult = "pass"
	ItemFail      ItemResult = "fail"
	ItemNotTested ItemResult = "not_tested"
)

// ItemCount is the number of items of the suite (R118 to R123).
const ItemCount = 6

// maxSummary is the largest summary that is read, in bytes; one has about 200.
const maxSummary = 64 << 10

// Summary is the last line of a conformance run, as the command prints it and
// an mcp.conformance event carries it.
type Summary struct {
	Payloads     int                   `json:"payloads"`
	Conforming   int                   `json:"conforming"`
	Violating    int                   `json:"violating"`
	Unrecognized int                   `json:"unrecognized"`
	Items        map[string]ItemResult `json:"items"`
	SuiteVersion string                `json:"suite_version"`
}

// ParseConformance reads {"summary": {...}}. Members it does not know are
// ignored; one it knows must be there, be of its type, and add up, since a
// release is judged by it.
func ParseConformance(text []byte) (Summary, error) {
	var in struct {
		Summary *struct {
			Payloads     *int                  `json:"payloads"`
			Conforming   *int                  `json:"conforming"`
			Violating    *int                  `json:"violating"`
			Unrecognized *int                  `json:"unrecognized"`
			Items        map[string]ItemResult `json:"items"`
			SuiteVersion *string               `json:"suite_version"`
		} `json:"summary"`
	}
	if len(text) > maxSummary {
		return Summary{}, fmt.Errorf("read a conformance summary: it has %d bytes, of which at most %d are read", len(text), maxSummary)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&in); err != nil {
		return Summary{}, fmt.Errorf("read a conformance summary: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Summary{}, errors.New("read a conformance summary: expected one JSON object and nothing after it")
	}
	s := in.Summary
	if s == nil || s.Payloads == nil || s.Conforming == nil || s.Violating == nil || s.Unrecognized == nil || s.SuiteVersion == nil {
		return Summary{}, errors.New(`read a conformance summary: expected {"summary":{"payloads","conforming","violating","unrecognized","items","suite_version"}}`)
	}
	out := Summary{*s.Payloads, *s.Conforming, *s.Violating, *s.Unrecognized, s.Items, *s.SuiteVersion}
	return out, out.check()
}

// check tells what of a summary cannot be.
func (s Summary) check() error {
	if min(s.Payloads, s.Conforming, s.Violating, s.Unrecognized) < 0 || s.Conforming+s.Violating+s.Unrecognized != s.Payloads {
		return fmt.Errorf("check a conformance summary: %d conforming, %d violating and %d unrecognized are not %d payloads",
			s.Conforming, s.Violating, s.Unrecognized, s.Payloads)
	}
	for _, item := range slices.Sorted(maps.Keys(s.Items)) {
		if len(item) != 1 || item[0] < '1' || item[0] > '0'+ItemCount {
			return fmt.Errorf("check a conformance summary: items are named 1 to %d", ItemCount)
		}
		switch s.Items[item] {
		case ItemPass, ItemFail, ItemNotTested:
		default:
			return fmt.Errorf("check a conformance summary: item %s is neither pass, fail nor not_tested", item)
		}
	}
	if len(s.Items) != ItemCount {
		return fmt.Errorf("check a conformance summary: %d of %d items are reported", len(s.Items), ItemCount)
	}
	return nil
}
