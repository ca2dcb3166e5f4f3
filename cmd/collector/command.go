package main

import (
	"github.com/spf13/cobra"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/envprovider"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/confmap/provider/yamlprovider"
	"go.opentelemetry.io/collector/otelcol"
)

// unreleased is the version of a build that nobody named.
const unreleased = "dev"

// version is the release; the linker sets it, see releaseOf.
var version = unreleased

// newCommand builds the command tree: the Collector's root command with our
// subcommands on it.
func newCommand() *cobra.Command {
	root := otelcol.NewCommand(otelcol.CollectorSettings{
		BuildInfo: component.BuildInfo{
			Command:     "collector",
			Description: "Soakgate: judges MCP error envelopes and _meta telemetry, and says whether the servers may flip",
			Version:     version,
		},
		Factories: factories,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{
			ResolverSettings: confmap.ResolverSettings{
				ProviderFactories: []confmap.ProviderFactory{
					fileprovider.NewFactory(), envprovider.NewFactory(), yamlprovider.NewFactory(),
				},
			},
		},
	})
	root.SilenceErrors = true
	root.AddCommand(
		newClickHouseCommand(),
		newConformanceCommand(recordConformance),
		newCheckCommand(),
		newHealthCommand(),
		newComplaintCommand(),
		newDashboardsCommand(),
		newJournalCommand(),
		newMigrateCommand(),
		newRejectedCommand(),
		newResealCommand(),
		newShipCommand(declareReplay),
		newSoakCommand(readFigures),
	)
	return root
}
