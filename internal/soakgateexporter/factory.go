// Package soakgateexporter is the Collector exporter of type soakgate, for logs
// and traces. It glues the project's stages: it finds observations, judges
// them, appends the records to the journal, and answers the sender only when
// they are on disk; behind the answer it brings them to ClickHouse and seals
// slices into rollups. It refuses data with a time to come back rather than
// drop any, and never changes what it was given.
package soakgateexporter

import (
	"context"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
)

// Type is the component's type in configurations.
var Type = component.MustNewType("soakgate")

// NewFactory makes the exporter's factory. Exporters of one configured
// component, for logs and for traces, share one journal and one writer.
func NewFactory() exporter.Factory {
	f := &factory{instances: make(map[*Config]*instance)}
	return exporter.NewFactory(Type, createDefaultConfig,
		exporter.WithLogs(f.logs, component.StabilityLevelBeta),
		exporter.WithTraces(f.traces, component.StabilityLevelBeta))
}

type factory struct {
	mu        sync.Mutex
	instances map[*Config]*instance
}

// instance is the one behind all exporters of a configured component. It is
// forgotten when it is shut down, so that a reload makes a new one.
func (f *factory) instance(set exporter.Settings, cfg component.Config) (*instance, error) {
	config := cfg.(*Config)
	f.mu.Lock()
	defer f.mu.Unlock()
	if i, ok := f.instances[config]; ok {
		return i, nil
	}
	i, err := newInstance(set, config, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.instances, config)
	})
	if err != nil {
		return nil, err
	}
	f.instances[config] = i
	return i, nil
}

func (f *factory) logs(_ context.Context, set exporter.Settings, cfg component.Config) (exporter.Logs, error) {
	i, err := f.instance(set, cfg)
	if err != nil {
		return nil, err
	}
	return signal{i}, nil
}

func (f *factory) traces(_ context.Context, set exporter.Settings, cfg component.Config) (exporter.Traces, error) {
	i, err := f.instance(set, cfg)
	if err != nil {
		return nil, err
	}
	return signal{i}, nil
}

// signal is one exporter, for logs or for traces, of a shared instance.
type signal struct{ *instance }

// Capabilities says that data is only read.
func (signal) Capabilities() consumer.Capabilities { return consumer.Capabilities{MutatesData: false} }
