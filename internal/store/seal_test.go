package store

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/internal/classify"
	"github.com/soakgate/soakgate/internal/soak"
	"github.com/soakgate/soakgate/internal/soak/policy"
	"github.com/soakgate/soakgate/internal/store/sql"
)

// failure is an envelope of a call of its own.
func failureOf(span byte) classify.Observation {
	return event(classify.EventErrorEnvelope, envelope("internal_error", "INTERNAL_ERROR", ""), at(10, 0, 0), span)
}

// rollups are the counts of all rollups, without what differs from seal to seal.
func rollups(t testing.TB, s *Store) string {
	t.Helper()
	var b strings.Builder
	for _, table := range []string{
		"errors_by_minute", "normalizations_by_minute", "violations_by_minute", "warnings_by_minute",
		"rate_limits_by_minute", "calls_by_minute", "activity_by_minute", "blocks_by_minute", "lateness_by_day",
	} {
		fmt.Fprint(&b, table, ask(t, s, "SELECT * EXCEPT version FROM DB."+table+" FINAL ORDER BY ALL"), "\n")
	}
	return b.String()
}

// TestRecordsLieInOrderOfTime holds that the sorting key puts records as they were
// sent, whatever else their ids are made of: merges and codecs rest on that.
func TestRecordsLieInOrderOfTime(t *testing.T) {
	s := testStore(t)
	f := newFeed(t, s)
	var sent []classify.Observation
	for i := range 200 {
		sent = append(sent, event(classify.EventToolCall, "", at(10, 0, 0).Add(time.Duration(i)*time.Millisecond), byte(i)))
	}
	rand.Shuffle(len(sent), func(i, j int) { sent[i], sent[j] = sent[j], sent[i] })
	f.send(at(10, 0, 1), sent...)
	rows := ask(t, s, "SELECT toString(observed_at) AS time FROM DB.records ORDER BY server, sent_minute, record_id")
	require.Len(t, rows, len(sent))
	assert.True(t, slices.IsSortedFunc(rows, func(a, b map[string]any) int {
		return strings.Compare(a["time"].(string), b["time"].(string))
	}))
}

// TestLateSlicesTakeTheCount sends slices after later ones were sealed: what
// they hold first counts with them, and no longer where it counted before.
func TestLateSlicesTakeTheCount(t *testing.T) {
	call := event(classify.EventToolCall, "", at(10, 0, 0), 1)
	call.Outcome = classify.OutcomeSuccess
	meta := event(classify.EventResponseMeta, normalized, at(10, 0, 0), 1)
	for _, tt := range []struct {
		name        string
		sealed      map[int][]classify.Observation // by minute, sealed first
		late        map[int][]classify.Observation
		again       int // slices that the late ones make dirty besides themselves
		calls, errs int
	}{
		{"a copy of a record", map[int][]classify.Observation{5: {failureOf(1)}}, map[int][]classify.Observation{1: {failureOf(1)}}, 1, 1, 1},
		{"copies in several slices", map[int][]classify.Observation{5: {failureOf(1)}, 7: {failureOf(1), failureOf(2)}}, map[int][]classify.Observation{1: {failureOf(1)}}, 2, 2, 2},
		{"a copy hours later", map[int][]classify.Observation{300: {failureOf(1)}}, map[int][]classify.Observation{1: {failureOf(1)}}, 1, 1, 1},
		{"a copy on the next day", map[int][]classify.Observation{24 * 60: {failureOf(1)}}, map[int][]classify.Observation{1: {failureOf(1)}}, 1, 1, 1},
		{"a twin of the call", map[int][]classify.Observation{5: {failureOf(1)}}, map[int][]classify.Observation{1: {call}}, 1, 1, 1},
		{"a twin that tells the same", map[int][]classify.Observation{5: {meta}}, map[int][]classify.Observation{1: {event(classify.EventUnnamed, normalized, at(10, 0, 0), 1)}}, 1, 1, 0},
		{"a twin too long before", map[int][]classify.Observation{12: {failureOf(1)}}, map[int][]classify.Observation{1: {call}}, 0, 2, 1},
		{"another call", map[int][]classify.Observation{5: {failureOf(1)}}, map[int][]classify.Observation{1: {failureOf(2)}}, 0, 2, 2},
		{"between two", map[int][]classify.Observation{1: {failureOf(1)}, 9: {failureOf(2)}}, map[int][]classify.Observation{5: {failureOf(1), failureOf(2)}}, 1, 2, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := testStore(t)
			f := newFeed(t, s)
			send := func(slices map[int][]classify.Observation) {
				for minute, observations := range slices {
					f.send(at(8, minute, 1), observations...)
				}
			}
			send(tt.sealed)
			seal(t, s)
			send(tt.late)
			assert.Equal(t, len(tt.late), seal(t, s))
			assert.Equal(t, tt.again, seal(t, s), "slices marked")
			assert.Zero(t, seal(t, s), "and that is all")
			assert.Equal(t, tt.calls, count(t, s, "sum(calls) FROM DB.calls_by_minute_unique"), "calls")
			assert.Equal(t, tt.errs, count(t, s, "sum(errors) FROM DB.errors_by_minute_unique"), "errors")

			// Sealed in order from scratch, the slices give the same.
			before := rollups(t, s)
			sealer, err := NewSealer(s, uuid.New())
			require.NoError(t, err)
			_, err = sealer.Reseal(t.Context(), at(0, 0, 0), at(48, 0, 0))
			require.NoError(t, err)
			assert.Equal(t, before, rollups(t, s))
		})
	}
}

// TestSealersTakeTurns has several collectors seal what one keeps writing.
func TestSealersTakeTurns(t *testing.T) {
	s := testStore(t)
	f := newFeed(t, s)
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	var mu sync.Mutex
	sealed, waited := 0, 0
	for range 4 {
		wg.Go(func() {
			sealer, err := NewSealer(s, uuid.New())
			if !assert.NoError(t, err) {
				return
			}
			for ctx.Err() == nil {
				n, err := sealer.SealDirty(ctx)
				mu.Lock()
				sealed += n
				mu.Unlock()
				switch {
				case ctx.Err() != nil:
				case err != nil:
					assert.ErrorIs(t, err, ErrSealing)
					mu.Lock()
					waited++
					mu.Unlock()
					time.Sleep(time.Duration(10+len(ctx.Done())) * time.Millisecond)
				}
			}
		})
	}
	// Each call is told of twice, so that its outcome, a key, changes between seals.
	for i := range 12 {
		call := event(classify.EventToolCall, "", at(10, 0, 0), byte(i+1))
		call.Outcome = classify.OutcomeSuccess
		f.send(at(10, i%2, 1), call)
		f.send(at(10, i%2, 2), failureOf(byte(i+1)))
	}
	stop()
	wg.Wait()
	seal(t, s)
	t.Logf("%d seals, %d times another was at it", sealed, waited)
	assert.Equal(t, 12, count(t, s, "sum(calls) FROM DB.calls_by_minute_unique"))
	assert.Equal(t, 12, count(t, s, "sumIf(calls, outcome = 'error') FROM DB.calls_by_minute_unique"))
	assert.Zero(t, count(t, s, "count() FROM system.tables WHERE database = '"+s.database+"' AND name LIKE 'sealing_%'"), "scratch tables are gone")
}

func TestLease(t *testing.T) {
	s := testStore(t)
	newFeed(t, s).send(at(10, 0, 0), failureOf(1))
	first, err := NewSealer(s, uuid.New())
	require.NoError(t, err)
	second, err := NewSealer(s, uuid.New())
	require.NoError(t, err)
	require.NoError(t, first.lease(t.Context()))
	_, err = second.SealDirty(t.Context())
	require.ErrorIs(t, err, ErrSealing)

	reborn, err := NewSealer(s, first.id)
	require.NoError(t, err)
	require.NoError(t, reborn.lease(t.Context()), "a collector that starts again has its own lease")
	require.NoError(t, reborn.release(t.Context()))
	n, err := second.SealDirty(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 1, n)

	require.NoError(t, first.hold(t.Context(), 10*time.Millisecond)) // and dies
	require.Eventually(t, func() bool { return second.lease(t.Context()) == nil }, time.Minute, 10*time.Millisecond)
}

// TestLostScratch takes a seal's tables away between its statements, as a
// restart of ClickHouse does: counts stay, and the slice is sealed again.
func TestLostScratch(t *testing.T) {
	s := testStore(t)
	f := newFeed(t, s)
	f.send(at(10, 0, 1), failureOf(1), event(classify.EventResponseMeta, normalized, at(10, 0, 0), 2))
	seal(t, s)
	want := rollups(t, s)
	sealer, err := NewSealer(s, uuid.New())
	require.NoError(t, err)
	for i, st := range sealer.statements[:len(sealer.statements)-1] {
		t.Run(st.Name, func(t *testing.T) {
			require.NoError(t, s.markWritten(t.Context(), f.journal, []time.Time{at(10, 0, 0)}))
			sealer.took = func(name string, _ time.Duration) {
				if name != st.Name {
					return
				}
				for _, table := range []string{"_rows", "_twins", ""}[:min(max(i-1, 1), 3)] {
					require.NoError(t, s.conn.Exec(t.Context(), "TRUNCATE TABLE "+s.database+"."+sealer.scratch+table))
				}
			}
			_, err := sealer.SealDirty(t.Context())
			require.ErrorContains(t, err, "lost in a restart")
			if i > 0 {
				assert.Equal(t, want, rollups(t, s), "no zeros were written")
			}
			sealer.took = nil
			n, err := sealer.SealDirty(t.Context())
			require.NoError(t, err)
			assert.Equal(t, 1, n)
			assert.Equal(t, want, rollups(t, s))
		})
	}
}

// TestEmptySlice marks a slice that holds no rows, since all were refused or
// have expired: its rollups stay, and it does not stay dirty.
func TestEmptySlice(t *testing.T) {
	s := testStore(t)
	f := newFeed(t, s)
	f.send(at(10, 0, 1), failureOf(1))
	seal(t, s)
	want := rollups(t, s)
	require.NoError(t, s.conn.Exec(t.Context(), "TRUNCATE TABLE "+s.database+".records"))
	require.NoError(t, s.markWritten(t.Context(), f.journal, []time.Time{at(10, 0, 0), at(10, 1, 0)}))
	assert.Equal(t, 2, seal(t, s))
	assert.Zero(t, seal(t, s))
	assert.Equal(t, want, rollups(t, s))
}

// TestLastSecondOfASlice has a slice whose only rows came in its last second.
func TestLastSecondOfASlice(t *testing.T) {
	s := testStore(t)
	f := newFeed(t, s)
	f.send(at(10, 0, 59).Add(274*time.Millisecond), failureOf(1), failureOf(2))
	f.send(at(10, 1, 59).Add(999*time.Millisecond), failureOf(1), failureOf(3))
	require.Equal(t, 2, seal(t, s))
	assert.Equal(t, 3, count(t, s, "sum(records) FROM DB.slice_seals FINAL"))
	assert.Equal(t, 3, count(t, s, "sum(errors) FROM DB.errors_by_minute_unique"))
	books, err := s.Books(t.Context())
	require.NoError(t, err)
	assert.Equal(t, books.Distinct, books.Sealed)
}

// TestBoundsOfArrivalHaveItsType guards dateTimeMilli's reason in every statement.
func TestBoundsOfArrivalHaveItsType(t *testing.T) {
	values := sealValues("db", "scratch", uuid.Nil, at(10, 0, 0), at(10, 0, 0))
	for _, folder := range []string{"seal", "read"} {
		statements, err := sql.Folder(folder)
		require.NoError(t, err)
		for _, st := range statements {
			bounds := maps.Clone(boundsOf("db", policy.Policy{}, soak.AsOf{At: at(10, 0, 0)}, nil))
			for _, name := range []string{"Trusted", "TrustedLead", "InRun", "Activity", "Calls", "Blocks", "Envelopes"} {
				bounds[name] = "true"
			}
			maps.Copy(bounds, values)
			text, err := st.Fill(bounds)
			require.NoError(t, err)
			for _, bound := range regexp.MustCompile(`received_at\s*[<>]=?\s*(\S+)`).FindAllStringSubmatch(text, -1) {
				assert.Regexp(t, `^(toDateTime64\(|stale_end|least\(stale_end,)`, bound[1], st.Name)
			}
		}
	}
}
