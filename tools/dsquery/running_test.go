package dsquery

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// program is what `make build` leaves.
const program = "../../bin/collector"

// running is a collector on the embedded ClickHouse.
type running struct{ dsn, grpc, http, metrics string }

// collector runs the built collector until the test ends. It is ready: the schema
// is up to date.
func collector(t *testing.T, args ...string) running {
	t.Helper()
	library, err := filepath.Glob("../../.cache/chdb/*/libchdb.so")
	if err != nil || len(library) == 0 {
		t.Fatal("the embedded ClickHouse is missing: `make engine` installs it")
	}
	absolute, err := filepath.Abs(library[0])
	if err != nil {
		t.Fatal(err)
	}
	clickhouse, r := unused(t), running{grpc: unused(t), http: unused(t), metrics: unused(t)}
	r.dsn = "http://" + clickhouse + "/soakgate"
	_, port, _ := net.SplitHostPort(r.metrics)
	c := exec.Command(program, append([]string{"--config", "../../config/local.yaml"}, args...)...)
	c.Env = append(os.Environ(), "SOAKGATE_DATA="+t.TempDir(), "SOAKGATE_OTLP_GRPC="+r.grpc, "SOAKGATE_OTLP_HTTP="+r.http,
		"SOAKGATE_CLICKHOUSE_LISTEN="+clickhouse, "SOAKGATE_METRICS_PORT="+port, "SOAKGATE_CHDB_LIBRARY="+absolute)
	process(t, c)
	eventually(t, func() error {
		out, err := exec.Command(program, "migrate", "status", "--dsn", r.dsn).CombinedOutput()
		if err != nil {
			return fmt.Errorf("the schema is not up to date: %w\n%s", err, out)
		}
		return nil
	})
	return r
}

// ship sends a scenario's traffic.
func (r running) ship(t *testing.T, scenario string) {
	t.Helper()
	run(t, "ship", "--dsn", r.dsn, "--endpoint", r.grpc, "--scenario", scenario)
}

// judging is a collector that serves the verdict, and a Prometheus that scrapes it.
type judging struct {
	running
	sources Sources
}

func judge(t *testing.T) judging {
	t.Helper()
	prometheus, err := exec.LookPath("prometheus")
	if err != nil {
		t.Fatal("prometheus is missing: Debian's package of that name has it")
	}
	r := collector(t, "--set", "exporters.soakgate.soak.interval=10s", "--set", "exporters.soakgate.soak.policy=../../config/demo-policy.yaml")
	dir, address := t.TempDir(), unused(t)
	config := filepath.Join(dir, "prometheus.yaml")
	text := fmt.Sprintf("global: {scrape_interval: 1s}\nscrape_configs: [{job_name: soakgate, static_configs: [{targets: ['%s']}]}]\n", r.metrics)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	process(t, exec.Command(prometheus, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "tsdb"), "--web.listen-address="+address))
	eventually(t, func() error {
		response, err := http.Get("http://" + address + "/-/ready")
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("prometheus: %s", response.Status)
		}
		return nil
	})
	source, err := OpenClickHouse(r.dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { source.Close() })
	return judging{running: r, sources: Sources{ClickHouse: source, Prometheus: OpenPrometheus("http://" + address)}}
}

// process runs a program until the test ends, and shows the end of what it said
// when the test failed.
func process(t *testing.T, c *exec.Cmd) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		t.Fatalf("start %s (`make build` builds the collector): %v", c.Path, err)
	}
	t.Cleanup(func() {
		_ = c.Process.Signal(os.Interrupt)
		_ = c.Wait()
		if text, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("%s:\n%s", c.Path, text[max(0, len(text)-4000):])
		}
	})
}

// unused is an address that nothing listens on.
func unused(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// patience bounds every wait for what happens soon on a quiet machine.
const patience = 2 * time.Minute

// eventually tries until there is no error.
func eventually(t *testing.T, try func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(500 * time.Millisecond) {
		if err = try(); err == nil {
			return
		}
	}
	t.Fatal(err)
}
