package soakgateexporter

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"time"

	"go.opentelemetry.io/collector/component/componentstatus"
	"go.uber.org/zap"

	"github.com/soakgate/soakgate/internal/store"
	"github.com/soakgate/soakgate/internal/store/journal"
)

const (
	// connectPause is the time between looks whether ClickHouse is there.
	connectPause = 500 * time.Millisecond
	// heartbeatInterval is how often the collector vouches for what it stored.
	heartbeatInterval = 2 * time.Second
)

// write brings the journal to ClickHouse until the context ends.
func (i *instance) write(ctx context.Context) {
	if !i.connect(ctx) {
		return
	}
	if i.config.Seal.Enabled {
		i.workers.Go(func() { i.seal(ctx) })
	}
	if i.config.Soak.Interval > 0 {
		i.workers.Go(func() { i.judge(ctx) })
	}
	last := ""
	for ctx.Err() == nil {
		if err := i.writer.Run(ctx); ctx.Err() == nil {
			if err.Error() != last {
				last = err.Error()
				i.status(componentstatus.NewRecoverableErrorEvent(err))
				i.set.Logger.Error("The writer stopped and starts again", zap.Error(err))
			}
			pause(ctx, connectPause)
		}
	}
}

// connect waits until ClickHouse answers and its schema fits, and reports the
// first failure of a row of them.
func (i *instance) connect(ctx context.Context) bool {
	last := ""
	for {
		err := i.prepare(ctx)
		if err == nil {
			i.connected.Store(true)
			i.status(componentstatus.NewEvent(componentstatus.StatusOK))
			i.set.Logger.Info("ClickHouse is ready", zap.String("address", i.store.Address()))
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		if err.Error() != last {
			last = err.Error()
			i.status(componentstatus.NewRecoverableErrorEvent(err))
			i.set.Logger.Warn("ClickHouse is not ready; records wait in the journal", zap.Error(err))
		}
		if !pause(ctx, connectPause) {
			return false
		}
	}
}

func (i *instance) prepare(ctx context.Context) error {
	if err := i.store.Ping(ctx); err != nil {
		return err
	}
	if !i.config.Migrate {
		if err := i.store.CheckSchema(ctx); err != nil {
			return err
		}
		drifts, err := i.store.Drifts(ctx, i.config.retention())
		for _, d := range drifts {
			i.set.Logger.Warn("A table's retention is not what is configured; run the statement, or set migrate", zap.Stringer("drift", d))
		}
		return err
	}
	applied, err := i.store.Migrate(ctx, i.config.retention(), i.set.BuildInfo.Version)
	if applied > 0 {
		i.set.Logger.Info("Applied schema migrations", zap.Int("count", applied))
	}
	if err != nil {
		return err
	}
	changed, err := i.store.Retain(ctx, i.config.retention())
	for _, d := range changed {
		i.set.Logger.Info("Changed a table's retention", zap.Stringer("change", d))
	}
	return err
}

func (i *instance) newWriter() (*store.Writer, error) {
	failing := false // the writer is one goroutine
	return store.NewWriter(i.store, i.journal.Reader(), store.WriterOptions{
		Limits:  i.config.limits(),
		Parking: filepath.Join(i.config.Journal.Directory, "parked"),
		Books:   i.books.changing.RLocker(),
		Heartbeat: func(through time.Time, batches, records int) ([]byte, error) {
			h := i.heartbeat(time.Now())
			h.InsertedThrough, h.ParkedBatches, h.Parked = through, uint64(batches), uint64(records)
			return h.AppendPacked(nil)
		},
		Inserted: func(rows, rejected int, took time.Duration) {
			i.books.inserted.Add(uint64(rows))
			i.books.rejected.Add(uint64(rejected))
			i.metrics.insertedRows(rows, rejected, took)
			if rejected > 0 {
				i.set.Logger.Warn("ClickHouse refused records; `collector rejected list` shows them", zap.Int("records", rejected))
			}
		},
		Invalid: func(rows int) {
			i.books.rejected.Add(uint64(rows))
			i.metrics.keptRejected(rows)
		},
		Failed: func(err error, wait time.Duration) {
			i.metrics.insertFailed(err)
			if failing {
				return
			}
			failing = true
			i.status(componentstatus.NewRecoverableErrorEvent(err))
			i.set.Logger.Warn("ClickHouse did not take a batch; it is sent again until it does", zap.Error(err), zap.Duration("after", wait))
		},
		Parked: i.parked,
		Resumed: func() {
			failing = false
			i.status(componentstatus.NewEvent(componentstatus.StatusOK))
			i.set.Logger.Info("ClickHouse takes batches again")
		},
	})
}

// parked tells that batches are set aside, or that one of them went in.
func (i *instance) parked(err error, batches, records int) {
	i.books.parked.Store(uint64(records))
	if err == nil {
		i.set.Logger.Info("A batch that was set aside is stored", zap.Int("left", batches))
		return
	}
	i.set.Logger.Error("ClickHouse keeps refusing a batch; it is set aside and tried again", zap.Error(err), zap.Int("batches", batches), zap.Int("records", records))
}

// drain writes what the journal holds, once, at shutdown, where ClickHouse was
// there before and still is.
func (i *instance) drain(ctx context.Context) {
	if !i.connected.Load() || i.store.Ping(ctx) != nil {
		return
	}
	if err := i.writer.Drain(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		i.set.Logger.Warn("Records stay in the journal for the next start", zap.Error(err))
	}
}

// seal computes the rollups of slices that were written to. While records wait
// to be inserted it rests for four times as long as sealing took, so that it
// cannot crowd out inserts.
func (i *instance) seal(ctx context.Context) {
	sealer, err := store.NewSealer(i.store, i.journalID())
	if err != nil {
		i.set.Logger.Error("Sealing is off", zap.Error(err))
		return
	}
	failing := false
	var rest time.Time  // until when inserts go first
	var hours time.Time // when hours were last looked for
	for pause(ctx, i.config.Seal.Interval) {
		started := time.Now()
		if started.Before(rest) && i.journal.Stats().BacklogRows > 0 {
			continue
		}
		_, err := sealer.SealDirty(ctx)
		if err == nil && started.Sub(hours) > store.Slice {
			hours = started
			_, err = sealer.SealHours(ctx)
		}
		if errors.Is(err, store.ErrSealing) {
			continue // another collector does it
		}
		if err != nil && ctx.Err() == nil && !failing {
			i.set.Logger.Warn("A slice could not be sealed; it is tried again", zap.Error(err))
		}
		failing = err != nil
		rest = time.Now().Add(4 * time.Since(started))
	}
}

// beat appends a heartbeat to the journal at each interval.
func (i *instance) beat(ctx context.Context) {
	var block []byte
	for {
		block = i.appendHeartbeat(ctx, block[:0])
		if !pause(ctx, heartbeatInterval) {
			return
		}
	}
}

// appendHeartbeat puts a heartbeat into the journal.
func (i *instance) appendHeartbeat(ctx context.Context, block []byte) []byte {
	now := time.Now()
	block, err := i.heartbeat(now).AppendPacked(block)
	if err != nil {
		i.set.Logger.Error("A heartbeat could not be written", zap.Error(err))
		return block
	}
	// A full journal refuses heartbeats too: the store then sees the collector
	// fall silent, which is the truth.
	if _, err := i.journal.Append(ctx, journal.Frame{Kind: store.KindHeartbeats, Arrival: now, Payload: block}); err != nil && ctx.Err() == nil {
		i.set.Logger.Debug("A heartbeat was refused", zap.Error(err))
	}
	return block
}

// heartbeat is the collector's word on itself at an instant.
func (i *instance) heartbeat(now time.Time) store.Heartbeat {
	i.books.changing.Lock()
	defer i.books.changing.Unlock()
	stats := i.journal.Stats()
	h := store.Heartbeat{
		JournalID: i.journalID(), Collector: i.name(), At: now, InsertedThrough: i.inflight.oldest(),
		BacklogRecords: stats.BacklogRows,
		Refused:        i.books.refused.Load(),
		Accepted:       i.books.accepted.Load(), Inserted: i.books.inserted.Load(), Ignored: i.books.ignored.Load(),
		Rejected: i.books.rejected.Load(), Parked: i.books.parked.Load(),
	}
	if !stats.Oldest.IsZero() {
		h.BacklogAge = now.Sub(stats.Oldest)
	}
	return h
}

// pause waits, a tenth more or less so that collectors do not march in step,
// and tells whether the context is still alive.
func pause(ctx context.Context, d time.Duration) bool {
	jittered := d - d/10 + rand.N(d/5+1)
	timer := time.NewTimer(jittered)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
