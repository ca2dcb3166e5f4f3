package store

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/soakgate/soakgate/internal/store/native"
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
	dst, err := h.block().AppendPacked(dst)
	if err != nil {
		return dst, fmt.Errorf("write a heartbeat: %w", err)
	}
	return dst, nil
}

// block is the heartbeat as one row of collector_heartbeats.
func (h Heartbeat) block() *native.Block {
	b := &native.Block{}
	b.Begin()
	b.UUID("journal_id").Add(h.JournalID)
	b.Low("collector").Set(h.Collector)
	b.DateTime("minute").SetTime(h.At.Truncate(time.Minute))
	b.DateTime64("at", 3).SetTime(h.At)
	b.DateTime64("inserted_through", 3).SetTime(h.InsertedThrough)
	b.UInt64("backlog_records").Set(h.BacklogRecords)
	b.UInt64("backlog_age_ms").Set(uint64(max(0, h.BacklogAge.Milliseconds())))
	b.UInt64("parked_batches").Set(h.ParkedBatches)
	b.UInt64("refused_requests").Set(h.Refused)
	b.UInt64("accepted_records").Set(h.Accepted)
	b.UInt64("inserted_records").Set(h.Inserted)
	b.UInt64("rejected_records").Set(h.Rejected)
	b.UInt64("parked_records").Set(h.Parked)
	b.UInt64("ignored_records").Set(h.Ignored)
	return b
}
