package main

import (
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/soakgate/soakgate/internal/store"
)

// statusUsage is the exit status of wrong usage.
const statusUsage = 2

func usage(format string, args ...any) error {
	return &exitError{code: statusUsage, err: fmt.Errorf(format, args...)}
}

// dsnFlag adds the flag --dsn, which every command that asks the store has.
func dsnFlag(c *cobra.Command) *string {
	return c.PersistentFlags().String("dsn", "", "ClickHouse DSN (default $"+store.EnvDSN+", else "+store.DefaultDSN+")")
}

// group makes a command that does nothing without a subcommand.
func group(use, short string, subcommands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, RunE: func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usage("%s: unknown command %q; see `%s --help`", c.CommandPath(), args[0], c.CommandPath())
		}
		return usage("say what to do; see `%s --help`", c.CommandPath())
	}}
	c.AddCommand(subcommands...)
	return c
}

// newResealCommand makes `collector reseal --from --to`.
func newResealCommand() *cobra.Command {
	var from, to string
	c := &cobra.Command{
		Use:   "reseal",
		Short: "Compute the rollups of a range of arrival again",
		Args:  usageArgs(cobra.NoArgs),
	}
	dsn := dsnFlag(c)
	c.Flags().StringVar(&from, "from", "", "first slice, RFC 3339")
	c.Flags().StringVar(&to, "to", "", "end of the range, RFC 3339")
	c.RunE = func(c *cobra.Command, _ []string) error {
		start, err1 := time.Parse(time.RFC3339, from)
		end, err2 := time.Parse(time.RFC3339, to)
		if err := errors.Join(err1, err2); err != nil {
			return usage("--from and --to must be RFC 3339, such as 2026-03-01T12:00:00Z: %w", err)
		}
		if !start.Before(end) {
			return usage("--from %s is not before --to %s", from, to)
		}
		return withStore(*dsn, func(s *store.Store) error {
			sealer, err := store.NewSealer(s, uuid.New())
			if err != nil {
				return err
			}
			for {
				n, err := sealer.Reseal(c.Context(), start, end)
				if errors.Is(err, store.ErrSealing) && n == 0 && c.Context().Err() == nil {
					time.Sleep(100 * time.Millisecond) // the collectors let go after each round
					continue
				}
				fmt.Fprintf(c.OutOrStdout(), "%d slices sealed again\n", n)
				return err // running collectors seal the hours again
			}
		})
	}
	return c
}

// newJournalCommand makes `collector journal list|retire`.
func newJournalCommand() *cobra.Command {
	list := &cobra.Command{Use: "list", Short: "List the collectors' journals and how far each is stored", Args: usageArgs(cobra.NoArgs)}
	retire := &cobra.Command{Use: "retire", Short: "Say that a collector is gone for good, so that it holds nothing up", Args: usageArgs(cobra.NoArgs)}
	id := retire.Flags().String("id", "", "the journal's id, see `collector journal list`")
	c := group("journal", "The collectors' journals, as their heartbeats tell of them", list, retire)
	dsn := dsnFlag(c)
	list.RunE = func(c *cobra.Command, _ []string) error {
		return withStore(*dsn, func(s *store.Store) error {
			collectors, err := s.Collectors(c.Context())
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "JOURNAL\tCOLLECTOR\tLAST HEARTBEAT\tSTORED THROUGH\tBACKLOG\tPARKED\tRETIRED")
			for _, j := range collectors {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%d\t%t\n", j.JournalID, j.Name, j.At.UTC().Format(time.RFC3339), j.InsertedThrough.UTC().Format(time.RFC3339), j.Backlog, j.Parked, j.Retired)
			}
			return w.Flush()
		})
	}
	retire.RunE = func(c *cobra.Command, _ []string) error {
		if *id == "" {
			return usage("--id is missing: `collector journal list` shows the ids")
		}
		return withStore(*dsn, func(s *store.Store) error {
			collectors, err := s.Collectors(c.Context())
			if err != nil {
				return err
			}
			for _, j := range collectors {
				if j.JournalID == *id {
					return s.Retire(c.Context(), j)
				}
			}
			return usage("no journal has the id %q: `collector journal list` shows the ids", *id)
		})
	}
	return c
}

// finalSlices says what the books of the final slices are.
func finalSlices(b store.Books) string {
	if b.Through.IsZero() {
		return "no slice is final yet"
	}
	text := fmt.Sprintf("%d distinct records in the slices final before %s, %d counted by their seals", b.Distinct, b.Through.Format(time.RFC3339), b.Sealed)
	if b.Waiting != "" {
		text += "; later slices wait for the journal " + b.Waiting
	}
	return text
}

// newCheckCommand makes `collector check`: do the books balance. Exit status 0
// when they do, 1 when not, 2 for wrong usage or when it could not tell.
func newCheckCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "check",
		Short: "Tell whether the books balance: per collector, and in ClickHouse",
		Args:  usageArgs(cobra.NoArgs),
	}
	dsn := dsnFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		unbalanced := 0
		err := withStore(*dsn, func(s *store.Store) error {
			collectors, err := s.Collectors(c.Context())
			if err != nil {
				return err
			}
			for _, j := range collectors {
				fmt.Fprintf(c.OutOrStdout(), "collector %s (%s): accepted %d = inserted %d + rejected %d + parked %d + in the journal %d", j.Name, j.JournalID, j.Accepted, j.Inserted, j.Rejected, j.Parked, j.Backlog)
				if d := j.Balance(); d != 0 {
					unbalanced++
					fmt.Fprintf(c.OutOrStdout(), "; off by %d", d)
				}
				fmt.Fprintln(c.OutOrStdout())
			}
			b, err := s.Books(c.Context())
			if err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "ClickHouse: %s; %d slices to seal\n", finalSlices(b), b.Open)
			if b.Distinct != b.Sealed {
				unbalanced++
			}
			return nil
		})
		if err != nil {
			return &exitError{code: statusUsage, err: err}
		}
		if unbalanced > 0 {
			return fmt.Errorf("%d of the books do not balance; `collector reseal` mends the rollups, a collector's own books are mended by nothing but finding out why", unbalanced)
		}
		return nil
	}
	return c
}
