package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os/user"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/soakgate/soakgate/internal/classify"
	"github.com/soakgate/soakgate/internal/soak"
	"github.com/soakgate/soakgate/internal/store"
)

// complaintKinds are what agents' users complain of (R138).
var complaintKinds = []string{"payload_size", "parsing"}

// complaintFlags are the flags of the complaint commands.
type complaintFlags struct {
	server, kind, ref, note, at, by, id, fixedIn string
	notOurs                                      bool
}

// newComplaintCommand makes `collector complaint add|resolve|reopen|review|list`:
// the register of complaints, which are not on the wire (R140, D13).
func newComplaintCommand() *cobra.Command {
	var f complaintFlags
	sub := func(use, short string) *cobra.Command {
		c := &cobra.Command{Use: use, Short: short, Args: usageArgs(cobra.NoArgs)}
		c.Flags().StringVar(&f.server, "server", "", "the server it is about")
		c.Flags().StringVar(&f.at, "at", "", "when it took effect, RFC 3339 (default now)")
		c.Flags().StringVar(&f.by, "by", userName(), "who says so")
		c.Flags().StringVar(&f.note, "note", "", "what else there is to say")
		return c
	}
	add := sub("add", "Enter a complaint")
	resolve := sub("resolve", "Say that a complaint is resolved")
	reopen := sub("reopen", "Say that a complaint is open again")
	review := sub("review", "Say that somebody looked for complaints: without that, none is no evidence")
	list := &cobra.Command{Use: "list", Short: "List complaints and reviews", Args: usageArgs(cobra.NoArgs)}
	add.Flags().StringVar(&f.kind, "kind", "", strings.Join(complaintKinds, " or "))
	for _, c := range []*cobra.Command{add, resolve, reopen} {
		c.Flags().StringVar(&f.id, "id", "", "the complaint's id (add makes one)")
		c.Flags().StringVar(&f.ref, "ref", "", "where it is told: a ticket, a pull request")
	}
	resolve.Flags().StringVar(&f.fixedIn, "fixed-in", "", "the version that mends it")
	resolve.Flags().BoolVar(&f.notOurs, "not-ours", false, "the contract is not the cause")
	c := group("complaint", "The register of complaints about payload size and parsing", add, resolve, reopen, review, list)
	dsn := dsnFlag(c)
	add.RunE = func(c *cobra.Command, _ []string) error { return f.add(c, *dsn) }
	resolve.RunE = func(c *cobra.Command, _ []string) error { return f.change(c, *dsn, soak.ComplaintResolve) }
	reopen.RunE = func(c *cobra.Command, _ []string) error { return f.change(c, *dsn, soak.ComplaintReopen) }
	review.RunE = func(c *cobra.Command, _ []string) error { return f.review(c, *dsn) }
	list.RunE = func(c *cobra.Command, _ []string) error { return listComplaints(c, *dsn) }
	return c
}

func userName() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}

// when is the time of --at.
func (f *complaintFlags) when() (time.Time, error) {
	if f.at == "" {
		return time.Now().UTC(), nil
	}
	t, err := time.Parse(time.RFC3339, f.at)
	if err != nil {
		return t, usage("--at %q must be RFC 3339 with an offset, such as 2026-03-01T12:00:00Z", f.at)
	}
	return t.UTC(), nil
}

// named is the stored name of --server.
func (f *complaintFlags) named() (string, error) {
	if f.server == "" {
		return "", usage("--server is missing: name the server it is about")
	}
	name, _ := classify.NameServer(f.server)
	return name, nil
}

func (f *complaintFlags) add(c *cobra.Command, dsn string) error {
	server, err := f.named()
	if err != nil {
		return err
	}
	if !slices.Contains(complaintKinds, f.kind) {
		return usage("--kind %q: must be %s", f.kind, strings.Join(complaintKinds, " or "))
	}
	at, err := f.when()
	if err != nil {
		return err
	}
	if f.id == "" {
		var b [4]byte
		_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the process instead
		f.id = "c-" + hex.EncodeToString(b[:])
	}
	return withStore(dsn, func(s *store.Store) error {
		known, err := s.Complaints(c.Context())
		if err != nil {
			return err
		}
		if slices.ContainsFunc(known, func(k soak.Complaint) bool { return k.ID == f.id && k.Server == server }) {
			return usage("complaint %s of %s is there already: resolve or reopen it", f.id, server)
		}
		if err := s.EnterComplaint(c.Context(), soak.Complaint{
			ID: f.id, Server: server, Kind: f.kind, Action: soak.ComplaintOpen, Ref: f.ref, Note: f.note, By: f.by, At: at,
		}); err != nil {
			return err
		}
		fmt.Fprintln(c.OutOrStdout(), f.id)
		return nil
	})
}

// change resolves or reopens a complaint that is known.
func (f *complaintFlags) change(c *cobra.Command, dsn, action string) error {
	at, err := f.when()
	if err != nil {
		return err
	}
	switch {
	case f.id == "":
		return usage("--id is missing: `collector complaint list` shows the ids")
	case action == soak.ComplaintResolve && f.ref == "":
		return usage("--ref is missing: a resolution needs a reference")
	case action == soak.ComplaintResolve && (f.fixedIn == "") == !f.notOurs:
		return usage("say how it was resolved: --fixed-in VERSION, or --not-ours")
	}
	return withStore(dsn, func(s *store.Store) error {
		known, err := s.Complaints(c.Context())
		if err != nil {
			return err
		}
		var matches []soak.Complaint
		for _, k := range known {
			if k.ID == f.id && k.Action == soak.ComplaintOpen && (f.server == "" || k.Server == f.server) {
				matches = append(matches, k)
			}
		}
		if len(matches) != 1 {
			return usage("%d complaints have the id %q: `collector complaint list` shows the ids, --server tells them apart", len(matches), f.id)
		}
		entry := matches[0]
		entry.Action, entry.Ref, entry.Note, entry.By, entry.At = action, f.ref, f.note, f.by, at
		entry.FixedIn, entry.NotOurs = f.fixedIn, f.notOurs
		return s.EnterComplaint(c.Context(), entry)
	})
}

func (f *complaintFlags) review(c *cobra.Command, dsn string) error {
	server, err := f.named()
	if err != nil {
		return err
	}
	at, err := f.when()
	if err != nil {
		return err
	}
	if f.by == "" {
		return usage("--by is missing: say who looked")
	}
	return withStore(dsn, func(s *store.Store) error {
		return s.EnterReview(c.Context(), soak.Review{Server: server, By: f.by, Note: f.note, At: at})
	})
}

func listComplaints(c *cobra.Command, dsn string) error {
	return withStore(dsn, func(s *store.Store) error {
		complaints, err := s.Complaints(c.Context())
		if err != nil {
			return err
		}
		reviews, err := s.Reviews(c.Context())
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "ID\tSERVER\tKIND\tENTRY\tAT\tBY\tREF\tFIXED IN\tNOTE")
		for _, k := range complaints {
			fixed := k.FixedIn
			if k.NotOurs {
				fixed = "not ours"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, k.Server, k.Kind, k.Action, k.At.UTC().Format(time.RFC3339), k.By, k.Ref, fixed, k.Note)
		}
		for _, r := range reviews {
			fmt.Fprintf(w, "-\t%s\t-\treview\t%s\t%s\t\t\t%s\n", r.Server, r.At.UTC().Format(time.RFC3339), r.By, r.Note)
		}
		return w.Flush()
	})
}
