package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/soakgate/soakgate/dashboards"
)

// newDashboardsCommand makes `collector dashboards`: exit status 0 when all are
// written, 1 when they cannot be, 2 for wrong usage.
func newDashboardsCommand() *cobra.Command {
	var out string
	var options dashboards.Options
	c := &cobra.Command{
		Use:   "dashboards",
		Short: "Write the Grafana dashboards for a data source and a database",
		Long: "Writes the Grafana dashboards as JSON, for provisioning from a folder or import by hand.\n" +
			"Exit status: 0 written, 1 could not be written, 2 wrong usage.",
		Example: "  collector dashboards --out /etc/grafana/dashboards --datasource clickhouse-prod --database soakgate",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if out == "" {
				return &exitError{code: 2, err: errors.New("say where to: --out DIR")}
			}
			paths, err := dashboards.Write(out, options)
			if errors.Is(err, dashboards.ErrDatabase) {
				return &exitError{code: 2, err: err}
			}
			if err != nil {
				return err
			}
			for _, path := range paths {
				fmt.Fprintln(c.OutOrStdout(), path)
			}
			return nil
		},
	}
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &exitError{code: 2, err: err} })
	c.Flags().StringVar(&out, "out", "", "folder to write to; made where it is missing")
	c.Flags().StringVar(&options.Datasource, "datasource", "", "uid of the ClickHouse data source that is chosen at first (default Grafana's own)")
	c.Flags().StringVar(&options.Database, "database", dashboards.DefaultDatabase, "database to read")
	return c
}
