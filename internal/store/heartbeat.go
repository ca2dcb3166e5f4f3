package store

import (
	"fmt"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/google/uuid"
)

// Heartbeat is a collector's word, through its own journal, on what it has
// taken and stored. A stored heartbeat proves that all the collector took
// before InsertedThrough is stored too, since the journal keeps its order.
type Heartbeat struct {
	JournalID       uuid.UUID
	Collector       string
	At              time.Time
	InsertedThrough time.Time // every request that arrived before it stands before the heartbeat in the journal
	BacklogRecords  uint64
	BacklogAge      time.Duration
	ParkedBatches   uint64
	Refused         uint64 // requests, since start
	// The books, in records since the process began.
	Accepted, Inserted, Rejected, Parked, Ignored uint64
}

// AppendPacked writes the heartbeat as a packed Native block of one row.
func (h Heartbeat) AppendPacked(dst []byte) ([]byte, error) {
	columns := h.columns()
	var buffer proto.Buffer
	if err := (proto.Block{Columns: len(columns), Rows: 1}).EncodeRawBlock(&buffer, 0, columns); err != nil {
		return dst, fmt.Errorf("encode a heartbeat as a Native block: %w", err)
	}
	return Pack(dst, buffer.Buf)
}

// columns is the heartbeat as one row of collector_heartbeats.
func (h Heartbeat) columns() []proto.InputColumn {
	number := func(v uint64) *proto.ColUInt64 { return &proto.ColUInt64{v} }
	moment := func(t time.Time) *proto.ColDateTime64 {
		c := new(proto.ColDateTime64).WithPrecision(proto.PrecisionMilli).WithLocation(time.UTC)
		c.Append(t)
		return c
	}
	minute := &proto.ColDateTime{Location: time.UTC}
	minute.Append(h.At.Truncate(time.Minute))
	collector := new(proto.ColStr).LowCardinality()
	collector.Append(h.Collector)
	return []proto.InputColumn{
		{Name: "journal_id", Data: &proto.ColUUID{h.JournalID}},
		{Name: "collector", Data: collector},
		{Name: "minute", Data: minute},
		{Name: "at", Data: moment(h.At)},
		{Name: "inserted_through", Data: moment(h.InsertedThrough)},
		{Name: "backlog_records", Data: number(h.BacklogRecords)},
		{Name: "backlog_age_ms", Data: number(uint64(max(0, h.BacklogAge.Milliseconds())))},
		{Name: "parked_batches", Data: number(h.ParkedBatches)},
		{Name: "refused_requests", Data: number(h.Refused)},
		{Name: "accepted_records", Data: number(h.Accepted)},
		{Name: "inserted_records", Data: number(h.Inserted)},
		{Name: "rejected_records", Data: number(h.Rejected)},
		{Name: "parked_records", Data: number(h.Parked)},
		{Name: "ignored_records", Data: number(h.Ignored)},
	}
}
