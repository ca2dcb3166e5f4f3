package dsquery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os/exec"
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

// soak is the verdict as the command line gives it.
func (j judging) soak() (verdict, error) {
	var v verdict
	out, err := exec.Command(program, "soak", "--dsn", j.dsn, "--policy", "../../config/demo-policy.yaml", "--format", "json").Output()
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
	chosen := Choices{"environment": {"production"}}
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
		chosen[strings.TrimPrefix(name, "server_")] = values
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
	j.ship(t, "demo")
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
