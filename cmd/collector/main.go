// Command collector is Soakgate's distribution of the OpenTelemetry Collector,
// with the subcommands of its own beside the Collector's.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// gcPercent is GOGC where the environment says nothing. What is alive under load
// is small, and to collect half as often costs 50 MB.
const gcPercent = 250

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		version = releaseOf(version, info.Main.Version)
	}
	os.Exit(run(context.Background(), os.Args[1:]))
}

// releaseOf is what the linker set, else what Go noted of the module, as it does
// for `go install` and for builds in a repository.
func releaseOf(linked, module string) string {
	if linked != unreleased || module == "" || module == "(devel)" {
		return linked
	}
	return module
}

// run executes the command line and gives the process's exit status: 1 for an
// error that says nothing else.
func run(ctx context.Context, args []string) int {
	root := newCommand()
	root.SetArgs(args)
	// The Collector itself handles signals on its own, since it must go on
	// working while it shuts down; subcommands simply end.
	if sub, _, err := root.Find(args); err == nil && sub != root {
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
		defer stop()
		// A second signal ends the process at once, should a subcommand be stuck.
		context.AfterFunc(ctx, stop)
	}
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if message := err.Error(); message != "" {
		fmt.Fprintln(os.Stderr, "Error:", message)
	}
	if exit, ok := errors.AsType[*exitError](err); ok {
		return exit.code
	}
	return 1
}
