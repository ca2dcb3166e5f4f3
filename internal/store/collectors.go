package store

import (
	"context"
	"fmt"
	"time"

	"github.com/soakgate/soakgate/internal/store/sql"
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

// Books compares what records hold with what the seals counted, over the final
// slices: all live journals have passed their end, and they were sealed since.
type Books struct {
	Through  time.Time // end of the final slices, zero when there is none
	Distinct uint64    // record ids in them
	Sealed   uint64    // what their seals counted
	Open     uint64    // slices that wait for a seal, final or not
	Waiting  string    // the live journal that is furthest behind
}

// Books reads the books of the store, over all slices whose records are kept.
func (s *Store) Books(ctx context.Context) (Books, error) {
	st, err := sql.Named("read", "books")
	if err != nil {
		return Books{}, err
	}
	text, err := st.Fill(map[string]string{"Database": s.database, "From": dateTime(time.Unix(0, 0))})
	if err != nil {
		return Books{}, err
	}
	var b Books
	var through, distinct, sealed int64
	if err := s.conn.QueryRow(ctx, text).Scan(&through, &distinct, &sealed); err != nil {
		return b, s.wrap("read the books", err)
	}
	if through > 0 {
		b.Through = time.Unix(through*60, 0).UTC()
	}
	b.Distinct, b.Sealed = uint64(max(0, distinct)), uint64(max(0, sealed))
	db := s.database
	err = s.conn.QueryRow(ctx, `SELECT
    (SELECT countIf(w.wrote >= s.sealed)
     FROM (SELECT slice, max(wrote_at) AS wrote FROM `+db+`.slice_writes GROUP BY slice) AS w
     LEFT JOIN (SELECT slice, max(version) AS sealed FROM `+db+`.slice_seals GROUP BY slice) AS s ON w.slice = s.slice),
    ifNull((SELECT argMin(toString(journal_id), through)
     FROM (SELECT journal_id, max(inserted_through) AS through, argMax(retired, at) AS gone FROM `+db+`.collector_heartbeats GROUP BY journal_id)
     WHERE NOT gone), '')`).Scan(&b.Open, &b.Waiting)
	if err != nil {
		return b, s.wrap("read the books", err)
	}
	return b, nil
}

// Reseal seals every slice of arrival in [from, to) that was ever written. It
// leaves out those whose records begin to expire, since their rollups know more.
func (s *Sealer) Reseal(ctx context.Context, from, to time.Time) (int, error) {
	result, err := s.store.conn.Query(ctx, fmt.Sprintf("SELECT DISTINCT slice FROM %[1]s.slice_writes WHERE slice >= %[2]s AND slice < %[3]s"+
		" AND slice > now() - toIntervalDay((SELECT toUInt32OrDefault(max(extract(create_table_query, 'ORDER BY.*TTL toDateTime\\(received_at\\) \\+ toIntervalDay\\((\\d+)\\)')), toUInt32(20000)) - 1"+
		" FROM system.tables WHERE database = '%[1]s' AND name IN ('records', 'records_local'))) ORDER BY slice",
		s.store.database, dateTime(from), dateTime(to)))
	if err != nil {
		return 0, s.store.wrap("list the slices to seal again", err)
	}
	slices, err := scanAll(result, func(t *time.Time, scan scanner) error { return scan(t) })
	if err != nil {
		return 0, s.store.wrap("list the slices to seal again", err)
	}
	return s.sealAll(ctx, slices)
}
