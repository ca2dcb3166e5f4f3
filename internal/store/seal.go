package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
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
	leased     time.Time                               // until when the lease holds, zero for none
	alone      bool                                    // no statement of a dead process of this id runs
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

// statementLimit bounds one statement of a seal, so that one whose sealer died
// ends before the sealer's lease does.
const statementLimit = time.Minute

// Seal computes the rollup rows of one slice of arrival. A seal that is cut
// short leaves the slice dirty, and is simply done again. The error is
// ErrSealing while another sealer works.
func (s *Sealer) Seal(ctx context.Context, slice time.Time) error {
	slice = slice.UTC().Truncate(Slice)
	if err := s.drop(ctx); err != nil {
		return err
	}
	version, err := s.now(ctx)
	if err != nil {
		return err
	}
	values := sealValues(s.store.database, s.scratch, s.id, slice, version)
	for i, st := range s.statements {
		if err := s.lease(ctx); err != nil {
			return err
		}
		text, err := st.Fill(values)
		if err != nil {
			return err
		}
		if err := s.exec(ctx, st.Name, text); err != nil {
			return s.store.wrap(fmt.Sprintf("seal the slice %s (%s)", slice.Format(time.RFC3339), st.Name), err)
		}
		if i > 0 {
			continue
		}
		if empty, err := s.empty(ctx, slice, values["Version"]); err != nil || empty {
			return errors.Join(err, s.drop(ctx))
		}
	}
	return s.drop(ctx)
}

// now is ClickHouse's clock, which versions are taken from.
func (s *Sealer) now(ctx context.Context) (now time.Time, err error) {
	if err := s.store.conn.QueryRow(ctx, "SELECT now64(6, 'UTC')").Scan(&now); err != nil {
		return now, s.store.wrap("read ClickHouse's clock", err)
	}
	return now, nil
}

// sealValues are what the statements of a seal take.
func sealValues(database, scratch string, sealer uuid.UUID, slice, version time.Time) map[string]string {
	return map[string]string{
		"Database":   database,
		"Scratch":    scratch,
		"Collector":  sealer.String(),
		"Slice":      dateTime(slice),
		"Begin":      dateTimeMilli(slice),
		"End":        dateTimeMilli(slice.Add(Slice)),
		"TwinsFrom":  dateTimeMilli(slice.Add(-twinHorizon)),
		"TwinsUntil": dateTimeMilli(slice.Add(Slice + twinHorizon)),
		"Version":    dateTimeMicro(version),
	}
}

func (s *Sealer) exec(ctx context.Context, name, text string) error {
	ctx, cancel := context.WithTimeout(ctx, statementLimit)
	defer cancel()
	started := time.Now()
	err := s.store.conn.Exec(clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{
		"max_execution_time": int(statementLimit.Seconds()),
		// This cache knows a condition by its text, and those of a slice have the same
		// text at each seal while the scratch tables in them hold something else.
		"use_query_condition_cache": 0,
		// A set of a slice's keys is sorted before the primary key is searched for it:
		// for a million keys ten times the price of reading what lies there.
		"use_index_for_in_with_subqueries_max_values": 10000,
	})), text)
	if s.took != nil {
		s.took(name, time.Since(started))
	}
	return err
}

// empty tells whether a slice holds no rows: all were refused, or have expired.
// Its rollups are left as they are, and it counts as sealed.
func (s *Sealer) empty(ctx context.Context, slice time.Time, version string) (bool, error) {
	var rows uint64
	if err := s.store.conn.QueryRow(ctx, fmt.Sprintf("SELECT count() FROM %s.records WHERE received_at >= %s AND received_at < %s",
		s.store.database, dateTimeMilli(slice), dateTimeMilli(slice.Add(Slice)))).Scan(&rows); err != nil {
		return false, s.store.wrap("count the rows of the slice "+slice.Format(time.RFC3339), err)
	}
	if rows > 0 {
		return false, nil
	}
	if err := s.store.conn.Exec(ctx, fmt.Sprintf("INSERT INTO %[1]s.slice_seals (slice, version, sealed_at, collector, records, calls)"+
		" SELECT %[2]s, %[4]s, now64(6, 'UTC'), toUUID('%[3]s'), records, calls FROM (SELECT 0 AS records, 0 AS calls)",
		s.store.database, dateTime(slice), s.id, version)); err != nil {
		return false, s.store.wrap("seal the empty slice "+slice.Format(time.RFC3339), err)
	}
	return true, nil
}

// drop takes the scratch tables away, also when ctx has ended.
func (s *Sealer) drop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dialTimeout)
	defer cancel()
	for _, table := range []string{s.scratch, s.scratch + "_twins", s.scratch + "_rows"} {
		if err := s.store.conn.Exec(ctx, "DROP TABLE IF EXISTS "+s.store.database+"."+table+" SYNC"); err != nil {
			return s.store.wrap("drop the sealer's scratch table", err)
		}
	}
	return nil
}

// SealDirty seals every slice that needs it and tells how many that were.
func (s *Sealer) SealDirty(ctx context.Context) (int, error) {
	slices, err := s.Dirty(ctx)
	if err != nil {
		return 0, err
	}
	return s.sealAll(ctx, slices)
}

// sealAll seals slices, and lets the lease go for the next sealer.
func (s *Sealer) sealAll(ctx context.Context, slices []time.Time) (sealed int, err error) {
	if len(slices) == 0 {
		return 0, nil
	}
	if err := s.lease(ctx); err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.drop(ctx))
		}
		err = errors.Join(err, s.release(ctx))
	}()
	// A slice that cannot be sealed holds up no other.
	var failed []error
	for _, slice := range slices {
		switch err := s.Seal(ctx, slice); {
		case err == nil:
			sealed++
		case ctx.Err() != nil, errors.Is(err, ErrSealing):
			return sealed, errors.Join(append(failed, err)...)
		default:
			failed = append(failed, err)
		}
	}
	return sealed, errors.Join(failed...)
}

// dateTimeMilli is a time as a ClickHouse literal of the type of received_at.
// Bounds of that column must have its type: from `received_at < toDateTime(x)`
// ClickHouse 26.7 makes `received_at <= x - 1 s` when it chooses parts, and
// passes over those whose first row came in the last second before x.
func dateTimeMilli(t time.Time) string {
	return fmt.Sprintf("toDateTime64('%s', 3, 'UTC')", t.UTC().Format("2006-01-02 15:04:05.000"))
}

// dateTimeMicro is a time as a ClickHouse literal of the type of versions.
func dateTimeMicro(t time.Time) string {
	return fmt.Sprintf("toDateTime64('%s', 6, 'UTC')", t.UTC().Format("2006-01-02 15:04:05.000000"))
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
