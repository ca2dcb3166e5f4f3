package main

import (
	"context"
	"fmt"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/soakgate/soakgate/internal/store/embedded"
)

// newClickHouseCommand returns "collector clickhouse": the embedded ClickHouse
// alone, without a collector around it, so that the two can be stopped and
// started apart.
func newClickHouseCommand() *cobra.Command {
	cfg := embedded.NewDefaultConfig()
	cmd := &cobra.Command{
		Use:   "clickhouse",
		Short: "Run the embedded ClickHouse alone, on loopback, until it is told to stop",
		Long: "Opens the embedded ClickHouse on a data folder and serves ClickHouse's HTTP interface on a\n" +
			"loopback address until SIGINT or SIGTERM. Point any ClickHouse client at it:\n\n" +
			"  curl 'http://127.0.0.1:8123/?query=SELECT+version()'\n\n" +
			"There is no access control: user names and passwords are accepted and ignored.",
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runClickHouse(cmd, cfg)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&cfg.Path, "path", "", "data folder, made when absent (required)")
	flags.StringVar(&cfg.Listen, "listen", cfg.Listen, "loopback address of the HTTP interface; port 0 takes a free one")
	flags.StringVar(&cfg.Library, "library", "", "file of libchdb (default: $"+embedded.LibraryEnv+", else what `make engine` installed)")
	flags.Int64Var(&cfg.MemoryLimitMiB, "memory-limit-mib", cfg.MemoryLimitMiB, "memory of the engine as a whole, in MiB")
	if err := cmd.MarkFlagRequired("path"); err != nil {
		panic(err) // the flag is defined above
	}
	return cmd
}

// runClickHouse serves until a signal, then drains within the default deadline.
func runClickHouse(cmd *cobra.Command, cfg embedded.Config) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	logger, err := zap.NewProduction()
	if err != nil {
		return fmt.Errorf("make a logger: %w", err)
	}
	server, err := embedded.Start(ctx, cfg, logger)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(cmd.OutOrStdout(), "http://%s\n", server.Addr()); err != nil {
		logger.Debug("the address could not be printed", zap.Error(err)) // nobody reads standard output
	}
	<-ctx.Done()
	stop() // a second signal ends the process at once
	deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), embedded.DefaultShutdownDeadline)
	defer cancel()
	return server.Shutdown(deadline)
}
