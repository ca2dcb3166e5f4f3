package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Rate is a share between 0 and 1 in millionths. Kept as an integer so that a
// comparison with two counts is exact.
type Rate int64

// One is the rate 1.
const One Rate = 1_000_000

// Float is the rate as a number, for formulas.
func (r Rate) Float() float64 { return float64(r) / float64(One) }

// String is the rate as a decimal number, exactly.
func (r Rate) String() string {
	s := fmt.Sprintf("%d.%06d", r/One, r%One)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// SetText reads a decimal number with at most six decimals.
func (r *Rate) SetText(s string) error {
	whole, decimals, _ := strings.Cut(s, ".")
	if len(decimals) > 6 || len(whole) > 1 || len(whole)+len(decimals) == 0 {
		return fmt.Errorf("want a rate between 0 and 1 with at most six decimals such as 0.001, got %q", s)
	}
	n, err := strconv.ParseUint(whole+decimals+strings.Repeat("0", 6-len(decimals)), 10, 32)
	if err != nil || n > uint64(One) {
		return fmt.Errorf("want a rate between 0 and 1 such as 0.001, got %q", s)
	}
	*r = Rate(n)
	return nil
}

// MarshalJSON writes the exact decimal number.
func (r Rate) MarshalJSON() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Rate) UnmarshalJSON(b []byte) error { return r.SetText(string(b)) }

// Duration is a length of time in whole seconds. It is elapsed time: a day is
// 86,400 s, so that daylight saving cannot matter (D4).
type Duration int64

// Units of Duration.
const (
	Second Duration = 1
	Minute          = 60 * Second
	Hour            = 60 * Minute
	Day             = 24 * Hour
)

var units = []struct {
	letter byte
	length Duration
}{{'d', Day}, {'h', Hour}, {'m', Minute}, {'s', Second}}

// Std is the duration as the standard library has it.
func (d Duration) Std() time.Duration { return time.Duration(d) * time.Second }

// String is the duration in days, hours, minutes and seconds, such as 13d23h59m.
func (d Duration) String() string {
	if d == 0 {
		return "0s"
	}
	var b strings.Builder
	if d < 0 {
		b.WriteByte('-')
		d = -d
	}
	for _, u := range units {
		if n := d / u.length; n > 0 {
			fmt.Fprintf(&b, "%d%c", n, u.letter)
			d -= n * u.length
		}
	}
	return b.String()
}

// maxDuration keeps every sum of a few durations and an instant within int64.
const maxDuration = 3650 * Day

// SetText reads such as 14d, 1h30m or 90s: each unit at most once, largest first.
func (d *Duration) SetText(s string) error {
	errForm := fmt.Errorf("want a duration such as 14d, 6h, 1h30m or 60s, got %q", s)
	rest, total := s, Duration(0)
	for _, u := range units {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		if digits == 0 || digits > 8 || digits == len(rest) || rest[digits] != u.letter {
			continue
		}
		n, err := strconv.ParseInt(rest[:digits], 10, 64)
		if err != nil {
			return errForm
		}
		total += Duration(n) * u.length
		rest = rest[digits+1:]
	}
	if rest != "" || s == "" {
		return errForm
	}
	if total > maxDuration {
		return errors.New("want at most ten years")
	}
	*d = total
	return nil
}

// MarshalJSON writes the text form.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (d *Duration) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("read duration: %w", err)
	}
	return d.SetText(s)
}
