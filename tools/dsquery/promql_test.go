package dsquery

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
	"github.com/grafana/grafana-plugin-sdk-go/data"
)

// metric is a metric of ours in an expression.
var metric = regexp.MustCompile(`soakgate_\w+`)

// quiet are counters that a collector has from their first event on: nothing is
// refused and no insert fails here.
var quiet = []string{"soakgate_refused_requests_total", "soakgate_insert_errors_total"}

// TestEveryPromQL asks every query for Prometheus on a Prometheus that scrapes a
// collector: each gives rows, but for counters of what did not happen.
func TestEveryPromQL(t *testing.T) {
	j := judge(t)
	j.ship(t, "fleet")
	dashboards, err := ReadDashboards("../../dashboards")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("../../internal/soakgateexporter/metrics.go")
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, d := range dashboards {
		queries, err := d.Queries()
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range queries {
			if q.Datasource != PrometheusType {
				continue
			}
			asked++
			eventually(t, func() error {
				over := backend.TimeRange{From: time.Now().Add(-5 * time.Minute), To: time.Now()}
				ready, err := q.Ready(Choices{}, over)
				if err != nil {
					return err
				}
				frames, err := j.sources.Query(t.Context(), ready)
				if err != nil {
					return fmt.Errorf("%s: %w", q.Place, err)
				}
				for _, name := range quiet {
					if strings.Contains(string(ready.JSON), name) && strings.Contains(string(source), `"`+name+`"`) {
						return nil
					}
				}
				if len(frames) == 0 || frames[0].Rows() == 0 {
					return fmt.Errorf("%s gave nothing: %s", q.Place, ready.JSON)
				}
				return named(q.Place, ready.JSON, frames)
			})
		}
	}
	if asked < 15 {
		t.Errorf("%d queries were asked", asked)
	}
	t.Logf("%d queries", asked)
}

// named tells whether each series has the labels that its legend names.
func named(place string, query json.RawMessage, frames data.Frames) error {
	var q promQuery
	if err := json.Unmarshal(query, &q); err != nil {
		return err
	}
	for _, m := range placeholder.FindAllStringSubmatch(q.LegendFormat, -1) {
		for _, f := range frames {
			if f.Fields[1].Labels[m[1]] == "" {
				return fmt.Errorf("%s: the legend names %s, and a series has the labels %v", place, m[1], f.Fields[1].Labels)
			}
		}
	}
	return nil
}

// TestAlertsNameMetrics looks up every metric that an alert rule names.
func TestAlertsNameMetrics(t *testing.T) {
	rules, err := os.ReadFile("../../deploy/prometheus/soakgate.rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	instruments := ""
	for _, file := range []string{"metrics.go", "verdict.go"} {
		text, err := os.ReadFile("../../internal/soakgateexporter/" + file)
		if err != nil {
			t.Fatal(err)
		}
		instruments += string(text)
	}
	for _, name := range metric.FindAllString(string(rules), -1) {
		if !strings.Contains(instruments, `"`+strings.TrimSuffix(name, "_bucket")+`"`) {
			t.Errorf("a rule names %s, which the collector does not have", name)
		}
	}
}
