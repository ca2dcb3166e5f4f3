package ship

import (
	"context"

	"go.opentelemetry.io/otel/log"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/trace"

	"github.com/soakgate/soakgate/internal/ship/fleet"
)

// scope is the instrumentation scope of the fleet's records.
const scope = "openbridge.mcp.envelope"

// exporter is the part of the SDK's exporters that a run needs.
type exporter interface {
	Export(ctx context.Context, records []sdklog.Record) error
}

// batch is one request, and what its records are made from.
type batch struct {
	records []sdklog.Record
	items   []fleet.Item
}

// emitter turns items into the SDK's records: one LoggerProvider a source, as
// each is a process of its own, all with a processor that puts records into
// the batch in hand. It is for one goroutine.
type emitter struct {
	loggers []log.Logger // by source
	batch   batch
}

func newEmitter(s *fleet.Stream) *emitter {
	e := &emitter{}
	for _, src := range s.Sources() {
		provider := sdklog.NewLoggerProvider(
			sdklog.WithResource(resource.NewSchemaless(src.Resource()...)),
			sdklog.WithProcessor(collect{e}),
			sdklog.WithAttributeCountLimit(-1),
			sdklog.WithAttributeValueLengthLimit(-1),
			sdklog.WithAllowKeyDuplication(), // there are none, so do not look for them
		)
		e.loggers = append(e.loggers, provider.Logger(scope, log.WithInstrumentationVersion("1")))
	}
	return e
}

// fill makes the next batch of at most n records, and tells whether more may follow.
func (e *emitter) fill(s *fleet.Stream, n int) (batch, bool) {
	e.batch = batch{records: make([]sdklog.Record, 0, n), items: make([]fleet.Item, 0, n)}
	for len(e.batch.items) < n {
		it, ok := s.Next()
		if !ok {
			return e.batch, false
		}
		e.emit(s, it)
		e.batch.items = append(e.batch.items, it)
	}
	return e.batch, true
}

// emit logs one record as the item's server would.
func (e *emitter) emit(s *fleet.Stream, it fleet.Item) {
	r, span := s.Record(it)
	e.loggers[it.Index()].Emit(trace.ContextWithSpanContext(context.Background(), span), r)
}

// collect is the processor that keeps each record until its batch goes out.
type collect struct{ to *emitter }

// Enabled takes every record.
func (collect) Enabled(context.Context, sdklog.EnabledParameters) bool { return true }

// OnEmit keeps a copy: the SDK may use the record again.
func (c collect) OnEmit(_ context.Context, r *sdklog.Record) error {
	c.to.batch.records = append(c.to.batch.records, r.Clone())
	return nil
}

// Shutdown has nothing to end.
func (collect) Shutdown(context.Context) error { return nil }

// ForceFlush has nothing to send: the run exports.
func (collect) ForceFlush(context.Context) error { return nil }
