package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/classify"
)

// multiply fills records with copies of what is there, each a record of its own
// with a call of its own, spread evenly over [from, to) by arrival.
func multiply(b testing.TB, s *Store, rows int, from, to time.Time) {
	b.Helper()
	have := count(b, s, "count() FROM DB.template")
	const perInsert = 100_000
	for at := 0; at < rows; at += perInsert {
		n := min(perInsert, rows-at)
		begin := from.Add(time.Duration(int64(to.Sub(from)) / int64(rows) * int64(at)))
		step := int64(to.Sub(from)) / int64(rows) // nanoseconds between arrivals
		require.NoError(b, s.conn.Exec(b.Context(), fmt.Sprintf(`INSERT INTO %[1]s.records
SELECT * EXCEPT (copy, i) REPLACE (
    toDateTime64(fromUnixTimestamp64Nano(%[2]d + %[3]d * i), 3, 'UTC') AS received_at,
    toDateTime64(fromUnixTimestamp64Nano(%[2]d + %[3]d * i - 2000000000), 9, 'UTC') AS observed_at,
    toStartOfMinute(fromUnixTimestamp64Nano(%[2]d + %[3]d * i - 2000000000)) AS sent_minute,
    reinterpretAsUUID(sipHash128(record_id, i + %[4]d)) AS record_id,
    if(call_key IS NULL, NULL, sipHash64(call_key, copy + %[4]d)) AS call_key,
    toUInt64(18446744073709551615 - intDiv(%[2]d + %[3]d * i, 1000000)) AS arrival_rank)
FROM (SELECT template.*, number AS copy, rowNumberInAllBlocks() AS i FROM %[1]s.template CROSS JOIN numbers(%[5]d) AS n)
WHERE i < %[6]d`, s.database, begin.UnixNano(), step, at, n/have+1, n)))
	}
}

// template makes a table of a few thousand records of every kind.
func template(b testing.TB, s *Store) {
	b.Helper()
	f := newFeed(b, s)
	var all []classify.Observation
	for i := range 5000 {
		var o classify.Observation
		switch i % 5 {
		case 0:
			o = event(classify.EventErrorEnvelope, envelope("rate_limited", "SP_API_HTTP_429", `,"_meta":{"rate_limit":{"remaining":0},"retry_after_seconds":2}`), at(10, 0, 0), 0)
		case 1:
			o = event(classify.EventResponseMeta, normalized, at(10, 0, 0), 0)
		default:
			o = event(classify.EventToolCall, "", at(10, 0, 0), 0)
		}
		o.TraceID, o.SpanID = [16]byte{1, byte(i >> 8), byte(i)}, [8]byte{1, byte(i >> 9), byte(i / 2)}
		o.Tool = fmt.Sprint("tool_", i%40)
		all = append(all, o)
	}
	f.send(at(10, 0, 0), all...)
	require.NoError(b, s.conn.Exec(b.Context(), "RENAME TABLE "+s.database+".records TO "+s.database+".template"))
	require.NoError(b, s.conn.Exec(b.Context(), "CREATE TABLE "+s.database+".records AS "+s.database+".template"))
}

// BenchmarkSeal seals a slice of 60,000 records, a thousand a second, in a table
// of 3.6 million, an hour's worth.
func BenchmarkSeal(b *testing.B) {
	s := testStore(b)
	template(b, s)
	multiply(b, s, 3_600_000, at(11, 0, 0), at(12, 0, 0))
	sealer, err := NewSealer(s, uuid.New())
	require.NoError(b, err)
	took := map[string]time.Duration{}
	sealer.took = func(name string, d time.Duration) { took[name] += d }
	for b.Loop() {
		require.NoError(b, sealer.Seal(b.Context(), at(11, 59, 0)))
	}
	for name, d := range took {
		b.ReportMetric(float64(d.Milliseconds())/float64(b.N), name+"-ms")
	}
	require.Equal(b, 60_000, count(b, s, "sum(records) FROM DB.slice_seals FINAL"))
}
