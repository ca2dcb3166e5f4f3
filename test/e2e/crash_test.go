package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// How many kills a run makes, and by which seed; the environment overrides.
// SOAKGATE_CRASH_FULL=1 makes the numbers that a release is held to.
type crashPlan struct {
	seed                        uint64
	collector, clickhouse, both int
}

func planOfCrash(t *testing.T) crashPlan {
	t.Helper()
	p := crashPlan{seed: uint64(time.Now().UnixNano()), collector: 6, clickhouse: 6, both: 3}
	if os.Getenv("SOAKGATE_CRASH_FULL") == "1" {
		p.collector, p.clickhouse, p.both = 100, 200, 50
	}
	for name, into := range map[string]*int{
		"SOAKGATE_CRASH_COLLECTOR": &p.collector, "SOAKGATE_CRASH_CLICKHOUSE": &p.clickhouse, "SOAKGATE_CRASH_BOTH": &p.both,
	} {
		if v := os.Getenv(name); v != "" {
			n, err := strconv.Atoi(v)
			require.NoError(t, err, name)
			*into = n
		}
	}
	if v := os.Getenv("SOAKGATE_CRASH_SEED"); v != "" {
		n, err := strconv.ParseUint(v, 10, 64)
		require.NoError(t, err, "SOAKGATE_CRASH_SEED")
		p.seed = n
	}
	t.Logf("SOAKGATE_CRASH_SEED=%d SOAKGATE_CRASH_COLLECTOR=%d SOAKGATE_CRASH_CLICKHOUSE=%d SOAKGATE_CRASH_BOTH=%d", p.seed, p.collector, p.clickhouse, p.both)
	return p
}

// crashRig is a collector and a ClickHouse, each a process of its own.
type crashRig struct {
	*collector
	proxy  *crashProxy
	store  *exec.Cmd
	random *rand.Rand
	hits   map[string]int // kills of ClickHouse by what was under way
}

func newCrashRig(t *testing.T, seed uint64) *crashRig {
	t.Helper()
	c := newCollector(t)
	c.config = "testdata/crash.yaml"
	r := &crashRig{collector: c, proxy: newCrashProxy(t, c.clickhouse), random: rand.New(rand.NewPCG(seed, 0)), hits: make(map[string]int)}
	c.proxy = r.proxy.address()
	r.startStore()
	c.start()
	return r
}

// startStore starts ClickHouse and waits until it answers.
func (r *crashRig) startStore() {
	r.t.Helper()
	output := &lockedBuffer{}
	r.store = exec.Command(binary(r.t), "clickhouse", "--path", r.data+"/clickhouse", "--listen", r.clickhouse)
	r.store.Stdout, r.store.Stderr = output, output
	store := r.store
	require.NoError(r.t, store.Start())
	r.t.Cleanup(func() { _ = store.Process.Kill(); _ = store.Wait() })
	r.eventually("start ClickHouse", func() error {
		if _, err := r.query("SELECT 1"); err != nil {
			return fmt.Errorf("%w; it said: %s", err, output)
		}
		return nil
	})
}

func (r *crashRig) killStore() {
	_ = r.store.Process.Kill()
	_ = r.store.Wait() // "killed" is what it should say
}

// work waits until ClickHouse has taken an insert and the statements of a seal
// since the counts given, so that kills do not simply keep everything down.
func (r *crashRig) work(inserts, seals int) {
	r.t.Helper()
	r.eventually("work between kills", func() error {
		if r.proxy.finished(askInsert) <= inserts || r.proxy.finished(askSeal) <= seals {
			return fmt.Errorf("no insert and seal yet")
		}
		return nil
	})
}

// killCollector kills the collector at a random moment.
func (r *crashRig) killCollector() {
	time.Sleep(time.Duration(r.random.Int64N(int64(600 * time.Millisecond))))
	r.kill()
	r.start()
}

// killWithin kills ClickHouse within a request of a kind that is drawn, and
// again until the answer had not come before the kill.
func (r *crashRig) killWithin() {
	r.t.Helper()
	inserts, seals := r.proxy.finished(askInsert), r.proxy.finished(askSeal)
	kind := []string{askInsert, askInsert, askInsert, askSeal, askSeal, askSeal, askMark, askBeat}[r.random.IntN(8)]
	for hit := false; !hit; {
		wait := time.Duration(r.random.Float64() * float64(r.proxy.usual(kind)))
		select {
		case met := <-r.proxy.arm(kind, r.random.IntN(12)):
			time.Sleep(wait)
			hit = !met.wasAnswered()
		case <-time.After(patience):
			r.t.Fatalf("the collector makes no %s; it said:\n%s", kind, r.output)
		}
		if hit {
			r.killStore()
		}
	}
	r.hits[kind]++
	r.startStore()
	r.work(inserts, seals)
}

// killBoth kills collector and ClickHouse within a request, one shortly after
// the other.
func (r *crashRig) killBoth() {
	r.t.Helper()
	inserts, seals := r.proxy.finished(askInsert), r.proxy.finished(askSeal)
	kind := []string{askInsert, askSeal}[r.random.IntN(2)]
	wait := time.Duration(r.random.Float64() * float64(r.proxy.usual(kind)))
	between := time.Duration(r.random.Int64N(int64(20 * time.Millisecond)))
	storeFirst := r.random.IntN(2) == 0
	select {
	case <-r.proxy.arm(kind, r.random.IntN(12)):
		time.Sleep(wait)
	case <-time.After(patience):
		r.t.Fatalf("the collector makes no %s; it said:\n%s", kind, r.output)
	}
	first, second := r.kill, r.killStore
	if storeFirst {
		first, second = second, first
	}
	var wg sync.WaitGroup
	wg.Go(first)
	time.Sleep(between)
	wg.Go(second)
	wg.Wait()
	r.startStore()
	r.start()
	r.work(inserts, seals)
}

// TestCountsSurviveKills sends for as long as collector and ClickHouse are
// killed, and then holds records and rollups against what was acknowledged.
func TestCountsSurviveKills(t *testing.T) {
	plan := planOfCrash(t)
	r := newCrashRig(t, plan.seed)
	s := newSender(r.http)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var sending sync.WaitGroup
	sending.Go(func() { s.run(ctx, 4, plan.seed, 40*time.Millisecond) })
	r.work(0, 0)

	began := time.Now()
	for range plan.collector {
		inserts, seals := r.proxy.finished(askInsert), r.proxy.finished(askSeal)
		r.killCollector()
		r.work(inserts, seals)
	}
	for range plan.clickhouse {
		r.killWithin()
	}
	for range plan.both {
		r.killBoth()
	}
	stop()
	sending.Wait()
	acknowledged, unknown := 0, 0
	for _, ok := range s.sent {
		if ok {
			acknowledged++
		} else {
			unknown++
		}
	}
	t.Logf("%d kills of the collector, %d of ClickHouse within %v, %d of both, in %s; %d records acknowledged (%d requests, %d of them after a failed try), %d records given up",
		plan.collector, plan.clickhouse, r.hits, plan.both, time.Since(began).Round(time.Second), acknowledged, s.acknowledged, s.again, unknown)
	r.compareSent(s.sent)
	if t.Failed() {
		r.explain()
	}
}

// settle waits until all that is on disk is stored and sealed: a heartbeat from
// now on vouches for the first, and only then do open slices tell of the second.
func (r *crashRig) settle() {
	r.t.Helper()
	now := time.Now().UnixMilli()
	wait := func(what, query string) {
		r.eventually(what, func() error {
			rows, err := r.query("SELECT " + query + " AS done")
			if err == nil && rows[0]["done"] != 1.0 {
				err = fmt.Errorf("not yet")
			}
			return err
		})
	}
	wait("store everything", fmt.Sprintf("(SELECT toUnixTimestamp64Milli(max(inserted_through)) FROM soakgate.collector_heartbeats) > %d", now))
	wait("seal everything", `(SELECT countIf(w.wrote >= s.sealed)
     FROM (SELECT slice, max(wrote_at) AS wrote FROM soakgate.slice_writes GROUP BY slice) AS w
     LEFT JOIN (SELECT slice, max(version) AS sealed FROM soakgate.slice_seals GROUP BY slice) AS s ON w.slice = s.slice) = 0`)
}

// explain shows, after a failure, the slices whose seal and records differ.
func (r *crashRig) explain() {
	for _, query := range []string{
		`SELECT f.slice AS slice, f.records AS first_copies, s.records AS sealed, s.version AS version
FROM (SELECT toStartOfMinute(toDateTime(first, 'UTC')) AS slice, count() AS records
      FROM (SELECT min(received_at) AS first FROM soakgate.records GROUP BY record_id) GROUP BY slice) AS f
LEFT JOIN (SELECT * FROM soakgate.slice_seals FINAL) AS s ON f.slice = s.slice
WHERE first_copies != sealed`,
		`SELECT slice, version, records, calls, _part FROM soakgate.slice_seals ORDER BY slice, version`,
		`SELECT slice, wrote_at, journal_id, _part FROM soakgate.slice_writes ORDER BY slice, wrote_at`,
		`SELECT toStartOfMinute(received_at) AS slice, min(received_at) AS first, max(received_at) AS last, count() AS n, uniqExact(record_id) AS ids, _part FROM soakgate.records GROUP BY slice, _part ORDER BY slice, _part`,
		`SELECT name, modification_time, active FROM system.parts WHERE database = 'soakgate' AND table IN ('records', 'slice_seals', 'slice_writes') ORDER BY table, modification_time`,
	} {
		rows, err := r.query(query)
		r.t.Log(query, err)
		for _, row := range rows {
			r.t.Log(row)
		}
	}
}

// compareSent holds the store against what was sent: everything acknowledged
// once, everything else at most once, and every rollup exactly what is stored.
func (r *crashRig) compareSent(sent map[sentRecord]bool) {
	t := r.t
	r.settle()
	stored := make(map[sentRecord]bool)
	for _, row := range r.mustQuery("SELECT session_id, event, valid, count() AS n FROM soakgate.records_unique GROUP BY ALL") {
		record := sentRecord{call: row["session_id"].(string), event: row["event"].(string)}
		record.broken = record.event == sentError && !row["valid"].(bool)
		require.Equal(t, 1.0, row["n"], "%v is stored more than once", record)
		_, known := sent[record]
		require.True(t, known, "%v was never sent", record)
		stored[record] = true
	}
	lost := 0
	for record, acknowledged := range sent {
		if acknowledged && !stored[record] {
			lost++
			t.Errorf("%v was acknowledged and is not stored", record)
		}
	}
	require.Zero(t, lost)

	calls := make(map[string]bool)
	var errors, broken, metas int64
	for record := range stored {
		calls[record.call] = true
		switch record.event {
		case sentMeta:
			metas++
		case sentError:
			errors++
		}
		if record.broken {
			broken++
		}
	}
	for figure, want := range map[string]int64{
		"sum(records) FROM soakgate.slice_seals FINAL":                                                  int64(len(stored)),
		"sum(l.records) FROM soakgate.lateness_by_day_unique AS l":                                      int64(len(stored)),
		"sum(calls) FROM soakgate.slice_seals FINAL":                                                    int64(len(calls)),
		"sum(calls) FROM soakgate.calls_by_minute_unique":                                               int64(len(calls)),
		"sum(errors) FROM soakgate.errors_by_minute_unique":                                             errors,
		"sum(violations) FROM soakgate.violations_by_minute_unique":                                     broken,
		"sum(events) FROM soakgate.normalizations_by_minute_unique":                                     2 * metas,
		"sum(blocks) FROM soakgate.blocks_by_minute_unique":                                             metas,
		"sum(warnings) FROM soakgate.warnings_by_minute_unique":                                         metas,
		"sum(records) FROM soakgate.rate_limits_by_minute_unique":                                       metas,
		"sum(arraySum(mapValues(sizes))) FROM soakgate.blocks_by_minute_unique":                         metas,
		"count() FROM soakgate.rejected_records":                                                        0,
		"sumIf(calls, tool NOT IN ('tool_0', 'tool_1', 'tool_2')) FROM soakgate.calls_by_minute_unique": 0,
	} {
		sum, from, _ := strings.Cut(figure, " FROM ")
		assert.Equal(t, want, r.number("SELECT toInt64("+sum+") FROM "+from), figure)
	}
	stdout, stderr, status := r.run("check")
	assert.Zero(t, status, "%s%s", stdout, stderr)
}
