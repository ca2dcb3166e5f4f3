package soakgateexporter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/exporter"
	"go.uber.org/zap"

	"github.com/soakgate/soakgate/internal/classify"
	"github.com/soakgate/soakgate/internal/store"
	"github.com/soakgate/soakgate/internal/store/journal"
)

// instance is the running component: one journal, one writer, one sealer.
type instance struct {
	config     *Config
	set        exporter.Settings
	classifier *classify.Classifier
	metrics    *metrics
	forget     func()
	sessions   sync.Pool     // of *session
	requests   sync.Pool     // of *request
	judging    chan struct{} // has room for one request a processor

	start, stop sync.Once
	startErr    error
	host        component.Host

	journal   *journal.Journal
	store     *store.Store
	writer    *store.Writer
	books     books
	verdicts  verdicts
	inflight  inflight
	connected atomic.Bool   // ClickHouse has answered, and its schema fits
	seq       atomic.Uint64 // numbers records; starts at the clock, so that it grows over restarts
	cancel    context.CancelFunc
	workers   sync.WaitGroup
}

// books are the collector's own counts, in records since the process began;
// what an earlier process left in the journal is taken as accepted. At any
// moment accepted = inserted + rejected + parked + what is in the journal: those
// who change two of them hold changing for reading, who looks holds it whole.
type books struct {
	changing sync.RWMutex

	accepted, inserted, rejected, ignored atomic.Uint64
	refused                               atomic.Uint64 // requests
	parked                                atomic.Uint64 // now, not in all
}

func newInstance(set exporter.Settings, config *Config, forget func()) (*instance, error) {
	classifier, err := classify.New()
	if err != nil {
		return nil, fmt.Errorf("prepare the contract's schemas: %w", err)
	}
	i := &instance{config: config, set: set, classifier: classifier, forget: forget}
	if i.metrics, err = newMetrics(set.MeterProvider, i); err != nil {
		return nil, fmt.Errorf("make the exporter's metrics: %w", err)
	}
	i.judging = make(chan struct{}, runtime.GOMAXPROCS(0))
	i.sessions.New = func() any { return newSession(i) }
	i.requests.New = func() any { return newRequest() }
	return i, nil
}

// Start opens the journal and begins to write. ClickHouse may be away: records
// wait in the journal until it comes.
func (i *instance) Start(_ context.Context, host component.Host) error {
	i.start.Do(func() { i.startErr = i.open(host) })
	return i.startErr
}

func (i *instance) open(host component.Host) error {
	i.host = host
	s, err := store.Open(i.config.dsn())
	if err != nil {
		return err
	}
	if err := s.OnCluster(i.config.Cluster); err != nil {
		return errors.Join(err, s.Close())
	}
	j, recovery, err := journal.Open(journal.Options{
		Dir:             i.config.Journal.Directory,
		Adopt:           i.config.Journal.Adopt,
		MaxBytes:        i.config.Journal.MaxSizeMiB << 20,
		MaxPendingBytes: i.config.Journal.MaxPendingMiB << 20,
		OnSync:          i.metrics.synced,
		OnDamage:        i.damaged,
	})
	if err != nil {
		return errors.Join(fmt.Errorf("open the journal: %w", err), s.Close())
	}
	i.store, i.journal = s, j
	if i.writer, err = i.newWriter(); err != nil {
		return errors.Join(err, j.Close(context.Background()), s.Close())
	}
	i.books.parked.Store(uint64(i.writer.ParkedRecords()))
	i.books.accepted.Store(i.books.parked.Load() + j.Stats().BacklogRows)
	i.seq.Store(uint64(time.Now().UnixNano()))
	for _, d := range recovery.Damage {
		i.damaged(d)
	}
	ctx, cancel := context.WithCancel(context.Background())
	i.cancel = cancel
	i.workers.Go(func() { i.write(ctx) })
	i.workers.Go(func() { i.beat(ctx) })
	return nil
}

func (i *instance) damaged(d journal.Damage) {
	i.metrics.damage()
	i.set.Logger.Error("Part of the journal is damaged; what is intact goes on", zap.Stringer("damage", d))
}

// drainTimeout bounds the last writing at shutdown. What is not stored by then
// stays in the journal for the next start.
const drainTimeout = 5 * time.Second

// Shutdown ends the work: what was acknowledged is in ClickHouse, or in the
// journal when ClickHouse is away. Safe twice, and without Start.
func (i *instance) Shutdown(ctx context.Context) error {
	var err error
	i.stop.Do(func() {
		i.forget()
		i.metrics.close()
		if i.cancel == nil {
			return
		}
		i.cancel()
		i.workers.Wait()
		drain, cancel := context.WithTimeout(ctx, drainTimeout)
		defer cancel()
		i.drain(drain)
		err = errors.Join(i.journal.Close(ctx), i.store.Close())
	})
	return err
}

// status tells the Collector, and so its health check, how the store is.
func (i *instance) status(e *componentstatus.Event) { componentstatus.ReportStatus(i.host, e) }

// name is the collector's name in heartbeats.
func (i *instance) name() string {
	if i.config.Collector != "" {
		return i.config.Collector
	}
	host, err := os.Hostname()
	if err != nil {
		return "collector"
	}
	return host
}

func (i *instance) journalID() uuid.UUID { return uuid.UUID(i.journal.ID()) }
