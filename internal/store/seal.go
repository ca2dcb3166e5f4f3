package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/soakgate/soakgate/internal/store/sql"
)

// Slice is the length of a slice of arrival, the unit of sealing.
const Slice = time.Minute

// twinHorizon is how far back, by arrival, sealing looks for an earlier record
// of the same call. The carriers of one call come within seconds of each other,
// or within an exporter's retries.
const twinHorizon = 10 * time.Minute

// Sealer computes the rollups of slices from records. Run twice, from two
// collectors, or again after a crash, a slice gets the same counts: each key's
// newest version wins, and keys that a seal no longer finds get zeros.
type Sealer struct {
	store      *Store
	id         uuid.UUID
	statements []sql.Statement
	scratch    string
	took       func(statement string, d time.Duration) // for benchmarks
}

// NewSealer makes a sealer. The id names it in what it writes.
func NewSealer(s *Store, id uuid.UUID) (*Sealer, error) {
	statements, err := sql.Folder("seal")
	if err != nil {
		return nil, err
	}
	return &Sealer{
		store:      s,
		id:         id,
		statements: statements,
		scratch:    "sealing_" + strings.ReplaceAll(id.String(), "-", ""),
	}, nil
}

// Dirty lists the slices that were written to after their last seal began to
// read, oldest first.
func (s *Sealer) Dirty(ctx context.Context) ([]time.Time, error) {
	db := s.store.database
	rows, err := s.store.conn.Query(ctx, `SELECT w.slice
FROM (SELECT slice, max(wrote_at) AS wrote FROM `+db+`.slice_writes GROUP BY slice) AS w
LEFT JOIN (SELECT slice, max(version) AS sealed FROM `+db+`.slice_seals GROUP BY slice) AS s ON w.slice = s.slice
WHERE w.wrote >= s.sealed
ORDER BY w.slice`)
	if err != nil {
		return nil, s.store.wrap("look for slices to seal", err)
	}
	defer rows.Close()
	var slices []time.Time
	for rows.Next() {
		var t time.Time
		if err := rows.Scan(&t); err != nil {
			return nil, s.store.wrap("look for slices to seal", err)
		}
		slices = append(slices, t.UTC())
	}
	if err := rows.Err(); err != nil {
		return nil, s.store.wrap("look for slices to seal", err)
	}
	return slices, nil
}

// Seal computes the rollup rows of one slice of arrival. A seal that is cut
// short leaves the slice dirty, and is simply done again.
func (s *Sealer) Seal(ctx context.Context, slice time.Time) error {
	slice = slice.UTC().Truncate(Slice)
	var version time.Time
	if err := s.store.conn.QueryRow(ctx, "SELECT now64(6, 'UTC')").Scan(&version); err != nil {
		return s.store.wrap("read ClickHouse's clock", err)
	}
	values := map[string]string{
		"Database":  s.store.database,
		"Scratch":   s.scratch,
		"Collector": s.id.String(),
		"Slice":     dateTime(slice),
		"SliceEnd":  dateTime(slice.Add(Slice)),
		"TwinsFrom": dateTime(slice.Add(-twinHorizon)),
		"Version":   fmt.Sprintf("toDateTime64('%s', 6, 'UTC')", version.UTC().Format("2006-01-02 15:04:05.000000")),
	}
	if err := s.drop(ctx); err != nil {
		return err
	}
	for _, st := range s.statements {
		text, err := st.Fill(values)
		if err != nil {
			return err
		}
		started := time.Now()
		err = s.store.conn.Exec(ctx, text)
		if s.took != nil {
			s.took(st.Name, time.Since(started))
		}
		if err != nil {
			return s.store.wrap(fmt.Sprintf("seal the slice %s (%s)", slice.Format(time.RFC3339), st.Name), err)
		}
	}
	return s.drop(ctx)
}

func (s *Sealer) drop(ctx context.Context) error {
	if err := s.store.conn.Exec(ctx, "DROP TABLE IF EXISTS "+s.store.database+"."+s.scratch+" SYNC"); err != nil {
		return s.store.wrap("drop the sealer's scratch table", err)
	}
	return nil
}

// SealDirty seals every slice that needs it and tells how many that were.
func (s *Sealer) SealDirty(ctx context.Context) (int, error) {
	slices, err := s.Dirty(ctx)
	if err != nil {
		return 0, err
	}
	for i, slice := range slices {
		if err := s.Seal(ctx, slice); err != nil {
			return i, err
		}
	}
	return len(slices), nil
}

// dateTime is a time as a ClickHouse literal, to the second.
func dateTime(t time.Time) string {
	return fmt.Sprintf("toDateTime('%s', 'UTC')", t.UTC().Format(time.DateTime))
}

// markWritten says that rows came for slices, after they did: a slice whose
// seal began before is sealed again.
func (s *Store) markWritten(ctx context.Context, journalID uuid.UUID, slices []time.Time) error {
	var b strings.Builder
	for i, slice := range slices {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "(%s, '%s', now64(6))", dateTime(slice), journalID)
	}
	if err := s.conn.Exec(ctx, "INSERT INTO "+s.database+".slice_writes (slice, journal_id, wrote_at) VALUES "+b.String()); err != nil {
		return s.wrap("note which slices were written", err)
	}
	return nil
}
