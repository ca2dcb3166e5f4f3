package soak

import (
	"slices"
	"time"
)

// What a complaint's entry does.
const (
	ComplaintOpen    = "open"
	ComplaintResolve = "resolve"
	ComplaintReopen  = "reopen"
)

// Registers are the inputs that are not on the wire (R140). Entries are bitemporal:
// an entry counts at T if it took effect before T and had been entered by T (D1).
type Registers struct {
	Complaints []Complaint `json:"complaints"`
	Reviews    []Review    `json:"reviews"`
	Overrides  []Override  `json:"overrides"`
}

// Complaint is one entry about one complaint: opened, resolved or reopened (D13).
type Complaint struct {
	ID     string `json:"id"`
	Server string `json:"server"`
	Kind   string `json:"kind"` // payload_size or parsing
	Action string `json:"action"`
	Ref    string `json:"ref"`
	// FixedIn or NotOurs tells how it was resolved; one of them must.
	FixedIn    string    `json:"fixed_in"`
	NotOurs    bool      `json:"not_ours"`
	Note       string    `json:"note"`
	By         string    `json:"by"`
	At         time.Time `json:"at"`
	RecordedAt time.Time `json:"recorded_at"`
}

// Review says that somebody looked whether there are complaints.
type Review struct {
	Server     string    `json:"server"`
	By         string    `json:"by"`
	Note       string    `json:"note"`
	At         time.Time `json:"at"`
	RecordedAt time.Time `json:"recorded_at"`
}

// Override takes a deployment out of the evidence for a flip, or puts it back.
// It can never make one count that would not count by itself.
type Override struct {
	Server     string    `json:"server"`
	Deployment string    `json:"deployment"`
	Counts     bool      `json:"counts"`
	Reason     string    `json:"reason"`
	By         string    `json:"by"`
	At         time.Time `json:"at"`
	RecordedAt time.Time `json:"recorded_at"`
}

// Join puts the entries of both registers together.
func (r Registers) Join(o Registers) Registers {
	return Registers{
		Complaints: slices.Concat(r.Complaints, o.Complaints),
		Reviews:    slices.Concat(r.Reviews, o.Reviews),
		Overrides:  slices.Concat(r.Overrides, o.Overrides),
	}
}

// counts tells whether an entry counts at t.
func counts(at, recorded, t time.Time) bool {
	return at.Before(t) && !recorded.After(t)
}

// complaint is the state of one complaint at an instant.
type complaint struct {
	Complaint // the entry that decided, with the server of the first
	Open      bool
	Since     time.Time
}

// complaints folds the entries that count at t into the state of each
// complaint, ordered by id. A resolution without a reference or without a way
// of resolution resolves nothing.
func (r Registers) complaints(t time.Time) []complaint {
	entries := slices.DeleteFunc(slices.Clone(r.Complaints), func(c Complaint) bool { return !counts(c.At, c.RecordedAt, t) })
	slices.SortStableFunc(entries, func(a, b Complaint) int {
		return compareAll(compare(a.Server, b.Server), compare(a.ID, b.ID), a.At.Compare(b.At), a.RecordedAt.Compare(b.RecordedAt), compare(effect(a), effect(b)))
	})
	var out []complaint
	for _, e := range entries {
		if n := len(out); n == 0 || out[n-1].ID != e.ID || out[n-1].Server != e.Server {
			out = append(out, complaint{Complaint: e, Open: true, Since: e.At})
		}
		c := &out[len(out)-1]
		resolved := e.Action == ComplaintResolve && e.Ref != "" && (e.FixedIn != "" || e.NotOurs)
		if c.Open == resolved {
			c.Since = e.At
		}
		c.Open = !resolved
		c.Complaint = e
	}
	return out
}

// effect orders entries of the same instants: what keeps a complaint open wins.
func effect(c Complaint) string {
	if c.Action == ComplaintResolve {
		return "0"
	}
	return "1" + c.Action
}

// reviewed is the newest review of a server that counts at t.
func (r Registers) reviewed(server string, t time.Time) (Review, bool) {
	var newest Review
	for _, v := range r.Reviews {
		if v.Server == server && counts(v.At, v.RecordedAt, t) && v.At.After(newest.At) {
			newest = v
		}
	}
	return newest, !newest.At.IsZero()
}

// overridden tells whether the newest override at t takes a deployment out.
// Of two at the same instant the one that takes out wins.
func (r Registers) overridden(server, deployment string, t time.Time) bool {
	var newest Override
	out := false
	for _, o := range r.Overrides {
		if o.Server != server || o.Deployment != deployment || !counts(o.At, o.RecordedAt, t) {
			continue
		}
		if o.At.After(newest.At) {
			newest, out = o, !o.Counts
		} else if o.At.Equal(newest.At) {
			out = out || !o.Counts
		}
	}
	return out
}
