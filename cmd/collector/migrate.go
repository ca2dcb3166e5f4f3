package main

import (
	"errors"
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/soakgate/soakgate/internal/store"
)

// newMigrateCommand makes `collector migrate up|status`: exit status 0 when the
// schema is up to date, 1 when it is not, 2 for wrong usage.
func newMigrateCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the ClickHouse schema up to date, or tell how far it is",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			return &exitError{code: 2, err: errors.New("say what to do: `collector migrate up` or `collector migrate status`")}
		},
	}
	dsn := command.PersistentFlags().String("dsn", "", "ClickHouse DSN (default $"+store.EnvDSN+", else "+store.DefaultDSN+")")
	cluster := command.PersistentFlags().String("cluster", "", "make tables on all servers of this ClickHouse cluster")
	open := func() (*store.Store, error) {
		s, err := store.Open(store.DSNFromEnv(*dsn))
		if err != nil {
			return nil, &exitError{code: 2, err: err}
		}
		if err := s.OnCluster(*cluster); err != nil {
			return nil, &exitError{code: 2, err: errors.Join(err, s.Close())}
		}
		return s, nil
	}
	command.AddCommand(
		newMigrateUpCommand(open),
		&cobra.Command{
			Use:   "status",
			Short: "List the migrations and whether the database has them",
			Args:  usageArgs(cobra.NoArgs),
			RunE: func(c *cobra.Command, _ []string) error {
				s, err := open()
				if err != nil {
					return err
				}
				defer s.Close()
				return printMigrations(c, s)
			},
		},
	)
	return command
}

// newMigrateUpCommand makes `collector migrate up`. Without a number of days it
// leaves the retention of existing tables alone: collectors that migrate by
// themselves set it from their configuration.
func newMigrateUpCommand(open func() (*store.Store, error)) *cobra.Command {
	keep := store.DefaultRetention
	c := &cobra.Command{
		Use:   "up",
		Short: "Apply the migrations that the database lacks",
		Long: "Applies the migrations that the database lacks. With a number of days it also changes the retention of tables that exist;\n" +
			"what is not given then has its default.",
		Args: usageArgs(cobra.NoArgs),
	}
	flags := c.Flags()
	flags.IntVar(&keep.PayloadDays, "payload-days", keep.PayloadDays, "days from arrival that payloads are kept")
	flags.IntVar(&keep.RecordsDays, "records-days", keep.RecordsDays, "days from arrival that records are kept")
	flags.IntVar(&keep.RollupDays, "rollup-days", keep.RollupDays, "days from arrival that rollups are kept")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if keep.PayloadDays < 1 || keep.RecordsDays < keep.PayloadDays || keep.RollupDays < keep.RecordsDays {
			return usage("%d, %d and %d days: payloads are kept for at least one, records not shorter than payloads, rollups not shorter than records",
				keep.PayloadDays, keep.RecordsDays, keep.RollupDays)
		}
		s, err := open()
		if err != nil {
			return err
		}
		defer s.Close()
		applied, err := s.Migrate(c.Context(), keep, version)
		if err != nil {
			return err
		}
		fmt.Fprintf(c.OutOrStdout(), "%d migrations applied; the schema at %s is up to date\n", applied, s.Address())
		if !slices.ContainsFunc([]string{"payload-days", "records-days", "rollup-days"}, flags.Changed) {
			return nil
		}
		changed, err := s.Retain(c.Context(), keep)
		for _, d := range changed {
			fmt.Fprintln(c.OutOrStdout(), "changed:", d)
		}
		return err
	}
	return c
}

func printMigrations(c *cobra.Command, s *store.Store) error {
	migrations, err := s.Migrations(c.Context(), store.DefaultRetention)
	if err != nil {
		return err
	}
	missing := 0
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
	for _, m := range migrations {
		state := "applied"
		if !m.Applied {
			state = "missing"
			missing++
		}
		fmt.Fprintf(w, "%04d\t%s\t%s\n", m.Version, m.Name, state)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if missing > 0 {
		return fmt.Errorf("%d migrations are missing at %s: run `collector migrate up`", missing, s.Address())
	}
	return nil
}

// usageArgs makes wrong arguments exit with status 2.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return &exitError{code: 2, err: err}
		}
		return nil
	}
}
