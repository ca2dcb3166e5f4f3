// Command demo shows the whole of Soakgate on one machine: it starts the
// collector on the embedded ClickHouse, ships a small fleet's traffic to it
// through OTLP, waits until all of it is in the rollups, prints what arrived
// and the soak's verdict, and goes on serving until it is interrupted.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	var d demo
	flag.BoolVar(&d.exit, "exit", false, "end after the verdict")
	flag.BoolVar(&d.serve, "serve", false, "ship nothing, only serve")
	flag.StringVar(&d.collector, "collector", "bin/collector", "the collector's program")
	flag.StringVar(&d.config, "config", "config/local.yaml", "the collector's configuration")
	flag.StringVar(&d.policy, "policy", "config/demo-policy.yaml", "the soak's policy")
	flag.StringVar(&d.scenario, "scenario", "demo", "what to ship; collector ship --list names the scenarios")
	flag.Parse()
	d.grpc = fromEnv("SOAKGATE_OTLP_GRPC", "127.0.0.1:4317")
	d.http = fromEnv("SOAKGATE_OTLP_HTTP", "127.0.0.1:4318")
	d.clickhouse = fromEnv("SOAKGATE_CLICKHOUSE_LISTEN", "127.0.0.1:8123")
	d.metrics = "127.0.0.1:" + fromEnv("SOAKGATE_METRICS_PORT", "8888")

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := d.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		stop()
		os.Exit(1)
	}
}

// demo is one run.
type demo struct {
	exit, serve                     bool
	collector, config               string
	policy, scenario                string
	grpc, http, clickhouse, metrics string
}

func (d *demo) run(ctx context.Context) error {
	if err := d.portsFree(); err != nil {
		return err
	}
	collector, err := d.start()
	if err != nil {
		return err
	}
	defer collector.stop()
	if err := collector.waitFor(ctx, d.grpc, d.http, d.clickhouse); err != nil {
		return err
	}
	store := clickhouse{url: "http://" + d.clickhouse + "/"}
	if err := store.waitSchema(ctx); err != nil {
		return err
	}
	say("The collector listens for OTLP on %s (gRPC) and %s (HTTP); ClickHouse answers on http://%s.", d.grpc, d.http, d.clickhouse)

	if !d.serve {
		if err := d.show(ctx, store); err != nil {
			return err
		}
	}
	if d.exit {
		return nil
	}
	say("\nServing until Ctrl-C. Send OTLP to %s, or ask ClickHouse: curl 'http://%s/?query=SELECT+count()+FROM+soakgate.records'", d.grpc, d.clickhouse)
	select {
	case <-ctx.Done():
		return nil
	case <-collector.ended:
		return fmt.Errorf("the collector ended by itself: %w", collector.err)
	}
}

// show ships the scenario, waits until it is counted, and prints what arrived
// and the verdict.
func (d *demo) show(ctx context.Context, store clickhouse) error {
	shipped, err := d.ship(ctx)
	if err != nil {
		return err
	}
	say("Shipped and acknowledged: %d log records, %d of them ours.", shipped.Tally.Records, shipped.ours())
	if err := store.waitSealed(ctx, shipped.ReplayID, shipped.ours()); err != nil {
		return err
	}
	say("Arrived in ClickHouse and sealed into the rollups: %d records.\n", shipped.ours())
	if err := store.print(ctx, shipped.ReplayID); err != nil {
		return err
	}
	return d.verdict(ctx)
}

// portsFree says which address is taken, before anything is started.
func (d *demo) portsFree() error {
	for _, a := range []struct{ name, address string }{
		{"SOAKGATE_OTLP_GRPC", d.grpc},
		{"SOAKGATE_OTLP_HTTP", d.http},
		{"SOAKGATE_CLICKHOUSE_LISTEN", d.clickhouse},
		{"SOAKGATE_METRICS_PORT", d.metrics},
	} {
		l, err := net.Listen("tcp", a.address)
		if err != nil {
			return fmt.Errorf("cannot listen on %s (%w): stop what uses it, or set %s to another address", a.address, err, a.name)
		}
		if err := l.Close(); err != nil {
			return fmt.Errorf("try %s: %w", a.address, err)
		}
	}
	return nil
}

// summary is what `collector ship --summary` writes, as far as the demo reads it.
type summary struct {
	ReplayID string `json:"replay_id"`
	Tally    struct {
		Records int64 `json:"records"`
		Ignored int64 `json:"ignored"`
	} `json:"tally"`
}

// ours counts the records that must arrive.
func (s summary) ours() int64 { return s.Tally.Records - s.Tally.Ignored }

func (d *demo) ship(ctx context.Context) (summary, error) {
	var s summary
	folder, err := os.MkdirTemp("", "soakgate-demo-")
	if err != nil {
		return s, err
	}
	defer func() { _ = os.RemoveAll(folder) }() // a temporary folder
	file := filepath.Join(folder, "shipped.json")
	command := exec.CommandContext(ctx, d.collector, "ship", "--scenario", d.scenario, "--endpoint", d.grpc,
		"--dsn", "http://"+d.clickhouse+"/soakgate", "--summary", file, "--format", "json")
	command.Stderr = os.Stderr
	if err := command.Run(); err != nil {
		return s, fmt.Errorf("ship the scenario %s: %w", d.scenario, err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("read what was shipped: %w", err)
	}
	return s, nil
}

// verdict prints the soak's verdict. HOLD and BLOCK are answers, not failures
// of the demo; anything else is.
func (d *demo) verdict(ctx context.Context) error {
	command := exec.CommandContext(ctx, d.collector, "soak", "--policy", d.policy, "--all-events",
		"--dsn", "http://"+d.clickhouse+"/soakgate")
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	err := command.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && (exit.ExitCode() == 3 || exit.ExitCode() == 4) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("ask for the verdict: %w", err)
	}
	return nil
}

func fromEnv(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}

func say(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// waitPause is the time between two looks at something that is awaited.
const waitPause = 100 * time.Millisecond
