package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// TestKafka reads more from a topic than the journal takes while ClickHouse is
// away, is killed in the middle, and finds each message's records once. A message
// that is no OTLP holds nothing up.
func TestKafka(t *testing.T) {
	const messages, perMessage = 120, 25
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(3, "otlp_logs", "otlp_spans"))
	require.NoError(t, err)
	defer cluster.Close()
	producer, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.DefaultProduceTopic("otlp_logs"))
	require.NoError(t, err)
	defer producer.Close()
	for i := range messages {
		body, err := failures(i*perMessage, (i+1)*perMessage).MarshalProto()
		require.NoError(t, err)
		require.NoError(t, producer.ProduceSync(t.Context(), &kgo.Record{Value: body}).FirstErr())
		if i == 10 {
			require.NoError(t, producer.ProduceSync(t.Context(), &kgo.Record{Value: []byte("\xff no OTLP")}).FirstErr())
		}
	}

	s := newWithStore(t, "kafka.yaml", "SOAKGATE_KAFKA_BROKERS="+cluster.ListenAddrs()[0])
	s.launch()
	s.waitRefused(2)
	s.kill()
	s.launch()
	s.waitRefused(2)
	s.startStore()
	s.exactly(messages * perMessage)
	require.NoError(t, s.terminate(), s.output)
}
