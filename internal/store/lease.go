package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrSealing means that another sealer holds the lease. It lets go after each
// round, and a dead one's lease ends by itself.
var ErrSealing = errors.New("another collector seals at this moment")

// A lease outlives a statement that its holder began at the last moment; it is
// renewed while there is room for one more statement and its overhead.
const (
	leaseTime   = 100 * time.Second
	leaseMargin = statementLimit + 15*time.Second
)

// lease makes sure that this sealer alone seals, for long enough for one more
// statement. Two sealers at once would each write zeros for the keys that the
// other does not know yet, and a key could stay that no records have any more.
// Of two that ask at the same time both step back, and come again at their next
// round.
func (s *Sealer) lease(ctx context.Context) error {
	if time.Until(s.leased) > leaseMargin {
		return nil
	}
	if time.Until(s.leased) > 0 { // still ours: nobody can have taken it
		return s.hold(ctx, leaseTime)
	}
	if err := s.others(ctx); err != nil {
		return err
	}
	if err := s.leftovers(ctx); err != nil {
		return err
	}
	if err := s.hold(ctx, leaseTime); err != nil {
		return err
	}
	if err := s.others(ctx); err != nil {
		return errors.Join(err, s.release(ctx))
	}
	return nil
}

// others is ErrSealing when another sealer's lease holds.
func (s *Sealer) others(ctx context.Context) error {
	var held uint64
	if err := s.store.conn.QueryRow(ctx, "SELECT count() FROM (SELECT sealer, argMax(until, at) AS held_until FROM "+s.store.database+".seal_leases GROUP BY sealer)"+
		" WHERE sealer != toUUID(?) AND held_until > now64(6)", s.id.String()).Scan(&held); err != nil {
		return s.store.wrap("look for another sealer", err)
	}
	if held > 0 {
		return ErrSealing
	}
	return nil
}

// leftovers is ErrSealing while a statement runs that an earlier process with
// this sealer's id began: a collector that died takes up its lease again at
// once, but ClickHouse may not have noticed its death.
func (s *Sealer) leftovers(ctx context.Context) error {
	if s.alone {
		return nil
	}
	var running uint64
	if err := s.store.conn.QueryRow(ctx, "SELECT count() FROM system.processes WHERE position(query, ?) > 0 AND position(query, 'system.processes') = 0",
		s.scratch).Scan(&running); err != nil {
		return s.store.wrap("look for statements of an earlier process", err)
	}
	if running > 0 {
		return ErrSealing
	}
	s.alone = true
	return nil
}

// hold writes the lease, by ClickHouse's clock.
func (s *Sealer) hold(ctx context.Context, d time.Duration) error {
	asked := time.Now()
	if err := s.store.conn.Exec(ctx, fmt.Sprintf("INSERT INTO %s.seal_leases (sealer, until, at) SELECT toUUID('%s'), addMilliseconds(now64(6, 'UTC'), %d), now64(6, 'UTC')",
		s.store.database, s.id, d.Milliseconds())); err != nil {
		return s.store.wrap("take the lease to seal", err)
	}
	s.leased = asked.Add(d)
	return nil
}

// release lets others seal, also when ctx has ended.
func (s *Sealer) release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dialTimeout)
	defer cancel()
	return s.hold(ctx, 0)
}
