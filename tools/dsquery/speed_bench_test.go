package dsquery

import (
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
)

// BenchmarkQueries asks every ClickHouse query of the dashboards over 90 days, all
// variables at All, on the store that $SOAKGATE_BENCH_DSN names: one that
// BenchmarkFigures of internal/store has filled.
func BenchmarkQueries(b *testing.B) {
	dsn := os.Getenv("SOAKGATE_BENCH_DSN")
	if dsn == "" {
		b.Fatal("SOAKGATE_BENCH_DSN names no store")
	}
	c, err := OpenClickHouse(dsn)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	dashboards, err := ReadDashboards("../../dashboards")
	if err != nil {
		b.Fatal(err)
	}
	over := backend.TimeRange{From: time.Now().Add(-90 * 24 * time.Hour), To: time.Now()}
	asked := map[string]bool{}
	for _, d := range dashboards {
		queries, chosen := variables(b, c, d, over, func(listed []string) []string { return listed })
		panels, err := d.Queries()
		if err != nil {
			b.Fatal(err)
		}
		for _, q := range panels {
			if q.Datasource != ClickHouseType {
				continue
			}
			ready, err := q.Ready(chosen, over)
			if err != nil {
				b.Fatal(err)
			}
			queries[q.Place] = ready
		}
		for _, place := range slices.Sorted(maps.Keys(queries)) {
			query := queries[place]
			text, _, err := SQL(query)
			if err != nil {
				b.Fatal(err)
			}
			if asked[text] {
				continue // dashboards share variables and annotations
			}
			asked[text] = true
			b.Run(place, func(b *testing.B) { median(b, c, query) })
		}
	}
}

// median reports the median time of a query beside the mean: one slow answer on a
// busy machine does not move it.
func median(b *testing.B, c *ClickHouse, query backend.DataQuery) {
	var took []time.Duration
	rows := 0
	for b.Loop() {
		started := time.Now()
		frames, err := c.Query(b.Context(), query)
		if err != nil {
			b.Fatal(err)
		}
		took, rows = append(took, time.Since(started)), frames[0].Rows()
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Milliseconds()), "median-ms")
	b.ReportMetric(float64(rows), "rows")
}
