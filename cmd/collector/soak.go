package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/soakgate/soakgate/config"
	"github.com/soakgate/soakgate/internal/soak"
	"github.com/soakgate/soakgate/internal/soak/evidence"
	"github.com/soakgate/soakgate/internal/soak/policy"
	"github.com/soakgate/soakgate/internal/soak/register"
	"github.com/soakgate/soakgate/internal/soak/render"
)

// FiguresReader reads what a verdict rests on, as of an instant. The entries of
// registers come from files and belong to the figures like those of the store: they
// must be known before the current runs are, since overrides bear on those.
type FiguresReader func(ctx context.Context, dsn string, p policy.Policy, at soak.AsOf, registers soak.Registers) (soak.Figures, evidence.Sources, error)

// soakFlags are the flags of collector soak.
type soakFlags struct {
	dsn, policy, asOf, format, evidence, metrics, history string

	registers []string
	allEvents bool
	strata    bool
}

// table is the long table of well-formed calls, where it was asked for (D9).
func (f soakFlags) table(p policy.Policy, figures soak.Figures) []soak.Stratum {
	if !f.strata {
		return nil
	}
	return soak.Strata(p, figures)
}

// newSoakCommand makes `collector soak`. Its exit status is the verdict.
func newSoakCommand(read FiguresReader) *cobra.Command {
	var f soakFlags
	cmd := &cobra.Command{
		Use:   "soak",
		Short: "Say whether the servers may flip, and what that rests on",
		Long: "Judges the soak of MCP_SCHEMA_KEY_NORMALIZATION_META by a policy and says whether the servers may flip\n" +
			"its default on the same day.\n" +
			"Exit status: 0 FLIP, 3 HOLD (too little evidence yet), 4 BLOCK (evidence against), 1 could not tell (the\n" +
			"store could not be read, or what it holds cannot be judged), 2 wrong usage or policy.",
		Example: "  collector soak --dsn http://127.0.0.1:8123/soakgate --evidence soak.json\n" +
			"  collector soak --policy soak-policy.yaml --as-of 2026-12-01T09:00:00Z --format markdown\n" +
			"  collector soak verify soak.json",
		Args:          soakUsageArgs(cobra.NoArgs),
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runSoak(cmd.Context(), cmd.OutOrStdout(), f, time.Now(), read)
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &exitError{code: soak.ExitUsage, err: err} })
	fs := cmd.Flags()
	fs.StringVar(&f.dsn, "dsn", "", "ClickHouse DSN (default $SOAKGATE_DSN, else http://127.0.0.1:8123/soakgate)")
	fs.StringVar(&f.policy, "policy", "", "policy file (default: the built-in config/soak-policy.yaml)")
	fs.StringVar(&f.asOf, "as-of", "", "judge as of this instant, RFC 3339 with offset (default: now)")
	fs.BoolVar(&f.allEvents, "all-events", false, "count what happened before the instant even if it arrived later")
	fs.StringVar(&f.format, "format", "text", "text, json or markdown")
	fs.BoolVar(&f.strata, "strata", false, "add the table of well-formed calls by server, kind, tool and deployment")
	fs.StringVar(&f.evidence, "evidence", "", "write everything the verdict rests on to this file")
	fs.StringVar(&f.metrics, "metrics", "", "write the verdict as Prometheus metrics to this file")
	fs.StringArrayVar(&f.registers, "register", nil, "YAML file with complaints, reviews and overrides; may be given several times")
	fs.StringVar(&f.history, "history", "", "look back so far, hour by hour, for since when the states have stood (such as 48h)")
	cmd.AddCommand(newSoakVerifyCommand())
	return cmd
}

// soakUsageArgs gives wrong arguments their own exit status.
func soakUsageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return &exitError{code: soak.ExitUsage, err: err}
		}
		return nil
	}
}

// soakRequest is what the flags ask for, checked before anything is read.
type soakRequest struct {
	policy    policy.Policy
	at        soak.AsOf
	registers soak.Registers
	hours     int
}

func (f soakFlags) request(now time.Time) (soakRequest, error) {
	var r soakRequest
	if err := checkSoakFormat(f.format); err != nil {
		return r, err
	}
	text := config.SoakPolicy
	if f.policy != "" {
		var err error
		if text, err = os.ReadFile(f.policy); err != nil {
			return r, fmt.Errorf("read the policy: %w", err)
		}
	}
	var err error
	if r.policy, err = policy.Parse(text); err != nil {
		return r, err
	}
	if r.at, err = soak.ParseAsOf(f.asOf, f.allEvents, now); err != nil {
		return r, fmt.Errorf("--as-of: %w", err)
	}
	for _, name := range f.registers {
		text, err := os.ReadFile(name)
		if err != nil {
			return r, fmt.Errorf("read the register: %w", err)
		}
		entries, err := register.Parse(text, r.policy)
		if err != nil {
			return r, fmt.Errorf("%s: %w", name, err)
		}
		r.registers = r.registers.Join(entries)
	}
	if f.history != "" {
		var d policy.Duration
		if err := d.SetText(f.history); err != nil {
			return r, fmt.Errorf("--history: %w", err)
		}
		r.hours = int(d / policy.Hour)
	}
	return r, nil
}

// runSoak reads, judges, writes what was asked for, and gives the verdict as the
// exit status. A verdict that could not be written where it should be is no FLIP.
func runSoak(ctx context.Context, out io.Writer, f soakFlags, now time.Time, read FiguresReader) error {
	r, err := f.request(now)
	if err != nil {
		return &exitError{code: soak.ExitUsage, err: err}
	}
	figures, sources, readErr := read(ctx, f.dsn, r.policy, r.at, r.registers)
	if readErr != nil {
		figures, readErr = soak.Unread(r.at, readErr), fmt.Errorf("read the figures: %w; see that the store is up and --dsn names it", readErr)
	}
	versions := map[string]string{"soakgate": version}
	maps.Copy(versions, sources.Versions)
	sources.Versions = versions
	text, verdict, err := evidence.Encode(r.policy, figures, r.at, sources)
	if err != nil {
		return &exitError{code: soak.ExitCouldNotTell, err: err}
	}
	if r.hours > 0 && readErr == nil {
		soak.MarkSince(&verdict, earlierVerdicts(ctx, f.dsn, r, read))
	}
	failed := readErr
	if readErr == nil || f.format != "text" {
		failed = errors.Join(failed, printVerdict(out, f.format, verdict, f.table(r.policy, figures)))
	} else { // every gate would say the same as the error
		_, err := fmt.Fprintf(out, "COULD NOT TELL  as of %s, policy %s\n", r.at.At.Format(time.RFC3339), r.policy.Name)
		failed = errors.Join(failed, err)
	}
	if f.evidence != "" {
		failed = errors.Join(failed, replaceFile(f.evidence, text))
	}
	if f.metrics != "" {
		metrics, err := render.Prometheus(verdict)
		if err == nil {
			err = replaceFile(f.metrics, metrics)
		}
		failed = errors.Join(failed, err)
	}
	if failed != nil {
		return &exitError{code: soak.ExitCouldNotTell, err: failed}
	}
	return verdictError(verdict.Decision)
}

// verdictError is the exit status of a decision. The output has said the rest.
func verdictError(d soak.Decision) error {
	if d == soak.DecisionFlip {
		return nil
	}
	return &exitError{code: d.ExitCode()}
}

// earlierVerdicts gives the verdicts at the hour marks before, newest first. It ends
// at a mark that cannot be read: since when is then known no further.
func earlierVerdicts(ctx context.Context, dsn string, r soakRequest, read FiguresReader) func(yield func(soak.Verdict) bool) {
	return func(yield func(soak.Verdict) bool) {
		for _, at := range soak.HourMarks(r.at, r.hours) {
			figures, _, err := read(ctx, dsn, r.policy, at, r.registers)
			if err != nil || !yield(soak.Judge(r.policy, figures, at)) {
				return
			}
		}
	}
}

func newSoakVerifyCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:           "verify FILE",
		Short:         "Recompute the verdict from an evidence file alone",
		Long:          "Recomputes the verdict from an evidence file, without a store, and compares every byte.\nExit status: that of the verdict; 1 when the file was altered or cannot be read, 2 for wrong usage.",
		Args:          soakUsageArgs(cobra.ExactArgs(1)),
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkSoakFormat(format); err != nil {
				return &exitError{code: soak.ExitUsage, err: err}
			}
			text, err := os.ReadFile(args[0])
			if err != nil {
				return &exitError{code: soak.ExitCouldNotTell, err: fmt.Errorf("read the evidence: %w", err)}
			}
			e, err := evidence.Verify(text)
			if err != nil {
				return &exitError{code: soak.ExitCouldNotTell, err: fmt.Errorf("%s: %w", args[0], err)}
			}
			err = printVerdict(cmd.OutOrStdout(), format, e.Verdict, nil)
			if err != nil {
				return &exitError{code: soak.ExitCouldNotTell, err: err}
			}
			return verdictError(e.Verdict.Decision)
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &exitError{code: soak.ExitUsage, err: err} })
	cmd.Flags().StringVar(&format, "format", "text", "text, json or markdown")
	return cmd
}

func checkSoakFormat(format string) error {
	switch format {
	case "text", "json", "markdown":
		return nil
	}
	return fmt.Errorf("--format %q: expected text, json or markdown", format)
}

func printVerdict(out io.Writer, format string, v soak.Verdict, strata []soak.Stratum) error {
	var text []byte
	switch format {
	case "json":
		var err error
		if text, err = render.JSON(v); err != nil {
			return err
		}
	case "markdown":
		text = render.Markdown(v, strata)
	default:
		text = render.Text(v, strata, coloured(out))
	}
	if _, err := out.Write(text); err != nil {
		return fmt.Errorf("print the verdict: %w", err)
	}
	return nil
}

// coloured tells whether out is a terminal whose user has not refused colour.
func coloured(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// replaceFile writes a file whole or not at all, so that who reads it meanwhile,
// such as node_exporter, never sees half of it.
func replaceFile(name string, text []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // gone after the rename
	_, err = tmp.Write(text)
	err = errors.Join(err, tmp.Chmod(0o644), tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
