package main

import (
	"fmt"

	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/basicauthextension"
	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/bearertokenauthextension"
	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/healthcheckv2extension"
	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/pprofextension"
	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/storage/filestorage"
	"github.com/open-telemetry/opentelemetry-collector-contrib/receiver/filelogreceiver"
	"github.com/open-telemetry/opentelemetry-collector-contrib/receiver/kafkareceiver"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/debugexporter"
	"go.opentelemetry.io/collector/exporter/otlpexporter"
	"go.opentelemetry.io/collector/exporter/otlphttpexporter"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/extension/zpagesextension"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/memorylimiterprocessor"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"

	"github.com/soakgate/soakgate/internal/clickhouseextension"
	"github.com/soakgate/soakgate/internal/soakgateexporter"
	"github.com/soakgate/soakgate/internal/soakgatereceiver"
)

// factories lists the components of the distribution. The batch processor is
// left out: it acknowledges before anything is on disk.
func factories() (otelcol.Factories, error) {
	f := otelcol.Factories{Telemetry: otelconftelemetry.NewFactory()}
	var err error
	if f.Receivers, err = otelcol.MakeFactoryMap[receiver.Factory](
		soakgatereceiver.NewFactory(),
		otlpreceiver.NewFactory(),
		filelogreceiver.NewFactory(),
		kafkareceiver.NewFactory(),
	); err != nil {
		return f, fmt.Errorf("list the receivers: %w", err)
	}
	if f.Processors, err = otelcol.MakeFactoryMap[processor.Factory](
		memorylimiterprocessor.NewFactory(),
	); err != nil {
		return f, fmt.Errorf("list the processors: %w", err)
	}
	if f.Exporters, err = otelcol.MakeFactoryMap[exporter.Factory](
		soakgateexporter.NewFactory(),
		otlpexporter.NewFactory(),
		otlphttpexporter.NewFactory(),
		debugexporter.NewFactory(),
	); err != nil {
		return f, fmt.Errorf("list the exporters: %w", err)
	}
	if f.Extensions, err = otelcol.MakeFactoryMap[extension.Factory](
		clickhouseextension.NewFactory(),
		healthcheckv2extension.NewFactory(),
		pprofextension.NewFactory(),
		zpagesextension.NewFactory(),
		bearertokenauthextension.NewFactory(),
		basicauthextension.NewFactory(),
		filestorage.NewFactory(),
	); err != nil {
		return f, fmt.Errorf("list the extensions: %w", err)
	}
	return f, nil
}
