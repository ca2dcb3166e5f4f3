package store

import (
	"encoding/base64"
	"fmt"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/google/uuid"

	"github.com/soakgate/soakgate/internal/classify"
)

// ReasonInvalid is the reason of records that break the contract and were
// rejected for it, because the receiver's reject_invalid asks for that.
const ReasonInvalid = "invalid"

// Quarantine are rows of rejected_records for records that are kept there and
// nowhere else. It goes through the journal as a frame of KindRejected. One
// Quarantine serves one request at a time and keeps its memory for the next.
type Quarantine struct {
	one   *Columns // the record alone, as `collector rejected replay` stores it
	block []byte
	rows  int
	input []proto.InputColumn

	ids                   *proto.ColUUID
	server, reason, state *lowText
	detail, note          *proto.ColStr
	original, text        *proto.ColStr
	receivedAt, changedAt *proto.ColDateTime64
}

// NewQuarantine makes an empty quarantine.
func NewQuarantine() *Quarantine {
	low := newLowText
	moment := func(p proto.Precision) *proto.ColDateTime64 {
		return new(proto.ColDateTime64).WithPrecision(p).WithLocation(time.UTC)
	}
	q := &Quarantine{
		one: NewColumns(), ids: new(proto.ColUUID), server: low(), reason: low(), detail: new(proto.ColStr),
		original: new(proto.ColStr), text: new(proto.ColStr), state: low(), note: new(proto.ColStr),
		receivedAt: moment(proto.PrecisionMilli), changedAt: moment(proto.PrecisionMicro),
	}
	q.input = []proto.InputColumn{
		{Name: "id", Data: q.ids},
		{Name: "server", Data: q.server},
		{Name: "reason", Data: q.reason},
		{Name: "detail", Data: q.detail},
		{Name: "original", Data: q.original},
		{Name: "block", Data: q.text},
		{Name: "state", Data: q.state},
		{Name: "note", Data: q.note},
		{Name: "received_at", Data: q.receivedAt},
		{Name: "changed_at", Data: q.changedAt},
	}
	return q
}

// rejectedBlockColumns are the columns of a block of KindRejected.
var rejectedBlockColumns = columnList(NewQuarantine().input)

// Append adds a record that breaks the contract. A second delivery of it is the
// same row: it has the record's id, and is never newer than what was decided
// about the first one after it arrived.
func (q *Quarantine) Append(r *classify.Record, place Place) error {
	q.one.Reset()
	q.one.Append(r, place)
	var err error
	if q.block, err = q.one.AppendBlock(q.block[:0]); err != nil {
		return fmt.Errorf("keep a rejected record: %w", err)
	}
	q.ids.Append(uuid.UUID(r.ID))
	q.server.Append(r.Source.Server)
	q.reason.Append(ReasonInvalid)
	q.detail.Append(r.Violations[0].Message)
	q.original.AppendBytes(keptPayload(r.Payload))
	q.text.Append(base64.StdEncoding.EncodeToString(q.block))
	q.state.Append(RejectedOpen)
	q.note.Append("")
	q.receivedAt.Append(r.ReceivedAt)
	q.changedAt.Append(r.ReceivedAt)
	q.rows++
	return nil
}

// Rows is the number of records appended since the last Reset.
func (q *Quarantine) Rows() int { return q.rows }

// Reset empties the quarantine.
func (q *Quarantine) Reset() {
	proto.Input(q.input).Reset()
	q.rows = 0
}

// AppendBlock writes the rows as one Native block to dst.
func (q *Quarantine) AppendBlock(dst []byte) ([]byte, error) {
	buffer := proto.Buffer{Buf: dst}
	if err := (proto.Block{Columns: len(q.input), Rows: q.rows}).EncodeRawBlock(&buffer, 0, q.input); err != nil {
		return dst, fmt.Errorf("encode %d rejected records as a Native block: %w", q.rows, err)
	}
	return buffer.Buf, nil
}
