package soak

import (
	"fmt"
	"slices"
	"time"
)

// policyRef names the policy, and the thresholds that are younger than half of
// the soak: a bound chosen after seeing the data says less (D17).
func (j *judge) policyRef() PolicyRef {
	ref := PolicyRef{Name: j.p.Name, InForceSince: j.p.InForceSince.UTC(), Young: []string{}}
	if hash, err := j.p.Hash(); err == nil {
		ref.Hash = hash
	}
	half := j.at.At.Add(-j.p.Gates.Duration.Min.Std() / 2)
	if j.p.InForceSince.After(half) {
		ref.Young = append(ref.Young, fmt.Sprintf("the whole policy is in force only since %s", stamp(j.p.InForceSince)))
	}
	for _, c := range j.p.Changes {
		if c.At.After(half) {
			ref.Young = append(ref.Young, fmt.Sprintf("%s was changed at %s", c.Key, stamp(c.At)))
		}
	}
	return ref
}

// describe fills in what surrounds the decision.
func (j *judge) describe(v *Verdict) {
	v.ReplayedData = j.replayed()
	if v.ReplayedData {
		v.Notes = append(v.Notes, "rests on replayed data")
	}
	if j.foreign() == "" {
		j.describeServers(v)
	}
	for i, w := range j.p.Waivers {
		status := j.waiverStatus(w)
		if j.used[i] {
			status = WaiverUsed
		}
		v.Waivers = append(v.Waivers, WaiverUse{w, status})
	}
	if cut := j.at.At.Sub(j.t.Time()); cut > 0 {
		v.Notes = append(v.Notes, "telemetry counts before "+j.t.String()+", the whole minute of the as-of instant; registers count up to the instant itself")
	}
	switch v.Decision {
	case DecisionHold:
		v.ETA, v.NoDate = forecast(v.Gates)
	case DecisionFlip:
		day, end := j.p.Lockstep.Day(j.at.At)
		v.ProposedDay = day
		valid := &end
		for _, g := range v.Gates {
			if g.Lapses != nil {
				valid = sooner(valid, *g.Lapses)
			}
			if waived := j.waiverEnd(GateRef{g.Server, g.Gate}); waived != nil {
				valid = sooner(valid, *waived)
			}
		}
		v.ValidUntil = valid
		v.Notes = append(v.Notes, "the soak speaks of the candidates; the releases that flip need their own conformance run on the same suite. Run the soak again at the release")
	}
}

func (j *judge) describeServers(v *Verdict) {
	for _, s := range j.p.Servers {
		ref := ServerRef{Name: s.Name, Anchor: j.anchor(s.Name)}
		for _, c := range j.candidates(s.Name) {
			ref.Candidates = append(ref.Candidates, c.Version)
		}
		if c := j.clock(s.Name); c.start != 0 {
			ref.RunFrom = c.start.String()
			for _, p := range c.paused {
				ref.Paused = append(ref.Paused, p.String())
			}
		}
		v.Servers = append(v.Servers, ref)
	}
	for _, e := range j.p.Exclude {
		v.Excluded = append(v.Excluded, ServerRef{Name: e.Name, Reason: e.Reason})
		if n := j.productionCalls(e.Name); n > 0 {
			v.Notes = append(v.Notes, fmt.Sprintf("not judged: %s production calls of %s (%s)", number(n), e.Name, e.Reason))
		}
	}
	byName := func(a, b ServerRef) int { return compare(a.Name, b.Name) }
	slices.SortFunc(v.Servers, byName)
	slices.SortFunc(v.Excluded, byName)
}

// forecast is the earliest end of a HOLD: the latest date of its holding gates. One
// that waits for an act has no date, and then neither has the verdict (D18).
func forecast(gates []Gate) (*time.Time, []string) {
	var latest *time.Time
	noDate := []string{}
	for _, g := range gates {
		switch {
		case g.State != StateHold:
		case g.ETA == nil:
			noDate = append(noDate, fmt.Sprintf("%s %s needs %s", g.Server, g.Gate, g.Needs))
		case latest == nil || g.ETA.After(*latest):
			latest = g.ETA
		}
	}
	if len(noDate) > 0 {
		return nil, noDate
	}
	return latest, noDate
}
