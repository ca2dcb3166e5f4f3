package ingest

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/soakgate/soakgate/internal/classify"
)

func TestTracestateWeight(t *testing.T) {
	for _, tt := range []struct {
		state string
		want  uint64
	}{
		{"ot=th:0", 1_000_000},
		{"ot=th:8", 2_000_000},        // 1 in 2
		{"ot=th:c", 4_000_000},        // 1 in 4
		{"ot=th:fd70a4", 100_000_095}, // about 1 %, in 24 bits
		{"ot=rv:9b8233f7e3a151;th:8", 2_000_000},
		{"vendor=x, ot=p:8;th:8 ,b=2", 2_000_000},
		{"ot=th:ffffffffffffff", maxWeight}, // one in 2^56
		{"ot=th:fffff", maxWeight},          // one in 2^20, beyond a million
		{"ot=th:ffffe", 524_288_000_000},    // one in 2^19
		{"", 0},
		{"ot=", 0},
		{"ot=th:", 0},
		{"ot=th:xyz", 0},
		{"ot=th:C", 0}, // the digits are of lower case
		{"ot=th:-1", 0},
		{"ot=th:fffffffffffffff", 0}, // 15 digits
		{"notot=th:8", 0},
		{"ot=rv:9b8233f7e3a151", 0},
	} {
		t.Run(tt.state, func(t *testing.T) {
			got, ok := tracestateWeight(tt.state)
			assert.Equal(t, tt.want != 0, ok)
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestSampledWeight(t *testing.T) {
	for _, tt := range []struct {
		name       string
		attributes map[string]any
		want       uint64
	}{
		{"none", nil, 1_000_000},
		{"threshold", map[string]any{"sampling.threshold": "c", "SampleRate": 9}, 4_000_000},
		{"probability", map[string]any{"sampling.probability": 0.25}, 4_000_000},
		{"a third", map[string]any{"sampling.probability": 1.0 / 3}, 3_000_000},
		{"rate", map[string]any{"SampleRate": int64(20)}, 20_000_000},
		{"threshold that is none", map[string]any{"sampling.threshold": "", "SampleRate": 9}, 9_000_000},
		{"zero", map[string]any{"sampling.probability": 0.0, "SampleRate": 0}, 1_000_000},
		{"above one", map[string]any{"sampling.probability": 1.5}, 1_000_000},
		{"not a number", map[string]any{"sampling.probability": math.NaN(), "SampleRate": math.NaN()}, 1_000_000},
		{"infinite", map[string]any{"SampleRate": math.Inf(1)}, 1_000_000},
		{"tiny", map[string]any{"sampling.probability": 1e-300}, maxWeight},
		{"text", map[string]any{"SampleRate": "20"}, 1_000_000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := pcommon.NewMap()
			require.NoError(t, m.FromRaw(tt.attributes))
			assert.Equal(t, tt.want, sampledWeight(m))
		})
	}
}

func TestWeightsReachTheObservation(t *testing.T) {
	traces := ptrace.NewTraces()
	s := span(traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans(), "tools/call x", ptrace.SpanKindServer, 1, 0)
	s.TraceState().FromRaw("ot=th:8")
	s.Attributes().PutInt("SampleRate", 7)
	all, _ := walk(t, traces)
	require.Len(t, all, 1)
	assert.Equal(t, uint64(2_000_000), all[0].SamplingWeight, "the tracestate counts before attributes")

	all, _ = walk(t, logRecord(func(_ pcommon.Resource, r plog.LogRecord) {
		r.Body().SetStr(envelope)
		r.Attributes().PutInt("SampleRate", 7)
	}))
	require.Len(t, all, 1)
	assert.Equal(t, uint64(7*classify.UnsampledWeight), all[0].SamplingWeight)
}
