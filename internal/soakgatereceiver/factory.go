// Package soakgatereceiver is the Collector receiver of type soakgate: OTLP over
// gRPC and HTTP that answers senders with what was found. Sockets, TLS,
// authentication, encodings and compression come from configgrpc, confighttp and
// pdata; the package owns the answer, one size limit for both protocols, and the
// age limit of HTTP connections. It judges nothing itself, and refuses to start
// on a pipeline through which findings cannot come back.
package soakgatereceiver

import (
	"context"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/receiver"
)

// Type is the component's type in configurations.
var Type = component.MustNewType("soakgate")

// NewFactory makes the receiver's factory. Receivers of one configured
// component, for logs and for traces, share their listeners.
func NewFactory() receiver.Factory {
	f := &factory{servers: make(map[*Config]*server)}
	return receiver.NewFactory(Type, createDefaultConfig,
		receiver.WithLogs(f.logs, component.StabilityLevelBeta),
		receiver.WithTraces(f.traces, component.StabilityLevelBeta))
}

type factory struct {
	mu      sync.Mutex
	servers map[*Config]*server
}

// server is the one behind both receivers of a configured component. It is
// forgotten when it is shut down, so that a reload makes a new one.
func (f *factory) server(set receiver.Settings, cfg component.Config) (*server, error) {
	config := cfg.(*Config)
	f.mu.Lock()
	defer f.mu.Unlock()
	if s, ok := f.servers[config]; ok {
		return s, nil
	}
	s, err := newServer(set, config, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.servers, config)
	})
	if err != nil {
		return nil, err
	}
	f.servers[config] = s
	return s, nil
}

func (f *factory) logs(_ context.Context, set receiver.Settings, cfg component.Config, next consumer.Logs) (receiver.Logs, error) {
	s, err := f.server(set, cfg)
	if err != nil {
		return nil, err
	}
	s.signals = append(s.signals, logsSignal(next))
	return s, nil
}

func (f *factory) traces(_ context.Context, set receiver.Settings, cfg component.Config, next consumer.Traces) (receiver.Traces, error) {
	s, err := f.server(set, cfg)
	if err != nil {
		return nil, err
	}
	s.signals = append(s.signals, tracesSignal(next))
	return s, nil
}
