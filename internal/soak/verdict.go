package soak

import (
	"cmp"
	"slices"
	"time"

	"github.com/soakgate/soakgate/internal/soak/policy"
)

// State is the state of a gate (D18). Its zero value is unset, which counts as
// unknown and never as a pass.
type State string

// The states of a gate.
const (
	StateUnset   State = ""
	StatePass    State = "pass"
	StateWaived  State = "waived" // would hold or block, but for accepted findings
	StateHold    State = "hold"   // too little evidence yet
	StateBlock   State = "block"  // evidence against
	StateUnknown State = "unknown"
)

// Number is the value of metric soakgate_soak_gate.
func (s State) Number() int {
	switch s {
	case StatePass:
		return 1
	case StateWaived:
		return 2
	case StateHold:
		return 0
	case StateBlock:
		return -1
	}
	return -2
}

// Decision is what the verdict says. Its zero value is unset and is never FLIP.
type Decision string

// The decisions.
const (
	DecisionUnset        Decision = ""
	DecisionFlip         Decision = "FLIP"
	DecisionHold         Decision = "HOLD"
	DecisionBlock        Decision = "BLOCK"
	DecisionCouldNotTell Decision = "COULD_NOT_TELL"
)

// Exit statuses of collector soak.
const (
	ExitFlip         = 0
	ExitCouldNotTell = 1
	ExitUsage        = 2 // usage and policy errors, before anything is read
	ExitHold         = 3
	ExitBlock        = 4
)

// ExitCode is the exit status that tells the decision to a script.
func (d Decision) ExitCode() int {
	switch d {
	case DecisionFlip:
		return ExitFlip
	case DecisionHold:
		return ExitHold
	case DecisionBlock:
		return ExitBlock
	}
	return ExitCouldNotTell
}

// Number is the value of metric soakgate_soak_verdict.
func (d Decision) Number() int {
	switch d {
	case DecisionFlip:
		return 1
	case DecisionHold:
		return 0
	case DecisionBlock:
		return -1
	}
	return -2
}

// VerdictVersion is the version of the verdict's JSON form.
const VerdictVersion = 1

// Verdict is the answer, with all that it rests on.
type Verdict struct {
	Version  int      `json:"version"`
	Decision Decision `json:"decision"`
	// AsOf is the instant judged; telemetry counts before TelemetryBefore, the
	// whole minute of it.
	AsOf            AsOf      `json:"as_of"`
	TelemetryBefore time.Time `json:"telemetry_before"`
	Policy          PolicyRef `json:"policy"`
	// Deciding are all gates of the deciding state; Unknown those that could not
	// be read, beside a BLOCK.
	Deciding []GateRef `json:"deciding"`
	Unknown  []GateRef `json:"unknown"`
	// ETA is the earliest instant at which a HOLD can end; NoDate says what it
	// waits for when there is no such date.
	ETA    *time.Time `json:"eta"`
	NoDate []string   `json:"no_date"`
	// ProposedDay and ValidUntil belong to a FLIP (D19).
	ProposedDay string     `json:"proposed_day,omitempty"`
	ValidUntil  *time.Time `json:"valid_until"`
	// ReplayedData says that production calls of a listed server were replayed.
	ReplayedData bool        `json:"rests_on_replayed_data"`
	Servers      []ServerRef `json:"servers"`
	Excluded     []ServerRef `json:"excluded"`
	Gates        []Gate      `json:"gates"`
	Waivers      []WaiverUse `json:"waivers"`
	Notes        []string    `json:"notes"`
	// Since is the earliest hour mark from which the decision has not changed,
	// where that was looked up. See Since.
	Since *Since `json:"since,omitempty"`
}

// PolicyRef names the policy that was applied.
type PolicyRef struct {
	Name         string    `json:"name"`
	Hash         string    `json:"hash"`
	InForceSince time.Time `json:"in_force_since"`
	// Young lists thresholds that are younger than half of the soak (D17).
	Young []string `json:"young"`
}

// ServerRef is one server of the verdict.
type ServerRef struct {
	Name       string   `json:"name"`
	Candidates []string `json:"candidates,omitempty"`
	Anchor     string   `json:"anchor,omitempty"`
	RunFrom    string   `json:"run_from,omitempty"`
	Paused     []string `json:"paused,omitempty"`
	Reason     string   `json:"reason,omitempty"` // why it is excluded
}

// GateRef names a gate of a server, or of all of them.
type GateRef struct {
	Server string      `json:"server"`
	Gate   policy.Gate `json:"gate"`
}

// Gate is one condition and its state.
type Gate struct {
	Server string      `json:"server"`
	Gate   policy.Gate `json:"gate"`
	State  State       `json:"state"`
	// Why is one sentence that names what decided.
	Why string `json:"why"`
	// Observed and Required say the same as Measure in words.
	Observed string   `json:"observed"`
	Required string   `json:"required"`
	Measure  *Measure `json:"measure,omitempty"`
	// ETA is the earliest instant at which a hold can end, and Needs what ends
	// it. A hold without ETA waits for an act or for something never seen.
	ETA   *time.Time `json:"eta,omitempty"`
	Needs string     `json:"needs,omitempty"`
	// Lapses is when a pass ends without new data, where it does.
	Lapses   *time.Time `json:"lapses,omitempty"`
	Parts    []Part     `json:"parts,omitempty"`
	Findings []Finding  `json:"findings,omitempty"`
	Notes    []string   `json:"notes,omitempty"`
	Since    *Since     `json:"since,omitempty"`
}

// Measure is the figure that decided, so that it can be checked by hand.
type Measure struct {
	Numerator   int64 `json:"numerator"`
	Denominator int64 `json:"denominator"`
	// Low and High are one-sided exact bounds of the rate at Confidence each.
	Low        *float64 `json:"low,omitempty"`
	High       *float64 `json:"high,omitempty"`
	Confidence *float64 `json:"confidence,omitempty"`
	Threshold  string   `json:"threshold"`
	Window     string   `json:"window"`
}

// Part is one thing of several that a gate looks at: a kind, a tool, a deployment.
type Part struct {
	Name     string `json:"name"`
	State    State  `json:"state"`
	Observed string `json:"observed"`
	Required string `json:"required"`
}

// Finding is something that was found against a flip.
type Finding struct {
	ID       string `json:"id"` // what a waiver names
	Text     string `json:"text"`
	Waived   bool   `json:"waived"`
	Waivable bool   `json:"waivable"`
}

// WaiverUse is a waiver of the policy and what became of it at the as-of instant.
type WaiverUse struct {
	policy.Waiver
	Status string `json:"status"`
}

// The statuses of a waiver.
const (
	WaiverUsed       = "used"
	WaiverUnused     = "unused" // in force, but no such finding
	WaiverExpired    = "expired"
	WaiverNotYet     = "not yet in force"
	WaiverNotEntered = "not yet entered"
)

// decide applies D18 to gates in any order. It asks for every gate that the
// policy demands: a gate that is missing is unknown, like one whose state is
// unset or not a state at all. So no gates are never FLIP.
func decide(gates []Gate, demanded []GateRef) (Decision, []GateRef, []GateRef) {
	states := map[GateRef]State{}
	for _, g := range gates {
		states[GateRef{g.Server, g.Gate}] = g.State
	}
	by := map[State][]GateRef{}
	for _, ref := range demanded {
		state := states[ref]
		switch state {
		case StatePass, StateWaived, StateHold, StateBlock:
		default:
			state = StateUnknown
		}
		by[state] = append(by[state], ref)
	}
	switch {
	case len(by[StateBlock]) > 0:
		return DecisionBlock, by[StateBlock], by[StateUnknown]
	case len(by[StateUnknown]) > 0 || len(demanded) == 0:
		return DecisionCouldNotTell, by[StateUnknown], by[StateUnknown]
	case len(by[StateHold]) > 0:
		return DecisionHold, by[StateHold], nil
	}
	return DecisionFlip, nil, nil
}

// demand lists the gates of a verdict under a policy, ordered by server and gate.
// Without a listed server there is nothing that could be decided.
func demand(p policy.Policy) []GateRef {
	if len(p.Servers) == 0 {
		return nil
	}
	var refs []GateRef
	for _, g := range policy.OverallGates {
		refs = append(refs, GateRef{policy.AllServers, g})
	}
	for _, s := range slices.SortedFunc(slices.Values(p.Servers), func(a, b policy.Server) int { return cmp.Compare(a.Name, b.Name) }) {
		for _, g := range policy.ServerGates {
			refs = append(refs, GateRef{s.Name, g})
		}
	}
	return refs
}

func compare[T cmp.Ordered](a, b T) int { return cmp.Compare(a, b) }

func compareAll(results ...int) int { return cmp.Or(results...) }
