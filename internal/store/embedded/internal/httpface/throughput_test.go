package httpface_test

import (
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/stretchr/testify/require"
)

// BenchmarkInsertThroughClickHouseGo inserts narrow rows in batches, the way a
// writer of the collector does, fsync included.
func BenchmarkInsertThroughClickHouseGo(b *testing.B) {
	const rows = 50_000
	conn := connect(b, clickhouse.CompressionLZ4)
	ctx := b.Context()
	require.NoError(b, conn.Exec(ctx, "CREATE TABLE bench (at DateTime64(3), server LowCardinality(String), tool String, n UInt64) ENGINE = MergeTree ORDER BY at"))
	b.ReportAllocs()
	began := time.Now()
	batches := 0
	for b.Loop() {
		batch, err := conn.PrepareBatch(ctx, "INSERT INTO bench")
		require.NoError(b, err)
		for i := range rows {
			require.NoError(b, batch.Append(began.Add(time.Duration(i)*time.Millisecond), "amazon_sp_mcp", "tool", uint64(i)))
		}
		require.NoError(b, batch.Send())
		batches++
	}
	b.ReportMetric(float64(batches*rows)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkSmallQuery measures what a request costs besides its work: a fresh
// session and the settings that it starts with.
func BenchmarkSmallQuery(b *testing.B) {
	f := newFace(b)
	for b.Loop() {
		f.ok("SELECT 1")
	}
}
