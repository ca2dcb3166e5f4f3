package store

import (
	"encoding/base64"

	"github.com/soakgate/soakgate/internal/classify"
	"github.com/soakgate/soakgate/internal/store/native"
)

// ReasonInvalid is the reason of records that break the contract and were
// rejected for it, because the receiver's reject_invalid asks for that.
const ReasonInvalid = "invalid"

// Quarantine are rows of rejected_records for records that are kept there and
// nowhere else. It goes through the journal as a frame of KindRejected. One
// Quarantine serves one request at a time and keeps its memory for the next.
type Quarantine struct {
	native.Block
	one     *Columns // the record alone, as `collector rejected replay` stores it
	encoded []byte

	id                    *native.UUIDs
	server, reason, state *native.Low
	detail, note          *native.Text
	original, block       *native.Text
	receivedAt, changedAt *native.Moments
}

// NewQuarantine makes an empty quarantine.
func NewQuarantine() *Quarantine {
	q := &Quarantine{one: NewColumns()}
	q.id = q.UUID("id")
	q.server = q.Low("server")
	q.reason = q.Low("reason")
	q.detail = q.Text("detail")
	q.original = q.Text("original")
	q.block = q.Text("block")
	q.state = q.Low("state")
	q.note = q.Text("note")
	q.receivedAt = q.DateTime64("received_at", 3)
	q.changedAt = q.DateTime64("changed_at", 6)
	return q
}

// rejectedBlockColumns are the columns of a block of KindRejected.
var rejectedBlockColumns = NewQuarantine().Columns()

// Append adds a record that breaks the contract. A second delivery of it is the
// same row: it has the record's id, and is never newer than what was decided
// about the first one after it arrived.
func (q *Quarantine) Append(r *classify.Record, place Place) {
	q.one.Reset()
	q.one.Append(r, place)
	q.encoded = q.one.AppendPlain(q.encoded[:0])
	q.Begin()
	q.id.Add(r.ID)
	q.server.Set(r.Source.Server)
	q.reason.Set(ReasonInvalid)
	q.detail.Set(r.Violations[0].Message)
	q.original.SetBytes(keptPayload(r.Payload))
	q.block.Set(base64.StdEncoding.EncodeToString(q.encoded))
	q.state.Set(RejectedOpen)
	q.receivedAt.SetTime(r.ReceivedAt)
	q.changedAt.SetTime(r.ReceivedAt)
}
