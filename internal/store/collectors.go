package store

import (
	"context"
	"fmt"
	"time"
)

// Collector is what the newest heartbeat of a journal says.
type Collector struct {
	JournalID, Name                               string
	At, InsertedThrough                           time.Time
	Retired                                       bool
	Accepted, Inserted, Rejected, Parked, Backlog uint64
	ParkedBatches                                 uint64
}

// Balance is what is missing (or, negative, too much) in the collector's books:
// accepted less inserted, rejected, parked and still in the journal.
func (c Collector) Balance() int64 {
	return int64(c.Accepted) - int64(c.Inserted) - int64(c.Rejected) - int64(c.Parked) - int64(c.Backlog)
}

// Collectors lists the journals that ever sent a heartbeat, by name.
func (s *Store) Collectors(ctx context.Context) ([]Collector, error) {
	result, err := s.conn.Query(ctx, `SELECT toString(journal_id) AS journal, toString(argMax(h.collector, h.at)) AS name, max(h.at), max(h.inserted_through),
    argMax(h.retired, h.at), argMax(h.accepted_records, h.at), argMax(h.inserted_records, h.at), argMax(h.rejected_records, h.at),
    argMax(h.parked_records, h.at), argMax(h.backlog_records, h.at), argMax(h.parked_batches, h.at)
FROM `+s.database+`.collector_heartbeats AS h GROUP BY journal_id ORDER BY name, journal`)
	if err != nil {
		return nil, s.wrap("list the collectors", err)
	}
	rows, err := scanAll(result, func(c *Collector, scan scanner) error {
		return scan(&c.JournalID, &c.Name, &c.At, &c.InsertedThrough, &c.Retired, &c.Accepted, &c.Inserted, &c.Rejected, &c.Parked, &c.Backlog, &c.ParkedBatches)
	})
	if err != nil {
		return nil, s.wrap("list the collectors", err)
	}
	return rows, nil
}

// Retire says that a collector is gone for good, so that its silence holds no
// slice open any longer. What its journal still holds is given up for the soak,
// unless the collector comes back: its next heartbeat takes the word back.
func (s *Store) Retire(ctx context.Context, c Collector) error {
	return s.enter(ctx, "retire the journal "+c.JournalID,
		"INSERT INTO "+s.database+".collector_heartbeats SELECT * REPLACE (toStartOfMinute(now()) AS minute, now64(3) AS at, true AS retired)"+
			" FROM "+s.database+".collector_heartbeats WHERE journal_id = ? ORDER BY at DESC LIMIT 1", c.JournalID)
}

// Books compares what the tables hold with what the seals counted, over the
// slices sealed since they were last written.
type Books struct {
	Inserted uint64 // rows of records, repeats included
	Distinct uint64 // record ids
	Sealed   uint64 // what the seals of the same slices counted
	Open     uint64 // slices that wait for a seal
}

// Repeats is how many deliveries were repeats of a record.
func (b Books) Repeats() uint64 { return b.Inserted - b.Distinct }

// Books reads the books of the store.
func (s *Store) Books(ctx context.Context) (Books, error) {
	var b Books
	db := s.database
	err := s.conn.QueryRow(ctx, `WITH
    open AS (SELECT w.slice AS slice
        FROM (SELECT slice, max(wrote_at) AS wrote FROM `+db+`.slice_writes GROUP BY slice) AS w
        LEFT JOIN (SELECT slice, max(version) AS sealed FROM `+db+`.slice_seals GROUP BY slice) AS s ON w.slice = s.slice
        WHERE w.wrote >= s.sealed),
    (SELECT if(count() = 0, toDateTime('2106-01-01 00:00:00', 'UTC'), min(slice)) FROM open) AS through
SELECT
    (SELECT count() FROM `+db+`.records WHERE received_at < through),
    (SELECT uniqExact(record_id) FROM `+db+`.records WHERE received_at < through),
    (SELECT sum(records) FROM `+db+`.slice_seals FINAL WHERE slice < through),
    (SELECT count() FROM open)`).Scan(&b.Inserted, &b.Distinct, &b.Sealed, &b.Open)
	if err != nil {
		return b, s.wrap("read the books", err)
	}
	return b, nil
}

// Reseal seals every slice of arrival in [from, to) that was ever written.
func (s *Sealer) Reseal(ctx context.Context, from, to time.Time) (int, error) {
	result, err := s.store.conn.Query(ctx, fmt.Sprintf("SELECT DISTINCT slice FROM %s.slice_writes WHERE slice >= %s AND slice < %s ORDER BY slice",
		s.store.database, dateTime(from), dateTime(to)))
	if err != nil {
		return 0, s.store.wrap("list the slices to seal again", err)
	}
	slices, err := scanAll(result, func(t *time.Time, scan scanner) error { return scan(t) })
	if err != nil {
		return 0, s.store.wrap("list the slices to seal again", err)
	}
	for i, slice := range slices {
		if err := s.Seal(ctx, slice); err != nil {
			return i, err
		}
	}
	return len(slices), nil
}
