package soakgateexporter

import (
	"context"
	"errors"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/soakgate/soakgate/internal/store"
)

// scope is the instruments' scope.
const scope = "github.com/soakgate/soakgate/internal/soakgateexporter"

// metrics are the component's instruments. Their names are whole: the
// Collector's Prometheus endpoint adds nothing. Labels hold closed sets only.
type metrics struct {
	observations, violations, ignored metric.Int64Counter
	inserted, rejected, insertErrors  metric.Int64Counter
	refusedRequests, damages          metric.Int64Counter
	fsync, insert                     metric.Float64Histogram
	gauges, verdict                   metric.Registration
}

// Buckets in seconds, from a fast disk's fsync to a timeout.
var secondsBuckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}

func newMetrics(provider metric.MeterProvider, i *instance) (*metrics, error) {
	meter := provider.Meter(scope)
	m := &metrics{}
	var errs []error
	for _, c := range []struct {
		into              *metric.Int64Counter
		name, description string
	}{
		{&m.observations, "soakgate_observations_total", "Observations judged and acknowledged."},
		{&m.violations, "soakgate_violations_total", "Broken rules of the contract, by rule."},
		{&m.ignored, "soakgate_ignored_total", "Log records and spans that are not ours, by reason."},
		{&m.inserted, "soakgate_inserted_records_total", "Records that ClickHouse has stored, repeats included."},
		{&m.rejected, "soakgate_rejected_records_total", "Records kept in rejected_records only: refused by ClickHouse, or by reject_invalid."},
		{&m.insertErrors, "soakgate_insert_errors_total", "Inserts that failed and are tried again, by reason."},
		{&m.refusedRequests, "soakgate_refused_requests_total", "Requests refused with a time to come back, by reason."},
		{&m.damages, "soakgate_journal_damaged_total", "Damaged parts of the journal that were set aside."},
	} {
		counter, err := meter.Int64Counter(c.name, metric.WithDescription(c.description))
		*c.into = counter
		errs = append(errs, err)
	}
	for _, h := range []struct {
		into              *metric.Float64Histogram
		name, description string
	}{
		{&m.fsync, "soakgate_journal_fsync_seconds", "Time of one write and fsync of the journal."},
		{&m.insert, "soakgate_insert_seconds", "Time of one insert into ClickHouse."},
	} {
		histogram, err := meter.Float64Histogram(h.name, metric.WithDescription(h.description), metric.WithExplicitBucketBoundaries(secondsBuckets...))
		*h.into = histogram
		errs = append(errs, err)
	}
	errs = append(errs, m.observeJournal(meter, i), m.observeVerdict(meter, &i.verdicts))
	return m, errors.Join(errs...)
}

// observeJournal reads the journal's figures whenever metrics are collected.
func (m *metrics) observeJournal(meter metric.Meter, i *instance) error {
	size, err1 := meter.Int64ObservableGauge("soakgate_journal_bytes", metric.WithDescription("Bytes of the journal on disk."))
	most, err4 := meter.Int64ObservableGauge("soakgate_journal_max_bytes", metric.WithDescription("Bytes that the journal may have on disk before it refuses."))
	backlog, err2 := meter.Int64ObservableGauge("soakgate_journal_backlog_records", metric.WithDescription("Records that wait in the journal for ClickHouse."))
	age, err3 := meter.Float64ObservableGauge("soakgate_journal_backlog_age_seconds", metric.WithDescription("Age of the oldest record that waits in the journal."))
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	var err error
	m.gauges, err = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		if i.journal == nil {
			return nil
		}
		stats := i.journal.Stats()
		o.ObserveInt64(size, stats.Bytes)
		o.ObserveInt64(most, i.config.Journal.MaxSizeMiB<<20)
		o.ObserveInt64(backlog, int64(stats.BacklogRows))
		oldest := 0.0
		if !stats.Oldest.IsZero() {
			oldest = time.Since(stats.Oldest).Seconds()
		}
		o.ObserveFloat64(age, oldest)
		return nil
	}, size, most, backlog, age)
	return err
}

func (m *metrics) close() {
	for _, r := range []metric.Registration{m.gauges, m.verdict} {
		if r != nil {
			// Unregistering again, or of a provider that is gone, has nothing to undo.
			_ = r.Unregister()
		}
	}
}

// consumed adds what an acknowledged request held.
func (m *metrics) consumed(ctx context.Context, c *counts) {
	for _, o := range c.observations {
		m.observations.Add(ctx, o.n, metric.WithAttributes(
			attribute.String("server_family", string(o.labels.family)),
			attribute.String("shape", string(o.labels.shape)),
			attribute.String("valid", strconv.FormatBool(o.labels.valid))))
	}
	for rule, n := range c.violations {
		m.violations.Add(ctx, n, metric.WithAttributes(attribute.String("rule", string(rule))))
	}
	for reason, n := range c.ignored {
		m.ignored.Add(ctx, n, metric.WithAttributes(attribute.String("reason", string(reason))))
	}
}

func (m *metrics) refused(reason string) {
	m.refusedRequests.Add(context.Background(), 1, metric.WithAttributes(attribute.String("reason", reason)))
}

func (m *metrics) insertedRows(rows, rejected int, took time.Duration) {
	m.inserted.Add(context.Background(), int64(rows))
	m.keptRejected(rejected)
	m.insert.Record(context.Background(), took.Seconds())
}

func (m *metrics) keptRejected(rows int) {
	if rows > 0 {
		m.rejected.Add(context.Background(), int64(rows))
	}
}

// insertFailed counts a failed try: refused by ClickHouse, or out of reach.
func (m *metrics) insertFailed(err error) {
	reason := "connection"
	if _, ok := errors.AsType[*store.InsertError](err); ok {
		reason = "refused"
	}
	m.insertErrors.Add(context.Background(), 1, metric.WithAttributes(attribute.String("reason", reason)))
}

func (m *metrics) damage() { m.damages.Add(context.Background(), 1) }

func (m *metrics) synced(d time.Duration, _, _ int) {
	m.fsync.Record(context.Background(), d.Seconds())
}
