package soak

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/soakgate/soakgate/internal/soak/policy"
	"github.com/soakgate/soakgate/internal/soak/stats"
)

func (g *Gate) set(s State, why string) *Gate {
	g.State, g.Why = s, why
	if s != StateHold {
		g.ETA, g.Needs = nil, ""
	}
	return g
}

func (g *Gate) pass(format string, args ...any) *Gate {
	return g.set(StatePass, fmt.Sprintf(format, args...))
}

func (g *Gate) block(format string, args ...any) *Gate {
	return g.set(StateBlock, fmt.Sprintf(format, args...))
}

func (g *Gate) hold(why string) *Gate    { return g.set(StateHold, why) }
func (g *Gate) unknown(why string) *Gate { return g.set(StateUnknown, why) }

// needs says what ends a hold that has no date.
func (g *Gate) needs(what string) *Gate { g.ETA, g.Needs = nil, what; return g }

// by says when a hold can end at the earliest.
func (g *Gate) by(at time.Time, what string) *Gate {
	at = at.UTC()
	g.ETA, g.Needs = &at, what
	return g
}

// lapse notes an instant at which the pass ends without new data.
func (g *Gate) lapse(at time.Time) { g.Lapses = sooner(g.Lapses, at) }

// require fills in what was seen and what is asked for, in words.
func (g *Gate) require(observed, required string) { g.Observed, g.Required = observed, required }

func (g *Gate) note(format string, args ...any) {
	g.Notes = append(g.Notes, fmt.Sprintf(format, args...))
}

func (g *Gate) part(name string, ok bool, observed, required string) {
	state := StateHold
	if ok {
		state = StatePass
	}
	g.Parts = append(g.Parts, Part{name, state, observed, required})
}

// find adds a finding and tells whether it is waived.
func (g *Gate) find(j *judge, id, text string) bool {
	waived := j.waive(g.Gate, g.Server, id)
	g.Findings = append(g.Findings, Finding{ID: id, Text: text, Waived: waived, Waivable: true})
	return waived
}

// settle gives the state of a gate that turns on findings alone: that of the
// findings that were not accepted, else waived, else pass.
func (g *Gate) settle(against State, pass string) *Gate {
	var open, accepted []string
	for _, f := range g.Findings {
		if f.Waived {
			accepted = append(accepted, f.Text)
		} else {
			open = append(open, f.Text)
		}
	}
	switch {
	case len(open) > 0:
		return g.set(against, strings.Join(open, "; "))
	case len(accepted) > 0:
		return g.set(StateWaived, "accepted by waiver: "+strings.Join(accepted, "; "))
	}
	return g.set(StatePass, pass)
}

// rate measures x of n with exact one-sided bounds.
func (g *Gate) rate(x, n int64, alpha float64, threshold, window string) {
	low, high, confidence := round(stats.Lower(x, n, alpha)), round(stats.Upper(x, n, alpha)), round(1-alpha)
	g.Measure = &Measure{x, n, &low, &high, &confidence, threshold, window}
}

// count measures numerator against denominator without an interval.
func (g *Gate) count(numerator, denominator int64, threshold, window string) {
	g.Measure = &Measure{Numerator: numerator, Denominator: denominator, Threshold: threshold, Window: window}
}

// round keeps six significant digits, so that a difference in the last bit
// between machines does not change an evidence file.
func round(f float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 6, 64), 64)
	if err != nil || math.IsNaN(r) {
		return f
	}
	return r
}

// atMost tells exactly whether part of whole is at most r. Nothing of nothing
// is within no rate (U49).
func atMost(part, whole int64, r policy.Rate) bool {
	if part < 0 || whole <= 0 || r < 0 {
		return false
	}
	partHi, partLo := bits.Mul64(uint64(part), uint64(policy.One))
	wholeHi, wholeLo := bits.Mul64(uint64(whole), uint64(r))
	return partHi < wholeHi || partHi == wholeHi && partLo <= wholeLo
}

// reach tells when a count that grows by the rate of the last seven days will
// have grown by missing. It reports false when it does not grow.
func (j *judge) reach(missing, inRecent int64) (time.Time, bool) {
	if inRecent <= 0 {
		return time.Time{}, false
	}
	seconds := float64(missing) / float64(inRecent) * float64(recent)
	if seconds > float64(maxForecast) {
		return time.Time{}, false
	}
	return j.at.At.Add(time.Duration(math.Ceil(seconds)) * time.Second), true
}

// maxForecast is how far ahead an ETA may lie before it says nothing.
const maxForecast = 3650 * policy.Day

// grow says that the hold ends when a count has grown by missing.
func (g *Gate) grow(j *judge, missing, inRecent int64, what string) {
	w := wait{j: j}
	w.grow(missing, inRecent, what)
	w.hold(g, g.Why)
}

// number writes a count with thousands separators.
func number(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// plural writes a count with the noun it counts.
func plural(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return number(n) + " " + noun
}

// percent writes a rate as a percentage of up to four significant digits.
func percent(f float64) string { return strconv.FormatFloat(100*f, 'g', 4, 64) + " %" }

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }
