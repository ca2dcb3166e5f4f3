package store

import (
	"context"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// Rejected is a record that was refused, as rejected_records keeps it.
type Rejected struct {
	ID, Server, Reason, Detail, Original, State, Note string
	ReceivedAt                                        time.Time
}

// RejectedFilter says which rejected records are meant. Empty members match all.
type RejectedFilter struct {
	ID, Reason, State string
	Since             time.Time
}

const rejectedColumns = "toString(id), server, reason, detail, original, state, note, received_at"

// Rejected lists rejected records, newest first.
func (s *Store) Rejected(ctx context.Context, f RejectedFilter) ([]Rejected, error) {
	result, err := s.conn.Query(ctx, "SELECT "+rejectedColumns+" FROM "+s.database+".rejected_records FINAL"+
		" WHERE (? = '' OR toString(id) = ?) AND (? = '' OR reason = ?) AND (? = '' OR state = ?) AND received_at >= ?"+
		" ORDER BY received_at DESC, id", f.ID, f.ID, f.Reason, f.Reason, f.State, f.State, millis(f.Since))
	if err != nil {
		return nil, s.wrap("list rejected records", err)
	}
	rows, err := scanAll(result, func(r *Rejected, scan scanner) error {
		return scan(&r.ID, &r.Server, &r.Reason, &r.Detail, &r.Original, &r.State, &r.Note, &r.ReceivedAt)
	})
	if err != nil {
		return nil, s.wrap("list rejected records", err)
	}
	return rows, nil
}

// Replay stores a rejected record, as it was sent, once what refused it is
// mended, and marks its slice so that it is counted.
func (s *Store) Replay(ctx context.Context, r Rejected) error {
	var text string
	if err := s.conn.QueryRow(ctx, "SELECT block FROM "+s.database+".rejected_records FINAL WHERE id = ?", r.ID).Scan(&text); err != nil {
		return s.wrap("read rejected record "+r.ID, err)
	}
	block, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return fmt.Errorf("read rejected record %s: %w", r.ID, err)
	}
	if err := s.insertRecords(ctx, block); err != nil {
		return fmt.Errorf("replay rejected record %s: %w", r.ID, err)
	}
	if err := s.markWritten(ctx, uuid.Nil, []time.Time{r.ReceivedAt.UTC().Truncate(Slice)}); err != nil {
		return err
	}
	return s.markRejected(ctx, r.ID, RejectedReplayed, "")
}

// Explain marks a rejected record as known, so that the soak no longer holds for it.
func (s *Store) Explain(ctx context.Context, r Rejected, note string) error {
	return s.markRejected(ctx, r.ID, RejectedExplained, note)
}

func (s *Store) markRejected(ctx context.Context, id, state, note string) error {
	return s.enter(ctx, "mark rejected record "+id,
		"INSERT INTO "+s.database+".rejected_records (id, server, reason, detail, original, block, state, note, received_at, changed_at)"+
			" SELECT id, server, reason, detail, original, block, ?, ?, received_at, now64(6) FROM "+s.database+".rejected_records FINAL WHERE id = ?",
		state, note, id)
}
