package soak

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/soakgate/soakgate/internal/soak/policy"
)

// Minute is a whole minute of UTC: minutes since 1970-01-01T00:00Z. Zero means
// "never": no event of 1970 is kept.
type Minute int64

// MinuteOf is the minute that holds t.
func MinuteOf(t time.Time) Minute { return Minute(floorDiv(t.Unix(), 60)) }

// Time is the instant at which the minute begins.
func (m Minute) Time() time.Time { return time.Unix(int64(m)*60, 0).UTC() }

// String is the minute in ISO 8601, or "never".
func (m Minute) String() string {
	if m == 0 {
		return "never"
	}
	return m.Time().Format("2006-01-02T15:04Z")
}

// Add is the minute d later. D is whole minutes, as policies have them.
func (m Minute) Add(d policy.Duration) Minute { return m + minutes(d) }

func minutes(d policy.Duration) Minute { return Minute(d / policy.Minute) }

// span is a number of minutes as a duration.
func span(m Minute) policy.Duration { return policy.Duration(m) * policy.Minute }

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// AsOf is the instant a verdict speaks of (D1).
type AsOf struct {
	At time.Time `json:"at"`
	// AllEvents reads what happened before At, whenever it arrived; otherwise
	// only what had arrived by At.
	AllEvents bool `json:"all_events"`
}

// Minute is At cut down to the whole minute: telemetry is judged before it.
func (a AsOf) Minute() Minute { return MinuteOf(a.At) }

// maxClockSkew is how far ahead of the reader's clock an as-of instant may lie.
const maxClockSkew = 60 * time.Second

// ErrAsOf is the error of an as-of instant that cannot be used.
var ErrAsOf = errors.New("unusable as-of instant")

// ParseAsOf reads an RFC 3339 instant with offset. An empty text is now; one
// later than now by more than a minute is refused, since what it would judge
// has not happened yet.
func ParseAsOf(s string, allEvents bool, now time.Time) (AsOf, error) {
	if s == "" {
		return AsOf{At: now.UTC(), AllEvents: allEvents}, nil
	}
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return AsOf{}, fmt.Errorf("%w: want RFC 3339 with offset such as 2026-03-01T12:00:00Z, got %q", ErrAsOf, s)
	}
	if at.After(now.Add(maxClockSkew)) {
		return AsOf{}, fmt.Errorf("%w: %s lies in the future (now is %s)", ErrAsOf, s, now.UTC().Format(time.RFC3339))
	}
	return AsOf{At: at.UTC(), AllEvents: allEvents}, nil
}

// Run is a maximal run of minutes [From, To).
type Run struct{ From, To Minute }

// MarshalJSON writes [from, to].
func (r Run) MarshalJSON() ([]byte, error) { return json.Marshal([2]Minute{r.From, r.To}) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Run) UnmarshalJSON(b []byte) error {
	var v [2]Minute
	if err := json.Unmarshal(b, &v); err != nil {
		return fmt.Errorf("read run: %w", err)
	}
	r.From, r.To = v[0], v[1]
	return nil
}

// String is the run as an interval of ISO 8601.
func (r Run) String() string { return r.From.String() + "/" + r.To.String() }

// CallRun is a run of minutes and the calls in it.
type CallRun struct {
	Run
	Calls int64
}

// MarshalJSON writes [from, to, calls].
func (r CallRun) MarshalJSON() ([]byte, error) {
	return json.Marshal([3]int64{int64(r.From), int64(r.To), r.Calls})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *CallRun) UnmarshalJSON(b []byte) error {
	var v [3]int64
	if err := json.Unmarshal(b, &v); err != nil {
		return fmt.Errorf("read run of calls: %w", err)
	}
	r.From, r.To, r.Calls = Minute(v[0]), Minute(v[1]), v[2]
	return nil
}

// union joins runs that overlap or touch, in order of time. The runs given are
// left as they are.
func union(runs []Run) []Run {
	sorted := slices.SortedFunc(slices.Values(runs), func(a, b Run) int { return int(a.From - b.From) })
	var out []Run
	for _, r := range sorted {
		if n := len(out); n > 0 && r.From <= out[n-1].To {
			out[n-1].To = max(out[n-1].To, r.To)
		} else if r.From < r.To {
			out = append(out, r)
		}
	}
	return out
}

// within cuts runs down to [from, to).
func within(runs []Run, from, to Minute) []Run {
	var out []Run
	for _, r := range runs {
		if c := (Run{max(r.From, from), min(r.To, to)}); c.From < c.To {
			out = append(out, c)
		}
	}
	return out
}

// gaps are the parts of [from, to) that no run covers; the runs are a union.
func gaps(runs []Run, from, to Minute) []Run {
	var out []Run
	for _, r := range within(runs, from, to) {
		if from < r.From {
			out = append(out, Run{from, r.From})
		}
		from = r.To
	}
	if from < to {
		out = append(out, Run{from, to})
	}
	return out
}

// length is the number of minutes that a union of runs covers.
func length(runs []Run) Minute {
	var n Minute
	for _, r := range runs {
		n += r.To - r.From
	}
	return n
}

// overlaps tells whether any of the runs shares a minute with r.
func overlaps(runs []Run, r Run) bool {
	return slices.ContainsFunc(runs, func(o Run) bool { return o.From < r.To && r.From < o.To })
}
