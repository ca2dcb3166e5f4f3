package soak

import (
	"fmt"
	"strings"
	"time"
)

// wait gathers what a hold waits for. The hold ends when all of it has come, so
// its date is the latest, and one thing without a date leaves it without one.
type wait struct {
	j       *judge
	at      time.Time
	dated   []string
	undated []string
}

// until waits for an instant.
func (w *wait) until(at time.Time, what string) {
	w.dated = append(w.dated, what)
	if at.After(w.at) {
		w.at = at
	}
}

// act waits for something that has no date.
func (w *wait) act(what string) { w.undated = append(w.undated, what) }

// grow waits until a count has grown by missing, at the rate of the last days.
func (w *wait) grow(missing, inRecent int64, what string) {
	need := fmt.Sprintf("%s more %s", number(missing), what)
	if at, ok := w.j.reach(missing, inRecent); ok {
		w.until(at, need)
		return
	}
	w.act(need + " (none came in the last 7 days)")
}

// hold holds the gate for what was gathered.
func (w *wait) hold(g *Gate, why string) {
	g.hold(why)
	if len(w.undated) > 0 {
		g.needs(strings.Join(append(w.undated, w.dated...), "; "))
		return
	}
	g.by(w.at, strings.Join(w.dated, "; "))
}
