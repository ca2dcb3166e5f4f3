// Package classify judges what MCP servers send by the error envelope
// contract: which shape a payload is, what it says, and which rules it breaks.
// The schemas and tables of package schemas are the truth, and the
// jsonschema library judges by them; a fast path accepts what is plainly valid.
//
// The package is pure: bytes in, judgement out. It refuses I/O, clocks, logs
// and global state, and nothing that a sender can write makes it panic, recurse
// or take more than linear time.
package classify

import (
	"fmt"
	"sync"

	"github.com/soakgate/soakgate/schemas"
)

const (
	// MaxPayload is the largest text in bytes that is read. The contract asks
	// for 1 MiB (R21); whole answers with _meta may be larger, and a
	// collector's default request limits are 4 and 20 MiB. A longer text is
	// refused with invalid_json before anything is allocated for it.
	MaxPayload = 16 << 20
	// MaxFindings bounds Violations and Advisories of one judgement: a hostile
	// payload breaks a rule a million times. What is beyond is in Cut.
	MaxFindings = 100
	// MaxRows bounds Normalized and Warnings for the same reason.
	MaxRows = 1000
	// MaxMessage is the length in bytes that no message exceeds.
	MaxMessage = 1024
	// MaxPath is the length in bytes that no Finding's path exceeds. A longer
	// pointer ends at the deepest ancestor that fits.
	MaxPath = 512
)

// Payload is what a carrier held, and what the carrier knows of it.
type Payload struct {
	// Text is JSON, or text with JSON in it. Maps are given as compact JSON,
	// a non-finite double as 1e999, an absent value as null.
	Text []byte
	// Family is the declared emitter (R53), FamilyUnknown without one.
	Family Family
	// ToolError is true when the carrier says that Text is the message of a
	// ToolError (R161).
	ToolError bool
	// Event is the name the sender gave, if it gave one.
	Event Event
}

// Classifier judges payloads. It is immutable, and safe for concurrent use.
type Classifier struct {
	*contract
	scratch sync.Pool
}

// New reads the embedded schemas and tables. An error means that this build's
// own data do not fit together.
func New() (*Classifier, error) {
	ct, err := loadContract(schemas.Read)
	if err != nil {
		return nil, fmt.Errorf("load the contract: %w", err)
	}
	return newWith(ct), nil
}

func newWith(ct *contract) *Classifier {
	c := &Classifier{contract: ct}
	c.scratch.New = func() any { return new(judging) }
	return c
}

// Judge says what the contract says of one payload. The judgement's strings
// are its own; Object may alias p.Text.
func (c *Classifier) Judge(p Payload) Judgement {
	var j Judgement
	c.JudgeInto(&j, p)
	return j
}

// JudgeInto is Judge into dst, whose slices it reuses: what an earlier
// judgement in dst held in them is gone. It is the form for loops.
func (c *Classifier) JudgeInto(dst *Judgement, p Payload) {
	dst.reset()
	w := c.scratch.Get().(*judging)
	w.begin(c.contract, dst, p)
	w.text(p.Text, false)
	w.finish()
	c.scratch.Put(w)
}

// reset empties j and keeps its slices for reuse.
func (j *Judgement) reset() {
	*j = Judgement{
		Shape: ShapeUnknown, Family: FamilyUnknown,
		Normalized: j.Normalized[:0], Warnings: j.Warnings[:0],
		Violations: j.Violations[:0], Advisories: j.Advisories[:0],
	}
}
