package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/soakgate/soakgate/internal/ship"
	"github.com/soakgate/soakgate/internal/ship/fleet"
)

// shipFlags are the flags of collector ship that are not options of a plan.
type shipFlags struct {
	scenario, format, summary, dsn, until string
	list                                  bool
	retryFor                              time.Duration
}

// newShipCommand builds collector ship. Without a declare function replays are
// shipped undeclared, and the command says so. Its error is nil only when every
// record was acknowledged.
func newShipCommand(declare ship.DeclareReplay) *cobra.Command {
	var o ship.Options
	var f shipFlags
	cmd := &cobra.Command{
		Use:   "ship",
		Short: "Send a synthetic fleet's traffic through OTLP",
		Long: "Sends the traffic of a synthetic fleet of MCP servers with the OpenTelemetry SDK's own OTLP log exporter,\n" +
			"and prints exactly what was acknowledged. Backdated traffic is declared in the store as a replay first.\n" +
			"Headers, certificates and compression come from the OTEL_EXPORTER_OTLP_ variables.\n" +
			"Exit status: 0 all records were acknowledged, 1 not.",
		Args: cobra.NoArgs, SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.list {
				return listScenarios(cmd.OutOrStdout(), f.format)
			}
			return runShip(cmd, declare, o, f)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&o.Endpoint, "endpoint", "", "OTLP endpoint, host:port or URL (default 127.0.0.1:4317, or :4318 for http)")
	fs.StringVar(&o.Protocol, "protocol", ship.ProtocolGRPC, "grpc, or http for protobuf over HTTP")
	fs.StringVar(&f.scenario, "scenario", "fleet", "what to ship, see --list")
	fs.IntVar(&o.Days, "days", 0, "backdate events over so many days, declared as a replay; 0 is now (default: the scenario's)")
	fs.Int64Var(&o.Records, "records", 0, "log records in all (default: the scenario's)")
	fs.Float64Var(&o.Minutes, "minutes", 0, "how long to ship, instead of --records")
	fs.Float64Var(&o.Rate, "rate", 0, "records a second; 0 is as fast as possible")
	fs.Uint64Var(&o.Seed, "seed", 1, "the same seed and options ship the same records")
	fs.IntVar(&o.Batch, "batch", ship.DefaultBatch, "records a request")
	fs.IntVar(&o.Connections, "connections", 1, "requests under way at a time")
	fs.StringVar(&o.ReplayID, "replay-id", "", "mcp.replay.id (default: made from scenario, seed and time when --days is given)")
	fs.StringVar(&o.By, "by", "collector ship", "who ships, for the declaration of the replay")
	fs.StringVar(&f.until, "until", "", "end of the event times, RFC 3339 (default now)")
	fs.DurationVar(&f.retryFor, "retry-for", ship.DefaultRetry.For, "how long to try a request again; 0 is a single try")
	fs.StringVar(&f.dsn, "dsn", cmp.Or(os.Getenv("SOAKGATE_DSN"), "http://127.0.0.1:8123/soakgate"), "store that takes the declaration of a replay")
	fs.StringVar(&f.format, "format", "text", "text or json")
	fs.StringVar(&f.summary, "summary", "", "file to write the summary to, as JSON")
	fs.BoolVar(&f.list, "list", false, "list the scenarios")
	return cmd
}

// runShip declares, ships and reports.
func runShip(cmd *cobra.Command, declare ship.DeclareReplay, o ship.Options, f shipFlags) (err error) {
	if f.format != "text" && f.format != "json" {
		return fmt.Errorf("--format %q: want text or json", f.format)
	}
	if o.Scenario, err = fleet.LookupScenario(f.scenario); err != nil {
		return err
	}
	if !cmd.Flags().Changed("days") && o.Minutes == 0 {
		o.Days = o.Scenario.Days
	}
	if f.until != "" {
		if o.Until, err = time.Parse(time.RFC3339Nano, f.until); err != nil {
			return fmt.Errorf("--until %q: want RFC 3339 with an offset: %w", f.until, err)
		}
	}
	o.Retry = ship.DefaultRetry
	o.Retry.For = f.retryFor
	plan, err := ship.NewPlan(o)
	if err != nil {
		return err
	}
	if r, replayed := plan.Replay(); replayed {
		if err := declareFirst(cmd, declare, f.dsn, r); err != nil {
			return err
		}
	}
	summary, shipErr := plan.Run(cmd.Context())
	var lost *ship.NotAcknowledgedError
	if shipErr != nil && !errors.As(shipErr, &lost) {
		return fmt.Errorf("ship scenario %s: %w", o.Scenario.Name, shipErr)
	}
	if f.summary != "" {
		if err := writeShipSummary(f.summary, summary); err != nil {
			return errors.Join(shipErr, err)
		}
	}
	if f.format == "json" {
		err = writeIndented(cmd.OutOrStdout(), summary)
	} else {
		err = summary.WriteText(cmd.OutOrStdout())
	}
	return errors.Join(shipErr, err)
}

// declareFirst has the replay declared before any of its records can arrive.
func declareFirst(cmd *cobra.Command, declare ship.DeclareReplay, dsn string, r ship.Replay) error {
	if declare == nil {
		_, err := fmt.Fprintf(cmd.ErrOrStderr(), "replay %s was not declared: this build has no store to declare it in\n", r.ID)
		return err
	}
	if err := declare(cmd.Context(), dsn, r); err != nil {
		return fmt.Errorf("declare replay %s (nothing was shipped; --dsn or SOAKGATE_DSN names the store): %w", r.ID, err)
	}
	_, err := fmt.Fprintf(cmd.ErrOrStderr(), "replay %s was declared\n", r.ID)
	return err
}

func listScenarios(w io.Writer, format string) error {
	all := fleet.Scenarios()
	if format == "json" {
		return writeIndented(w, all)
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "SCENARIO\tVERDICT\tDAYS\tRECORDS\tSHIPS")
	for _, s := range all {
		fmt.Fprintf(tw, "%s\t%s\t%d\t%d\t%s\n", s.Name, s.Expect.Verdict, s.Days, s.Records, s.Ships)
	}
	return tw.Flush()
}

func writeShipSummary(path string, s ship.Summary) error {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write the summary: %w", err)
	}
	if err := errors.Join(writeIndented(file, s), file.Close()); err != nil {
		return fmt.Errorf("write the summary to %s: %w", path, err)
	}
	return nil
}

func writeIndented(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
