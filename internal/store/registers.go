package store

import (
	"context"
	"time"

	"github.com/soakgate/soakgate/internal/soak"
)

// The registers hold what is not on the wire: each entry with the time it took
// effect (at) and the time it was entered (recorded_at), which the store sets.

// DeclareReplay records that backdated events of [r.From, r.To) are shipped
// under the id r.ID (D16).
func (s *Store) DeclareReplay(ctx context.Context, r soak.Replay, note string) error {
	return s.enter(ctx, "declare replay "+r.ID,
		"INSERT INTO "+s.database+".replays (replay_id, from, to, by, note, at, recorded_at) SELECT ?, ?, ?, ?, ?, ?, now64(3)",
		r.ID, millis(r.From), millis(r.To), r.By, note, millis(r.At))
}

// ConformanceRun is one run of the conformance suite on one server's payloads.
type ConformanceRun struct {
	Server, Version, SuiteVersion                 string
	Items                                         map[string]string
	Payloads, Conforming, Violating, Unrecognized int
	At                                            time.Time
}

// RecordConformance keeps a run for the soak (D12).
func (s *Store) RecordConformance(ctx context.Context, r ConformanceRun) error {
	return s.enter(ctx, "record the conformance run of "+r.Server,
		"INSERT INTO "+s.database+".conformance_runs (server, version, suite_version, items, payloads, conforming, violating, unrecognized, source, at, recorded_at)"+
			" SELECT ?, ?, ?, ?, ?, ?, ?, ?, 'command', ?, now64(3)",
		r.Server, r.Version, r.SuiteVersion, r.Items, uint64(max(0, r.Payloads)), uint64(max(0, r.Conforming)), uint64(max(0, r.Violating)), uint64(max(0, r.Unrecognized)), millis(r.At))
}

// EnterComplaint adds an entry to the register of complaints (D13).
func (s *Store) EnterComplaint(ctx context.Context, c soak.Complaint) error {
	return s.enter(ctx, "enter complaint "+c.ID,
		"INSERT INTO "+s.database+".complaints (id, server, kind, action, ref, note, by, fixed_in, not_ours, at, recorded_at)"+
			" SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, now64(3)",
		c.ID, c.Server, c.Kind, c.Action, c.Ref, c.Note, c.By, c.FixedIn, c.NotOurs, millis(c.At))
}

// EnterReview records that somebody looked for complaints (D13).
func (s *Store) EnterReview(ctx context.Context, r soak.Review) error {
	return s.enter(ctx, "enter a review of "+r.Server,
		"INSERT INTO "+s.database+".complaint_reviews (server, by, note, at, recorded_at) SELECT ?, ?, ?, ?, now64(3)",
		r.Server, r.By, r.Note, millis(r.At))
}

func (s *Store) enter(ctx context.Context, doing, statement string, args ...any) error {
	if err := s.conn.Exec(ctx, statement, args...); err != nil {
		return s.wrap(doing, err)
	}
	return nil
}

// millis is a time as text that ClickHouse reads into DateTime64(3, 'UTC');
// the driver would cut a time.Time to seconds.
func millis(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000") }

// Complaints lists the entries of the register, in the order of their effect.
func (s *Store) Complaints(ctx context.Context) ([]soak.Complaint, error) {
	result, err := s.conn.Query(ctx, "SELECT id, server, kind, action, ref, fixed_in, not_ours, note, by, at, recorded_at FROM "+s.database+".complaints ORDER BY server, id, at, recorded_at")
	if err != nil {
		return nil, s.wrap("list complaints", err)
	}
	entries, err := scanAll(result, scanComplaint)
	if err != nil {
		return nil, s.wrap("list complaints", err)
	}
	return entries, nil
}

// Reviews lists who looked for complaints, and when.
func (s *Store) Reviews(ctx context.Context) ([]soak.Review, error) {
	result, err := s.conn.Query(ctx, "SELECT server, by, note, at, recorded_at FROM "+s.database+".complaint_reviews ORDER BY server, at, recorded_at")
	if err != nil {
		return nil, s.wrap("list reviews", err)
	}
	reviews, err := scanAll(result, scanReview)
	if err != nil {
		return nil, s.wrap("list reviews", err)
	}
	return reviews, nil
}

func scanComplaint(v *soak.Complaint, scan scanner) error {
	return scan(&v.ID, &v.Server, &v.Kind, &v.Action, &v.Ref, &v.FixedIn, &v.NotOurs, &v.Note, &v.By, &v.At, &v.RecordedAt)
}

func scanReview(v *soak.Review, scan scanner) error {
	return scan(&v.Server, &v.By, &v.Note, &v.At, &v.RecordedAt)
}
