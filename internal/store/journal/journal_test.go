package journal

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		os.Exit(child(dir))
	}
	goleak.VerifyTestMain(m)
}

// open opens a journal and closes it with the test.
func open(t testing.TB, o Options) (*Journal, Recovery) {
	t.Helper()
	j, rec, err := Open(o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = j.Close(context.Background()) })
	return j, rec
}

func closeJournal(t testing.TB, j *Journal) {
	t.Helper()
	require.NoError(t, j.Close(context.Background()))
}

// testFrame makes frame n, whose content follows from n alone.
func testFrame(n, size int) Frame {
	r := rand.New(rand.NewPCG(uint64(n), 1))
	p := make([]byte, size)
	for i := 0; i+8 <= len(p); i += 8 {
		binary.LittleEndian.PutUint64(p[i:], r.Uint64())
	}
	return Frame{Arrival: time.Unix(1_700_000_000, int64(n)), Kind: uint16(n % 7), Rows: uint32(n%5 + 1), Payload: p}
}

func appendFrame(t testing.TB, j *Journal, f Frame) uint64 {
	t.Helper()
	seq, err := j.Append(context.Background(), f)
	require.NoError(t, err)
	return seq
}

// sameFrame compares what was appended with what was read.
func sameFrame(t testing.TB, seq uint64, want, got Frame) {
	t.Helper()
	require.Equal(t, seq, got.Seq)
	require.True(t, want.Arrival.Equal(got.Arrival), "arrival %s, want %s", got.Arrival, want.Arrival)
	require.Equal(t, want.Kind, got.Kind)
	require.Equal(t, want.Rows, got.Rows)
	require.True(t, bytes.Equal(want.Payload, got.Payload), "payload of sequence %d differs", seq)
}

// readAll reads what there is, without committing.
func readAll(t testing.TB, j *Journal) []Frame {
	t.Helper()
	var all []Frame
	for {
		f, ok := tryNext(t, j)
		if !ok {
			return all
		}
		all = append(all, f)
	}
}

// tryNext returns the next frame, or false when the reader would wait.
func tryNext(t testing.TB, j *Journal) (Frame, bool) {
	t.Helper()
	r := j.Reader()
	r.mu.Lock()
	defer r.mu.Unlock()
	f, ok, err := r.step(nil)
	require.NoError(t, err)
	return f, ok
}

func seqs(frames []Frame) []uint64 {
	out := make([]uint64, len(frames))
	for i, f := range frames {
		out[i] = f.Seq
	}
	return out
}

func segmentFiles(t testing.TB, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"+segmentSuffix))
	require.NoError(t, err)
	return files
}

func folderBytes(t testing.TB, dir string) int64 {
	t.Helper()
	var n int64
	require.NoError(t, filepath.Walk(dir, func(_ string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			n += info.Size()
		}
		return err
	}))
	return n
}

func TestAppendedIsReadBackInOrder(t *testing.T) {
	for name, sizes := range map[string][]int{
		"empty payload": {0},
		"one byte":      {1},
		"small":         {300, 301, 302, 303},
		"mixed":         {10, 5000, 0, 70_000, 1, 300_000, 12},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			j, rec := open(t, Options{Dir: dir, SegmentBytes: 64 << 10})
			assert.True(t, rec.Created)
			var want []uint64
			for i, size := range sizes {
				want = append(want, appendFrame(t, j, testFrame(i, size)))
			}
			for i, f := range readAll(t, j) {
				sameFrame(t, want[i], testFrame(i, sizes[i]), f)
				assert.Equal(t, j.ID(), f.Journal)
			}
			assert.Zero(t, j.Stats().DamageEvents)

			closeJournal(t, j)
			j, rec = open(t, Options{Dir: dir})
			assert.False(t, rec.Created)
			assert.Empty(t, rec.Damage)
			assert.EqualValues(t, len(sizes), rec.Frames)
			got := readAll(t, j)
			require.Equal(t, want, seqs(got))
			for i, f := range got {
				sameFrame(t, want[i], testFrame(i, sizes[i]), f)
			}
		})
	}
}

func TestTheCallerMayReuseThePayload(t *testing.T) {
	j, _ := open(t, Options{Dir: t.TempDir()})
	f := testFrame(1, 1000)
	want := bytes.Clone(f.Payload)
	appendFrame(t, j, f)
	clear(f.Payload)
	got, ok := tryNext(t, j)
	require.True(t, ok)
	assert.Equal(t, want, got.Payload)
}

func TestSequencesAndTicketsGrowOverRestarts(t *testing.T) {
	dir := t.TempDir()
	var seq, ticket uint64
	var id ID
	for i := range 5 {
		j, _ := open(t, Options{Dir: dir})
		if i == 0 {
			id = j.ID()
		}
		require.Equal(t, id, j.ID())
		for range 3 {
			s, k := appendFrame(t, j, testFrame(i, 10)), j.Ticket()
			require.Greater(t, s, seq)
			require.Greater(t, k, ticket)
			seq, ticket = s, k
		}
		for _, f := range readAll(t, j) {
			require.NoError(t, j.Reader().Commit(f.Seq)) // and so the segments go
		}
		require.NoError(t, j.Sync(t.Context()))
		closeJournal(t, j)
	}
}

func TestCommitIsKeptAndSpaceFreed(t *testing.T) {
	dir := t.TempDir()
	o := Options{Dir: dir, SegmentBytes: 64 << 10, CommitInterval: time.Millisecond}
	j, _ := open(t, o)
	var rows uint64
	for i := range 100 {
		f := testFrame(i, 10_000)
		rows += uint64(f.Rows)
		appendFrame(t, j, f)
	}
	s := j.Stats()
	assert.EqualValues(t, 100, s.BacklogFrames)
	assert.Equal(t, rows, s.BacklogRows)
	assert.Equal(t, testFrame(0, 0).Arrival.UnixNano(), s.Oldest.UnixNano())
	before := folderBytes(t, dir)
	assert.InDelta(t, before, s.Bytes, 10_000, "Stats.Bytes and the folder: state and lock are small")

	r := j.Reader()
	var last Frame
	for range 50 {
		f, err := r.Next(t.Context())
		require.NoError(t, err)
		last = f
		rows -= uint64(f.Rows)
	}
	require.NoError(t, r.Commit(last.Seq))
	require.NoError(t, j.Sync(t.Context()))
	assert.Less(t, folderBytes(t, dir), before*6/10)
	s = j.Stats()
	assert.EqualValues(t, 50, s.BacklogFrames)
	assert.Equal(t, rows, s.BacklogRows)
	assert.Equal(t, testFrame(50, 0).Arrival.UnixNano(), s.Oldest.UnixNano())
	closeJournal(t, j)

	j, rec := open(t, o)
	assert.EqualValues(t, 50, rec.Frames)
	assert.Equal(t, rows, rec.Rows)
	assert.Equal(t, testFrame(50, 0).Arrival.UnixNano(), j.Stats().Oldest.UnixNano())
	all := readAll(t, j)
	require.Len(t, all, 50)
	assert.Equal(t, testFrame(50, 10_000).Payload, all[0].Payload)
	require.NoError(t, j.Reader().Commit(all[49].Seq))
	require.NoError(t, j.Sync(t.Context()))
	s = j.Stats()
	assert.Zero(t, s.BacklogFrames)
	assert.Zero(t, s.BacklogRows)
	assert.True(t, s.Oldest.IsZero())
	assert.Zero(t, s.DamageEvents)
	require.NoError(t, s.KeepErr)
	assert.Empty(t, segmentFiles(t, dir))
	closeJournal(t, j)

	j, rec = open(t, o)
	assert.Zero(t, rec.Frames)
	assert.Empty(t, rec.Damage)
	appendFrame(t, j, testFrame(1, 1))
	assert.Len(t, readAll(t, j), 1)
	assert.Zero(t, j.Stats().DamageEvents, "what was consumed and deleted is not missing")
}

func TestCommitOfWhatWasNotDelivered(t *testing.T) {
	j, _ := open(t, Options{Dir: t.TempDir()})
	first := appendFrame(t, j, testFrame(0, 10))
	second := appendFrame(t, j, testFrame(1, 10))
	require.ErrorIs(t, j.Reader().Commit(first), ErrNotDelivered)
	_, err := j.Reader().Next(t.Context())
	require.NoError(t, err)
	require.ErrorIs(t, j.Reader().Commit(second), ErrNotDelivered)
	require.NoError(t, j.Reader().Commit(first))
	require.NoError(t, j.Reader().Commit(first), "an old commit is nothing new")
	assert.EqualValues(t, 1, j.Stats().BacklogFrames)
}

func TestAConsumedSegmentIsSealedAndFreed(t *testing.T) {
	t.Run("by size, at once", func(t *testing.T) {
		dir := t.TempDir()
		j, _ := open(t, Options{Dir: dir, SegmentBytes: 64 << 10, CommitInterval: time.Millisecond})
		seq := appendFrame(t, j, testFrame(0, 20_000))
		_, ok := tryNext(t, j)
		require.True(t, ok)
		require.NoError(t, j.Reader().Commit(seq))
		require.Eventually(t, func() bool { return j.Stats().Bytes == 0 && len(segmentFiles(t, dir)) == 0 }, 5*time.Second, time.Millisecond)
	})
	t.Run("by age", func(t *testing.T) {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			j, _, err := Open(Options{Dir: dir, RotateAge: time.Hour, CommitInterval: time.Second})
			require.NoError(t, err)
			time.Sleep(30 * time.Minute)
			seq := appendFrame(t, j, testFrame(0, 20))
			_, ok := tryNext(t, j)
			require.True(t, ok)
			require.NoError(t, j.Reader().Commit(seq))
			time.Sleep(59 * time.Minute)
			synctest.Wait()
			assert.Len(t, segmentFiles(t, dir), 1)
			time.Sleep(2 * time.Minute)
			synctest.Wait()
			assert.Empty(t, segmentFiles(t, dir))
			require.NoError(t, j.Close(t.Context()))
		})
	})
}

func TestConcurrentAppendersAndReader(t *testing.T) {
	const workers, each = 16, 60
	var syncs, synced int
	j, _ := open(t, Options{
		Dir: t.TempDir(), SegmentBytes: 128 << 10, CommitInterval: time.Millisecond,
		OnSync: func(_ time.Duration, frames, _ int) { syncs++; synced += frames },
	})
	acked := make([][]uint64, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				seq, err := j.Append(context.Background(), testFrame(w*each+i, 2000))
				if assert.NoError(t, err) {
					acked[w] = append(acked[w], seq)
				}
			}
		})
	}
	read := map[uint64]Frame{}
	var last uint64
	for len(read) < workers*each {
		f, err := j.Reader().NextInto(t.Context(), nil)
		require.NoError(t, err)
		require.Greater(t, f.Seq, last)
		last = f.Seq
		read[f.Seq] = f
		require.NoError(t, j.Reader().Commit(f.Seq))
		_ = j.Stats()
	}
	wg.Wait()
	for w := range workers {
		for i, seq := range acked[w] {
			sameFrame(t, seq, testFrame(w*each+i, 2000), read[seq])
		}
	}
	require.NoError(t, j.Sync(t.Context()))
	assert.Equal(t, workers*each, synced)
	assert.Less(t, syncs, synced, "appenders share fsyncs")
}

func TestOptionsAreChecked(t *testing.T) {
	for name, o := range map[string]Options{
		"no folder":         {},
		"segment too small": {Dir: "x", SegmentBytes: 100},
		"segment too large": {Dir: "x", SegmentBytes: 2 << 30},
		"journal too small": {Dir: "x", MaxBytes: 100},
		"negative delay":    {Dir: "x", MaxSyncDelay: -1},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := Open(o)
			require.ErrorContains(t, err, "journal options")
		})
	}
	_, err := os.Stat("x")
	require.ErrorIs(t, err, os.ErrNotExist)
	o, err := Options{Dir: "x", MaxBytes: 1 << 20}.withDefaults()
	require.NoError(t, err)
	assert.EqualValues(t, 256<<10, o.SegmentBytes, "a quarter of MaxBytes at most")
}

func TestErrorsSayWhatToDo(t *testing.T) {
	for reason, is := range sentinels {
		t.Run(string(reason), func(t *testing.T) {
			cause := errors.New("the cause")
			err := error(&AppendError{Reason: reason, RetryAfter: time.Second, OutcomeUnknown: true, Err: cause})
			require.ErrorIs(t, err, is)
			require.ErrorIs(t, err, cause)
			for other, sentinel := range sentinels {
				if !errors.Is(sentinel, is) {
					require.NotErrorIs(t, err, sentinel, other)
				}
			}
			assert.Contains(t, err.Error(), "the cause")
			assert.Contains(t, err.Error(), "not known")
			assert.Contains(t, err.Error(), "try again after 1s")
		})
	}
}
