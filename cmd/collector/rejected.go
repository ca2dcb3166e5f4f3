package main

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/soakgate/soakgate/internal/store"
)

// newRejectedCommand makes `collector rejected list|show|replay|explain`, for
// records that the store or the policy refused.
func newRejectedCommand() *cobra.Command {
	var reason, since, id, note string
	sub := func(use, short string) *cobra.Command {
		c := &cobra.Command{Use: use, Short: short, Args: usageArgs(cobra.NoArgs)}
		c.Flags().StringVar(&reason, "reason", "", "only records refused for this reason")
		c.Flags().StringVar(&since, "since", "", "only records received since then, RFC 3339")
		c.Flags().StringVar(&id, "id", "", "only this record")
		return c
	}
	list := sub("list", "List rejected records")
	show := sub("show", "Show rejected records with their original text")
	replay := sub("replay", "Store rejected records whose cause is mended")
	explain := sub("explain", "Mark rejected records as known, with a note")
	explain.Flags().StringVar(&note, "note", "", "why they need no replay")
	c := group("rejected", "Records that the store or the policy refused", list, show, replay, explain)
	dsn := dsnFlag(c)

	each := func(c *cobra.Command, state string, do func(*store.Store, []store.Rejected) error) error {
		filter := store.RejectedFilter{ID: id, Reason: reason, State: state}
		if since != "" {
			t, err := time.Parse(time.RFC3339, since)
			if err != nil {
				return usage("--since %q must be RFC 3339, such as 2026-03-01T12:00:00Z", since)
			}
			filter.Since = t
		}
		return withStore(*dsn, func(s *store.Store) error {
			rows, err := s.Rejected(c.Context(), filter)
			if err != nil {
				return err
			}
			return do(s, rows)
		})
	}
	list.RunE = func(c *cobra.Command, _ []string) error {
		return each(c, "", func(_ *store.Store, rows []store.Rejected) error {
			w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "ID\tRECEIVED\tSERVER\tREASON\tSTATE\tNOTE")
			for _, r := range rows {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, r.ReceivedAt.UTC().Format(time.RFC3339), r.Server, r.Reason, r.State, r.Note)
			}
			return w.Flush()
		})
	}
	show.RunE = func(c *cobra.Command, _ []string) error {
		return each(c, "", func(_ *store.Store, rows []store.Rejected) error {
			for _, r := range rows {
				fmt.Fprintf(c.OutOrStdout(), "id        %s\nreceived  %s\nserver    %s\nreason    %s\nstate     %s %s\ndetail    %s\noriginal  %s\n\n",
					r.ID, r.ReceivedAt.UTC().Format(time.RFC3339), r.Server, r.Reason, r.State, r.Note, r.Detail, r.Original)
			}
			return nil
		})
	}
	replay.RunE = func(c *cobra.Command, _ []string) error {
		return each(c, store.RejectedOpen, func(s *store.Store, rows []store.Rejected) error {
			for i, r := range rows {
				if err := s.Replay(c.Context(), r); err != nil {
					return fmt.Errorf("%d of %d replayed: %w", i, len(rows), err)
				}
			}
			fmt.Fprintf(c.OutOrStdout(), "%d records replayed\n", len(rows))
			return nil
		})
	}
	explain.RunE = func(c *cobra.Command, _ []string) error {
		if note == "" {
			return usage("--note is missing: say why these records need no replay")
		}
		return each(c, store.RejectedOpen, func(s *store.Store, rows []store.Rejected) error {
			for _, r := range rows {
				if err := s.Explain(c.Context(), r, note); err != nil {
					return err
				}
			}
			fmt.Fprintf(c.OutOrStdout(), "%d records marked as known\n", len(rows))
			return nil
		})
	}
	return c
}
