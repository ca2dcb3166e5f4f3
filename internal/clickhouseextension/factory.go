// Package clickhouseextension is the Collector extension clickhouse_embedded: it
// runs the embedded ClickHouse for as long as the collector runs. Extensions
// start before exporters and stop after them, so an exporter that points at the
// extension's address always finds it.
//
// It owns nothing but that: the engine, its limits and its interface are the
// store's. It refuses a second instance in one collector, since a process holds
// one engine.
package clickhouseextension

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"

	"github.com/soakgate/soakgate/internal/store/embedded"
)

// Type is the extension's name in a configuration.
var Type = component.MustNewType("clickhouse_embedded")

// NewFactory returns the extension's factory.
func NewFactory() extension.Factory {
	return extension.NewFactory(Type, createDefaultConfig, create, component.StabilityLevelBeta)
}

func createDefaultConfig() component.Config {
	d := embedded.NewDefaultConfig()
	return &Config{
		Listen:               d.Listen,
		MemoryLimitMiB:       d.MemoryLimitMiB,
		MarkCacheMiB:         d.MarkCacheMiB,
		UncompressedCacheMiB: d.UncompressedCacheMiB,
		IndexCacheMiB:        d.IndexCacheMiB,
		MaxQueries:           d.MaxQueries,
	}
}

func create(_ context.Context, set extension.Settings, cfg component.Config) (extension.Extension, error) {
	return &clickhouse{config: cfg.(*Config).embedded(), logger: set.Logger}, nil
}
