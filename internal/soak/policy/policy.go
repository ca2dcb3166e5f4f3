// Package policy is the soak's policy: which servers are judged, by which
// thresholds, with which waivers. It owns the file's form and its checks, and
// refuses whatever it does not understand, with line and name. It reads no
// file; the bytes are handed in.
package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// FormatVersion is the version of the file format that this program reads.
const FormatVersion = 1

// Policy is the whole of one policy file. Its zero value judges nothing.
type Policy struct {
	Version      int         `json:"version"`
	Name         string      `json:"name"`
	InForceSince time.Time   `json:"in_force_since"`
	Changes      []Change    `json:"changes"`
	Servers      []Server    `json:"servers"`
	Exclude      []Exclusion `json:"exclude"`
	// Alpha bounds the probability that a statistical gate ever passes wrongly.
	Alpha Rate `json:"alpha"`
	// LookBack bounds how far before the as-of instant anything is read.
	LookBack Duration `json:"look_back"`
	// CandidateWindow is how recently a version must have served calls (D3).
	CandidateWindow Duration `json:"candidate_window"`
	AllowReplay     bool     `json:"allow_replay"`
	Gates           Gates    `json:"gates"`
	Lockstep        Lockstep `json:"lockstep"`
	Waivers         []Waiver `json:"waivers"`
}

// Change tells when one threshold got its present value (D17).
type Change struct {
	Key string    `json:"key"` // such as gates.malformed.max_rate
	At  time.Time `json:"at"`
}

// Server is one server that flips with the others.
type Server struct {
	Name string `json:"name"`
	// Anchor fixes the instant from which blocks count (D6); zero is the first call.
	Anchor time.Time `json:"anchor,omitzero"`
	// Tools must be covered even if they were never called (D9).
	Tools []string `json:"tools"`
}

// Exclusion names a server whose production traffic is not judged, and why.
type Exclusion struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Gates holds the thresholds, one member a gate that has any.
type Gates struct {
	Version       Version       `json:"version"`
	Duration      Elapsed       `json:"duration"`
	Deployments   Deployments   `json:"deployments"`
	Malformed     Malformed     `json:"malformed"`
	Spread        Spread        `json:"spread"`
	CoverageKinds CoverageKinds `json:"coverage_kinds"`
	CoverageTools CoverageTools `json:"coverage_tools"`
	Bytes         Bytes         `json:"bytes"`
	Share         Share         `json:"share"`
	Unreadable    Unreadable    `json:"unreadable"`
	Conformance   Conformance   `json:"conformance"`
	Complaints    Complaints    `json:"complaints"`
	StrictModes   StrictModes   `json:"strict_modes"`
	Collection    Collection    `json:"collection"`
	Freshness     Freshness     `json:"freshness"`
	Lateness      Lateness      `json:"lateness"`
	Clocks        Clocks        `json:"clocks"`
	Collectors    Collectors    `json:"collectors"`
}

// Version is D3: how long every candidate version must have been seen.
type Version struct {
	MinAge Duration `json:"min_age"`
}

// Elapsed is D4.
type Elapsed struct {
	Min          Duration `json:"min"`
	OffAfter     Duration `json:"off_after"`
	HoleAfter    Duration `json:"hole_after"`
	RefillGap    Duration `json:"refill_gap"`
	PauseAfter   Duration `json:"pause_after"`
	RestartAfter Duration `json:"restart_after"`
}

// Deployments is D5.
type Deployments struct {
	Min        int64    `json:"min"`
	MinCalls   int64    `json:"min_calls"`
	MinDays    int64    `json:"min_days"`
	SeenWithin Duration `json:"seen_within"`
	OffAfter   Duration `json:"off_after"`
}

// Malformed is D6.
type Malformed struct {
	MaxRate Rate  `json:"max_rate"`
	MaxSeen int64 `json:"max_seen"`
}

// Spread is D8.
type Spread struct {
	MaxRate Rate `json:"max_rate"`
}

// CoverageKinds is D9, by kind of normalization.
type CoverageKinds struct {
	MinCalls              int64 `json:"min_calls"`
	MinDeployments        int64 `json:"min_deployments"`
	MinUnknownDeployments int64 `json:"min_unknown_deployments"`
}

// CoverageTools is D9, by tool.
type CoverageTools struct {
	InventoryFrom int64 `json:"inventory_from"`
	MinCalls      int64 `json:"min_calls"`
}

// Bytes is D10: P99 bytes may be exceeded by TailRate of the blocks, Max by none.
type Bytes struct {
	P99      int64 `json:"p99"`
	TailRate Rate  `json:"tail_rate"`
	Max      int64 `json:"max"`
}

// Share is D10's share of the answer.
type Share struct {
	Max      Rate `json:"max"`
	MinKnown Rate `json:"min_known"`
}

// Unreadable is D11's second half.
type Unreadable struct {
	MaxRate Rate `json:"max_rate"`
}

// Conformance is D12.
type Conformance struct {
	MaxAge         Duration `json:"max_age"`
	AllowNotTested []int64  `json:"allow_not_tested"`
}

// Complaints is D13.
type Complaints struct {
	ReviewMaxAge Duration `json:"review_max_age"`
}

// StrictModes is D14: one clock hour with both kinds is a change-over.
type StrictModes struct {
	MaxHours int64 `json:"max_hours"`
}

// Collection is D15: how much of the window may lie within unfilled down runs.
type Collection struct {
	Window  Duration `json:"window"`
	MaxDown Rate     `json:"max_down"`
}

// Freshness is D15, and the end of the clock in D4.
type Freshness struct {
	MaxAge Duration `json:"max_age"`
}

// Lateness is D15.
type Lateness struct {
	Window   Duration `json:"window"`
	Late     Duration `json:"late"`
	MaxShare Rate     `json:"max_share"`
}

// Clocks is D15: which clocks are not trusted, and how many records may have one.
type Clocks struct {
	Behind   Duration `json:"behind"`
	Ahead    Duration `json:"ahead"`
	Steady   Duration `json:"steady"`
	MinDays  int64    `json:"min_days"`
	Window   Duration `json:"window"`
	MaxShare Rate     `json:"max_share"`
}

// Collectors is D15.
type Collectors struct {
	HeartbeatMaxAge Duration `json:"heartbeat_max_age"`
	PendingMaxAge   Duration `json:"pending_max_age"`
}

// Lockstep is D19: on which days, until what hour, in which zone one may flip.
type Lockstep struct {
	Zone   string   `json:"zone"`
	Days   []string `json:"days"`
	CutOff string   `json:"cut_off"`
}

// Waiver accepts one finding for a time (D17).
type Waiver struct {
	Gate    Gate      `json:"gate"`
	Server  string    `json:"server"`
	Finding string    `json:"finding"`
	Reason  string    `json:"reason"`
	Who     string    `json:"who"`
	From    time.Time `json:"from"`
	Until   time.Time `json:"until"`
	Entered time.Time `json:"entered"`
}

// Default is every threshold of the definitions, and no server.
func Default() Policy {
	return Policy{
		Version: FormatVersion, Changes: []Change{}, Servers: []Server{}, Exclude: []Exclusion{}, Waivers: []Waiver{},
		Alpha: 50_000, LookBack: 90 * Day, CandidateWindow: Day,
		Gates: Gates{
			Version:       Version{MinAge: 3 * Day},
			Duration:      Elapsed{Min: 14 * Day, OffAfter: Hour, HoleAfter: 30 * Minute, RefillGap: 30 * Minute, PauseAfter: 6 * Hour, RestartAfter: 72 * Hour},
			Deployments:   Deployments{Min: 3, MinCalls: 300, MinDays: 7, SeenWithin: 48 * Hour, OffAfter: Hour},
			Malformed:     Malformed{MaxRate: 1_000},
			Spread:        Spread{MaxRate: 10_000},
			CoverageKinds: CoverageKinds{MinCalls: 30, MinDeployments: 2, MinUnknownDeployments: 1},
			CoverageTools: CoverageTools{InventoryFrom: 20, MinCalls: 20},
			Bytes:         Bytes{P99: 2048, TailRate: 10_000, Max: 16384},
			Share:         Share{Max: 50_000, MinKnown: 500_000},
			Unreadable:    Unreadable{MaxRate: 2_000},
			Conformance:   Conformance{MaxAge: 14 * Day, AllowNotTested: []int64{5}},
			Complaints:    Complaints{ReviewMaxAge: 7 * Day},
			StrictModes:   StrictModes{MaxHours: 1},
			Collection:    Collection{Window: 14 * Day, MaxDown: 10_000},
			Freshness:     Freshness{MaxAge: 6 * Hour},
			Lateness:      Lateness{Window: 7 * Day, Late: Day, MaxShare: 10_000},
			Clocks:        Clocks{Behind: Hour, Ahead: 5 * Minute, Steady: 10 * Minute, MinDays: 2, Window: 14 * Day, MaxShare: 1_000},
			Collectors:    Collectors{HeartbeatMaxAge: 10 * Minute, PendingMaxAge: Minute},
		},
		Lockstep: Lockstep{Zone: "UTC", Days: []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}, CutOff: "24:00"},
	}
}

// Canonical is the policy as JSON with every default filled in: two files that
// say the same have the same canonical form, whatever their comments.
func (p Policy) Canonical() ([]byte, error) {
	b, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("write the policy's canonical form: %w", err)
	}
	return b, nil
}

// Hash is the SHA-256 of the canonical form, in hexadecimal.
func (p Policy) Hash() (string, error) {
	b, err := p.Canonical()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// Server is the listed server of that name.
func (p Policy) Server(name string) (Server, bool) {
	for _, s := range p.Servers {
		if s.Name == name {
			return s, true
		}
	}
	return Server{}, false
}

// Excluded is the exclusion of that name.
func (p Policy) Excluded(name string) (Exclusion, bool) {
	for _, e := range p.Exclude {
		if e.Name == name {
			return e, true
		}
	}
	return Exclusion{}, false
}
