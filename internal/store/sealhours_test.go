package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/classify"
)

// hourly compares what the views by hour tell with what the minutes hold.
func hourly(t *testing.T, s *Store) {
	t.Helper()
	for name, sums := range map[string]string{
		"calls":       "sum(x.calls), sum(x.weighted_calls), sum(x.duration_ns_sum), sum(x.duration_count)",
		"errors":      "sum(x.errors), sum(x.unreadable), sum(x.cut), sum(x.weighted_errors)",
		"rate_limits": "sum(x.records), min(x.least_remaining), sum(x.at_zero), sum(x.retry_after_count), sum(x.retry_after_ms_sum), max(x.retry_after_ms_max)",
	} {
		read := func(hour, table string) any {
			return ask(t, s, fmt.Sprintf("SELECT toString(%s) AS at_hour, tool, instance, %s FROM DB.%s AS x GROUP BY at_hour, tool, instance ORDER BY ALL", hour, sums, table))
		}
		assert.Equal(t, read("toStartOfHour(x.minute)", name+"_by_minute_unique"), read("x.hour", name+"_hourly"), name)
	}
}

func sealHours(t *testing.T, s *Store) int {
	t.Helper()
	sealer, err := NewSealer(s, uuid.New())
	require.NoError(t, err)
	n, err := sealer.SealHours(t.Context())
	require.NoError(t, err)
	return n
}

func settledThrough(t *testing.T, s *Store) string {
	t.Helper()
	return ask(t, s, "SELECT toString(through) AS through FROM DB.hours_settled")[0]["through"].(string)
}

// TestHours seals hours, changes one afterwards, and has the views tell what the
// minutes hold at each step.
func TestHours(t *testing.T) {
	s := testStore(t)
	f := newFeed(t, s)
	limited := event(classify.EventErrorEnvelope, envelope("rate_limited", "SP_API_HTTP_429", `,"_meta":{"rate_limit":{"remaining":0},"retry_after_seconds":2}`), at(9, 59, 58), 9)
	ahead := event(classify.EventErrorEnvelope, envelope("internal_error", "INTERNAL_ERROR", ""), at(13, 0, 0), 8)
	f.send(at(10, 0, 0), failureOf(1), failureOf(2), limited)
	f.send(at(10, 59, 59).Add(500*time.Millisecond), failureOf(3))
	f.send(at(11, 0, 0), failureOf(4), ahead)
	seal(t, s)
	hourly(t, s)
	assert.Equal(t, at(10, 0, 0).Format(time.DateTime), settledThrough(t, s))

	assert.Equal(t, 2, sealHours(t, s))
	assert.Equal(t, at(12, 0, 0).Format(time.DateTime), settledThrough(t, s))
	assert.Equal(t, 6, count(t, s, "sum(calls) FROM DB.calls_by_hour FINAL"))
	assert.Equal(t, 7200, count(t, s, "max(lead) FROM DB.calls_by_hour FINAL"), "an event two hours ahead of its arrival")
	hourly(t, s)
	assert.Zero(t, sealHours(t, s), "nothing changed")

	// A late slice takes a count away from a settled hour.
	f.send(at(9, 30, 0), failureOf(3))
	seal(t, s)
	seal(t, s)
	assert.Equal(t, at(9, 0, 0).Format(time.DateTime), settledThrough(t, s))
	hourly(t, s)
	assert.Equal(t, 2, sealHours(t, s))
	hourly(t, s)
	assert.Equal(t, 6, count(t, s, "sum(calls) FROM DB.calls_by_hour FINAL"))

	// The hour under way stays with the minutes.
	f.send(time.Now(), failureOf(5))
	seal(t, s)
	assert.Zero(t, sealHours(t, s))
	hourly(t, s)
	assert.Equal(t, 7, count(t, s, "sum(calls) FROM DB.calls_hourly"))
}

// TestASliceSealedWhileItsHourIs has the hour read before the slice's rows are there.
func TestASliceSealedWhileItsHourIs(t *testing.T) {
	s := testStore(t)
	f := newFeed(t, s)
	f.send(at(10, 0, 0), failureOf(1))
	seal(t, s)
	f.send(at(10, 1, 0), failureOf(2))
	sealer, err := NewSealer(s, uuid.New())
	require.NoError(t, err)
	began, err := sealer.now(t.Context())
	require.NoError(t, err)
	sealHours(t, s)
	// A seal that began before the hour's, and wrote after it.
	require.NoError(t, s.conn.Exec(t.Context(), fmt.Sprintf(
		"INSERT INTO %s.slice_seals (slice, version, sealed_at, collector, records, calls) SELECT %s, %s, now64(6), generateUUIDv4(), 1, 1", s.database, dateTime(at(10, 1, 0)), dateTimeMicro(began))))
	assert.Equal(t, 1, sealHours(t, s))
}
