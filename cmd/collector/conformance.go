package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/soakgate/soakgate/internal/conformance"
)

// Exit statuses of collector conformance.
const (
	conformanceViolates = 1 // some payload, or an item of the suite, does not conform
	conformanceUsage    = 2 // wrong usage, unreadable input, or a run that could not be recorded
)

// conformanceFlags are the flags of collector conformance.
type conformanceFlags struct{ format, record string }

// newConformanceCommand makes `collector conformance`. Without a recorder a run
// cannot be recorded, and --record is an error.
func newConformanceCommand(record conformance.Recorder) *cobra.Command {
	var o conformance.Options
	var f conformanceFlags
	cmd := &cobra.Command{
		Use:   "conformance PATH...",
		Short: "Judge payloads by the error envelope contract and decide the items of its conformance suite",
		Long: "Judges payloads by the error envelope contract and decides the six items of its conformance suite.\n" +
			"PATH is a file, a folder, or - for standard input, one payload a line. Of a name that ends in .json one\n" +
			"payload is read, .jsonl one a line, .txt one raw text. In JSON a string is text as a carrier would hold\n" +
			"it (\"ToolError: {...}\"), and an object is the payload itself. Links to folders within a folder are not\n" +
			"followed.\n" +
			"Exit status: 0 all conform, 1 some do not, 2 wrong usage, unreadable input, or nothing tested.",
		Example: "  collector conformance fixtures/ --server amazon_ads_mcp --server-version 1.12.0 --capabilities capabilities.json\n" +
			"  collector conformance --format junit fixtures/ > conformance.xml",
		Args:          conformanceArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, paths []string) error {
			o.Paths, o.In, o.At = paths, cmd.InOrStdin(), time.Now()
			if w, ok := cmd.ErrOrStderr().(*os.File); ok {
				o.Progress = conformance.Terminal(w)
			}
			return runConformance(cmd.Context(), cmd.OutOrStdout(), o, f, record)
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &exitError{code: conformanceUsage, err: err} })
	fs := cmd.Flags()
	fs.StringVar(&f.format, "format", "text", "text, json or junit")
	fs.StringVar(&o.Server, "server", "", "the server that made the payloads, as its service.name says")
	fs.StringVar(&o.ServerVersion, "server-version", "", "the server's version")
	fs.StringVar(&o.Capabilities, "capabilities", "", "file with the server's capability object, for item 5")
	fs.StringVar(&o.SuiteVersion, "suite-version", "", "version of the suite to report (default: that of the built-in contract); not with --record")
	fs.StringVar(&f.record, "record", "", "ClickHouse DSN of the store that keeps the run for the soak; needs --server and --server-version")
	return cmd
}

func conformanceArgs(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return &exitError{code: conformanceUsage, err: errors.New("name a file or folder with payloads, or - for standard input")}
	}
	return nil
}

// runConformance runs, reports, and maps what came of it to an exit status.
func runConformance(ctx context.Context, out io.Writer, o conformance.Options, f conformanceFlags, record conformance.Recorder) error {
	report, err := conformanceReport(f.format, out)
	if err != nil {
		return &exitError{code: conformanceUsage, err: err}
	}
	if f.record != "" {
		if record == nil {
			return &exitError{code: conformanceUsage, err: errors.New("record the run: this build has no store to keep it in; run without --record")}
		}
		if o.Server == "" || o.ServerVersion == "" {
			return &exitError{code: conformanceUsage, err: errors.New("record the run: the soak asks by server and version; add --server and --server-version")}
		}
		if o.SuiteVersion != "" {
			return &exitError{code: conformanceUsage, err: errors.New("record the run: the soak trusts the version of the suite that is recorded, so it must be that of the suite that ran; leave out --suite-version or --record")}
		}
	}
	run, err := conformance.Execute(ctx, o, report)
	if err != nil {
		return &exitError{code: conformanceUsage, err: err}
	}
	if f.record != "" {
		if err := record(ctx, f.record, *run); err != nil {
			return &exitError{code: conformanceUsage, err: fmt.Errorf("record the run, which is reported above: %w", err)}
		}
	}
	if !run.Conforms() {
		return &exitError{code: conformanceViolates} // the report has said it
	}
	return nil
}

func conformanceReport(format string, out io.Writer) (conformance.Report, error) {
	switch format {
	case "text":
		return conformance.NewText(out)
	case "json":
		return conformance.NewJSON(out), nil
	case "junit":
		return conformance.NewJUnit(out), nil
	}
	return nil, fmt.Errorf("--format %q: expected text, json or junit", format)
}
