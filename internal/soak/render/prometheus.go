package render

import (
	"bytes"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"github.com/soakgate/soakgate/internal/soak"
)

// Prometheus is the verdict as metrics in the text format, for a Pushgateway or
// the textfile collector of node_exporter. Labels hold the policy's servers and the
// closed set of gates only (R147).
func Prometheus(v soak.Verdict) ([]byte, error) {
	registry := prometheus.NewRegistry()
	gates := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "soakgate_soak_gate",
		Help: "State of one gate of the soak: 1 pass, 2 waived, 0 hold, -1 block, -2 unknown. Server * stands for all servers.",
	}, []string{"server", "gate"})
	verdict := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "soakgate_soak_verdict",
		Help: "The soak's verdict: 1 FLIP, 0 HOLD, -1 BLOCK, -2 could not tell.",
	})
	for _, c := range []prometheus.Collector{gates, verdict} {
		if err := registry.Register(c); err != nil {
			return nil, fmt.Errorf("write verdict as metrics: %w", err)
		}
	}
	verdict.Set(float64(v.Decision.Number()))
	for _, g := range v.Gates {
		gates.WithLabelValues(g.Server, string(g.Gate)).Set(float64(g.State.Number()))
	}
	families, err := registry.Gather()
	if err != nil {
		return nil, fmt.Errorf("gather metrics of the verdict: %w", err)
	}
	var b bytes.Buffer
	for _, family := range families {
		if _, err := expfmt.MetricFamilyToText(&b, family); err != nil {
			return nil, fmt.Errorf("write verdict as metrics: %w", err)
		}
	}
	return b.Bytes(), nil
}
