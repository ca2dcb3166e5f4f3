package store

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/classify"
	"github.com/soakgate/soakgate/internal/soak"
	"github.com/soakgate/soakgate/internal/soak/policy"
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

// TestFiguresByHour reads the figures of random traffic before and after its
// hours are sealed: at instants that cut hours, with clocks that run ahead, late
// records, silences and switches within an hour.
func TestFiguresByHour(t *testing.T) {
	s := testStore(t)
	f := newFeed(t, s)
	r := rand.New(rand.NewPCG(4, 2))
	bodies := []string{
		normalized, `{"_meta":{"normalized":[{"kind":"renamed","from":"a"}]}}`, `{"_meta":{"normalized":"none"}}`,
		envelope("internal_error", "INTERNAL_ERROR", ""), envelope("weird_failure", "INTERNAL_ERROR", ""), `{"error_kind":"internal_error","tool":`,
	}
	for range 60 {
		arrival := at(8, 0, 0).Add(time.Duration(r.IntN(9*3600)) * time.Second)
		var observations []classify.Observation
		for range 1 + r.IntN(8) {
			o := event(classify.EventErrorEnvelope, bodies[r.IntN(len(bodies))], arrival.Add(-time.Duration(r.IntN(4000)-400)*time.Second), byte(1+r.IntN(250)))
			if r.IntN(3) == 0 {
				o = event(classify.EventToolCall, "", arrival.Add(-time.Duration(r.IntN(90))*time.Second), byte(1+r.IntN(250)))
			}
			o.TraceID = [16]byte{byte(r.IntN(250)), byte(r.IntN(250)), 1}
			o.Tool = []string{"get_order", "list_orders"}[r.IntN(2)]
			src := *o.Source
			src.Server = []string{"amazon_sp_mcp", "amazon_ads_mcp"}[r.IntN(2)]
			src.Deployment = []string{"d1", "d2"}[r.IntN(2)]
			src.Instance = []string{"i1", "i2"}[r.IntN(2)]
			src.Option = []classify.Switch{classify.SwitchOn, classify.SwitchOn, classify.SwitchOff}[r.IntN(3)]
			o.Source = &src
			observations = append(observations, o)
		}
		f.send(arrival, observations...)
	}
	for seal(t, s) > 0 {
	}
	p := policy.Default()
	p.Servers = []policy.Server{{Name: "amazon_sp_mcp"}, {Name: "amazon_ads_mcp", Anchor: at(9, 17, 0)}}
	instants := []soak.AsOf{
		{At: at(12, 0, 0)}, {At: at(13, 37, 0)}, {At: at(13, 37, 0), AllEvents: true}, {At: at(23, 0, 0)}, {At: at(36, 20, 0)},
	}
	read := func() (all []string) {
		for _, asOf := range instants {
			figures, _, err := s.Figures(t.Context(), p, asOf, soak.Registers{})
			require.NoError(t, err)
			text, err := json.MarshalIndent(figures, "", " ")
			require.NoError(t, err)
			assert.NotContains(t, string(text), `"error"`)
			all = append(all, string(text))
		}
		return all
	}
	before := read()
	require.Positive(t, sealHours(t, s))
	assert.Positive(t, count(t, s, "count() FROM DB.activity_by_hour WHERE first != hour"))
	for i, after := range read() {
		assert.Equal(t, before[i], after, "as of %v", instants[i])
	}
	require.NoError(t, s.conn.Exec(t.Context(), "ALTER TABLE "+s.database+".activity_by_hour DELETE WHERE true SETTINGS mutations_sync = 1"))
	assert.NotEqual(t, before[3], read()[3], "the hours are what is read")
}
