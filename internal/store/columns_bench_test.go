package store

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/classify"
)

// perRequest is how many records the requests of these benchmarks hold.
const perRequest = 512

// judged is a request's records, judged: envelopes, telemetry and calls.
func judged(tb testing.TB) []classify.Record {
	tb.Helper()
	c, err := classify.New()
	require.NoError(tb, err)
	batch := classify.NewBatch(c)
	batch.Reset(at(10, 0, 0), uuid.New())
	records := make([]classify.Record, 0, perRequest)
	for i := range perRequest {
		o := event(classify.EventToolCall, "", at(10, 0, 0), byte(i))
		switch {
		case i%10 < 3:
			o = event(classify.EventErrorEnvelope, envelope("rate_limited", "SP_API_HTTP_429", `,"_meta":{"rate_limit":{"remaining":0},"retry_after_seconds":2}`), at(10, 0, 0), byte(i))
		case i%10 < 6:
			o = event(classify.EventResponseMeta, normalized, at(10, 0, 0), byte(i))
		}
		o.TraceID = [16]byte{byte(i), byte(i >> 8)}
		batch.Classify(&o, func(r *classify.Record) { records = append(records, *r) })
	}
	require.Len(tb, records, perRequest)
	return records
}

func block(c *Columns, records []classify.Record, into []byte) ([]byte, error) {
	c.Reset()
	for i := range records {
		c.Append(&records[i], Place{Seq: uint64(i)})
	}
	return c.AppendPacked(into)
}

// BenchmarkColumns makes the block of a request of 512 records.
func BenchmarkColumns(b *testing.B) {
	records, c := judged(b), NewColumns()
	var buf []byte
	var err error
	b.ReportAllocs()
	for b.Loop() {
		buf, err = block(c, records, buf[:0])
		require.NoError(b, err)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*perRequest), "ns/record")
}

// BenchmarkInsert brings blocks of 512 records into ClickHouse, forty at a time.
func BenchmarkInsert(b *testing.B) {
	s := testStore(b)
	one, err := block(NewColumns(), judged(b), nil)
	require.NoError(b, err)
	var blocks []byte
	for range 40 {
		blocks = append(blocks, one...)
	}
	for b.Loop() {
		require.NoError(b, s.inserter.insert(b.Context(), s.database+".records", recordColumns, blocks))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*40*perRequest), "ns/record")
}

// TestColumnsAllocateLittle guards that columns and dictionaries are reused: a
// block costs what its few distinct texts do, and nothing a record.
func TestColumnsAllocateLittle(t *testing.T) {
	records, c := judged(t), NewColumns()
	buf, err := block(c, records, nil)
	require.NoError(t, err)
	assert.LessOrEqual(t, testing.AllocsPerRun(10, func() {
		buf, err = block(c, records, buf[:0])
	}), float64(perRequest)/8)
	require.NoError(t, err)
}
