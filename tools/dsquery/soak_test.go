package dsquery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
	"github.com/grafana/grafana-plugin-sdk-go/data"
)

// verdict is what the test reads of `collector soak --format json`.
type verdict struct {
	Decision string
	Gates    []struct {
		Server, Gate, State, Observed string
		Measure                       struct{ Numerator, Denominator int64 }
	}
}

var (
	gateNumbers    = map[string]float64{"pass": 1, "waived": 2, "hold": 0, "block": -1, "unknown": -2}
	verdictNumbers = map[string]float64{"FLIP": 1, "HOLD": 0, "BLOCK": -1, "could not tell": -2}
)

// judging is a collector that serves the verdict, and a Prometheus that scrapes it.
type judging struct {
	dsn, otlp string
	sources   Sources
}

// process runs a program until the test ends.
func process(t *testing.T, c *exec.Cmd) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		t.Fatalf("start %s: %v", c.Path, err)
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

func judge(t *testing.T) judging {
	t.Helper()
	prometheus, err := exec.LookPath("prometheus")
	if err != nil {
		t.Fatal("prometheus is missing: Debian's package of that name has it")
	}
	clickhouse, otlp, metrics, scraper := unused(t), unused(t), unused(t), unused(t)
	_, port, _ := net.SplitHostPort(metrics)
	library, err := filepath.Glob("../../.cache/chdb/*/libchdb.so")
	if err != nil || len(library) == 0 {
		t.Fatal("the embedded ClickHouse is missing: `make engine` installs it")
	}
	absolute, _ := filepath.Abs(library[0])
	c := exec.Command("../../bin/collector", "--config", "../../config/local.yaml",
		"--set", "exporters.soakgate.soak.interval=10s", "--set", "exporters.soakgate.soak.policy=../../config/demo-policy.yaml")
	c.Env = append(os.Environ(), "SOAKGATE_DATA="+t.TempDir(), "SOAKGATE_OTLP_GRPC="+otlp, "SOAKGATE_OTLP_HTTP="+unused(t),
		"SOAKGATE_CLICKHOUSE_LISTEN="+clickhouse, "SOAKGATE_METRICS_PORT="+port, "SOAKGATE_CHDB_LIBRARY="+absolute)
	process(t, c)

	dir := t.TempDir()
	config := filepath.Join(dir, "prometheus.yaml")
	text := fmt.Sprintf("global: {scrape_interval: 1s}\nscrape_configs: [{job_name: soakgate, static_configs: [{targets: ['%s']}]}]\n", metrics)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	process(t, exec.Command(prometheus, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "tsdb"), "--web.listen-address="+scraper))

	j := judging{dsn: "http://" + clickhouse + "/soakgate", otlp: otlp}
	eventually(t, func() error {
		response, err := http.Get("http://" + scraper + "/-/ready")
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("prometheus: %s", response.Status)
		}
		return exec.Command("../../bin/collector", "migrate", "status", "--dsn", j.dsn).Run()
	})
	source, err := OpenClickHouse(j.dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { source.Close() })
	j.sources = Sources{ClickHouse: source, Prometheus: OpenPrometheus("http://" + scraper)}
	return j
}

// eventually tries until there is no error, at most two minutes.
func eventually(t *testing.T, try func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(500 * time.Millisecond) {
		if err = try(); err == nil {
			return
		}
	}
	t.Fatal(err)
}

// soak is the verdict as the command line gives it.
func (j judging) soak() (verdict, error) {
	var v verdict
	out, err := exec.Command("../../bin/collector", "soak", "--dsn", j.dsn, "--policy", "../../config/demo-policy.yaml", "--format", "json").Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() < 3) {
		return v, fmt.Errorf("collector soak: %w", err) // 3 and 4 are HOLD and BLOCK
	}
	if err := json.Unmarshal(out, &v); err != nil {
		return v, fmt.Errorf("read the verdict: %w", err)
	}
	return v, nil
}

// month is the Soak dashboard's own time range.
func month() backend.TimeRange {
	return backend.TimeRange{From: time.Now().Add(-30 * 24 * time.Hour), To: time.Now()}
}

// everything chooses all values of all variables, in production.
func (j judging) everything(over backend.TimeRange) (Choices, error) {
	chosen := Choices{"environment": {Values: []string{"production"}, Multi: true}}
	for _, name := range []string{"server", "deployment", "server_version", "tool"} {
		frames, err := j.sources.ClickHouse.Query(context.Background(), backend.DataQuery{RefID: "V", TimeRange: over, JSON: fmt.Appendf(nil,
			`{"rawSql":"SELECT DISTINCT toString(%[1]s) AS v FROM soakgate.calls_by_minute ORDER BY v","format":1}`, name)})
		if err != nil {
			return nil, err
		}
		values := []string{}
		for row := range frames[0].Rows() {
			values = append(values, cell(frames[0], "v", row))
		}
		chosen[strings.TrimPrefix(name, "server_")] = Choice{Values: values, Multi: true}
	}
	return chosen, nil
}

// panel asks the first query of a dashboard's panel.
func (j judging) panel(dashboard, title string) (*data.Frame, error) {
	all, err := ReadDashboards("../../dashboards")
	if err != nil {
		return nil, err
	}
	over := month()
	chosen, err := j.everything(over)
	if err != nil {
		return nil, err
	}
	for _, d := range all {
		queries, err := d.Queries()
		if err != nil {
			return nil, err
		}
		for _, q := range queries {
			if d.UID != "soakgate-"+dashboard || q.Panel == nil || q.Panel.Title != title {
				continue
			}
			ready, err := q.Ready(chosen, over)
			if err != nil {
				return nil, err
			}
			frames, err := j.sources.Query(context.Background(), ready)
			if err != nil {
				return nil, err
			}
			if len(frames) == 0 || frames[0].Rows() == 0 {
				return nil, fmt.Errorf("%s gave nothing", q.Place)
			}
			return frames[0], nil
		}
	}
	return nil, fmt.Errorf("%s has no panel %q", dashboard, title)
}

// cell is a value as text.
func cell(f *data.Frame, name string, row int) string {
	field, _ := f.FieldByName(name)
	if field == nil {
		return "no column " + name
	}
	value, _ := field.ConcreteAt(row)
	return fmt.Sprint(value)
}

// TestSoakDashboardTellsTheVerdict holds the Soak dashboard to the command line:
// the same gates in the same states, and the same figures.
func TestSoakDashboardTellsTheVerdict(t *testing.T) {
	j := judge(t)
	if out, err := exec.Command("../../bin/collector", "ship", "--dsn", j.dsn, "--endpoint", j.otlp, "--scenario", "demo").CombinedOutput(); err != nil {
		t.Fatalf("ship: %v\n%s", err, out)
	}
	// The verdict is of one instant, the metrics of another: they meet once all is sealed.
	eventually(t, func() error {
		v, err := j.soak()
		if err != nil {
			return err
		}
		if v.Decision != "BLOCK" {
			return fmt.Errorf("the demo's verdict is BLOCK, and collector soak says %s", v.Decision)
		}
		return errors.Join(j.sameGates(v), j.sameFigures(v))
	})
}

func (j judging) sameGates(v verdict) error {
	decision, err := j.panel("soak", "Verdict")
	if err != nil {
		return err
	}
	want, got := map[string]float64{}, map[string]float64{}
	value, _ := decision.Fields[1].FloatAt(0)
	got["verdict"], want["verdict"] = value, verdictNumbers[v.Decision]
	gates, err := j.panel("soak", "Gates by server")
	if err != nil {
		return err
	}
	number, _ := gates.FieldByName("Value")
	for row := range gates.Rows() {
		got[cell(gates, "server", row)+" "+cell(gates, "gate", row)], _ = number.FloatAt(row)
	}
	for _, g := range v.Gates {
		want[g.Server+" "+g.Gate] = gateNumbers[g.State]
	}
	if !maps.Equal(want, got) {
		return fmt.Errorf("gates differ: soak says\n%v\nthe dashboard\n%v", want, got)
	}
	return nil
}

// sameFigures compares numbers that both give, by server.
func (j judging) sameFigures(v verdict) error {
	want, got := map[string]string{}, map[string]string{}
	for _, g := range v.Gates {
		m := g.Measure
		switch {
		case g.Server == "*":
		case g.Gate == "scope":
			want[g.Server+" calls"] = fmt.Sprint(m.Numerator)
		case g.Gate == "malformed":
			want[g.Server+" malformed of blocks"] = fmt.Sprintf("%d of %d", m.Numerator, m.Denominator)
		case g.Gate == "bytes":
			want[g.Server+" bytes"], _, _ = strings.Cut(g.Observed, ";")
		case g.Gate == "share":
			want[g.Server+" share"] = fmt.Sprintf("%.9f", float64(m.Numerator)/float64(m.Denominator))
		case g.Gate == "deployments":
			want[g.Server+" deployments"] = fmt.Sprint(m.Numerator)
		case g.Gate == "duration":
			want[g.Server+" days"] = fmt.Sprintf("%.1f", float64(m.Numerator)/86400)
		}
	}
	blocks, err1 := j.panel("soak", "Blocks by version")
	deployments, err2 := j.panel("soak", "Deployments")
	days, err3 := j.panel("soak", "Days done of 14")
	calls, err4 := j.panel("errors", "Servers and versions")
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	for row := range blocks.Rows() {
		c := func(name string) string { return cell(blocks, name, row) }
		got[c("server")+" malformed of blocks"] = c("malformed") + " of " + c("blocks")
		got[c("server")+" bytes"] = fmt.Sprintf("p50 %s, p95 %s, p99 %s, max %s bytes", c("p50"), c("p95"), c("p99"), c("largest"))
		share, _ := blocks.FieldByName("share")
		value, _ := share.FloatAt(row)
		got[c("server")+" share"] = fmt.Sprintf("%.9f", value)
	}
	counted := map[string]int{}
	for row := range deployments.Rows() {
		if cell(deployments, "counts", row) == "yes" {
			counted[cell(deployments, "server", row)]++
		}
	}
	for server, n := range counted {
		got[server+" deployments"] = fmt.Sprint(n)
	}
	elapsed, _ := days.FieldByName("days")
	for row := range days.Rows() {
		value, _ := elapsed.FloatAt(row)
		got[cell(days, "server", row)+" days"] = fmt.Sprintf("%.1f", value)
	}
	for row := range calls.Rows() {
		got[cell(calls, "server", row)+" calls"] = cell(calls, "calls", row)
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if want[name] != got[name] {
			errs = append(errs, fmt.Errorf("%s: soak says %s, the dashboard %s", name, want[name], got[name]))
		}
	}
	if len(want) < 12 {
		errs = append(errs, fmt.Errorf("only %d figures were compared", len(want)))
	}
	return errors.Join(errs...)
}
