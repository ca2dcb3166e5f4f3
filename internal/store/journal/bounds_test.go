package journal

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// refused requires an AppendError of a reason, with a delay a sender can use.
func refused(t testing.TB, err error, reason Reason, unknown bool) {
	t.Helper()
	var ae *AppendError
	require.ErrorAs(t, err, &ae)
	require.Equal(t, reason, ae.Reason, err)
	require.Equal(t, unknown, ae.OutcomeUnknown, err)
	require.Positive(t, ae.RetryAfter)
}

func TestFullJournalRefusesUntilItIsConsumed(t *testing.T) {
	dir := t.TempDir()
	j, _ := open(t, Options{Dir: dir, MaxBytes: 1 << 20, CommitInterval: time.Millisecond, disk: quickDisk()})
	n := 0
	var err error
	for ; err == nil && n < 1000; n++ {
		_, err = j.Append(t.Context(), testFrame(n, 10_000))
	}
	n--
	refused(t, err, ReasonFull, false)
	require.ErrorIs(t, err, ErrFull)
	assert.Greater(t, n, 90)
	assert.LessOrEqual(t, folderBytes(t, dir), int64(1<<20)+3*slotStride)
	assert.Empty(t, j.queue, "refused before any work")

	for i, f := range readAll(t, j) {
		sameFrame(t, f.Seq, testFrame(i, 10_000), f)
		require.NoError(t, j.Reader().Commit(f.Seq))
		n--
	}
	require.Zero(t, n)
	require.NoError(t, j.Sync(t.Context()))
	appendFrame(t, j, testFrame(1, 10_000))
}

func TestPayloadTooLarge(t *testing.T) {
	j, _ := open(t, Options{Dir: t.TempDir(), MaxBytes: 1 << 20})
	_, err := j.Append(t.Context(), Frame{Payload: make([]byte, 1<<20)})
	require.ErrorIs(t, err, ErrTooLarge, "one that can never fit is not told to try again")
	_, err = j.Append(t.Context(), Frame{Payload: make([]byte, MaxPayload+1)})
	require.ErrorIs(t, err, ErrTooLarge)
	require.Zero(t, j.Stats().PendingBytes)
}

// A frame larger than a segment gets one of its own.
func TestFrameLargerThanASegment(t *testing.T) {
	dir := t.TempDir()
	j, _ := open(t, Options{Dir: dir, SegmentBytes: 8 << 10})
	var want []uint64
	sizes := []int{100, 50_000, 100, 60_000, 60_000}
	for i, size := range sizes {
		want = append(want, appendFrame(t, j, testFrame(i, size)))
	}
	assert.Len(t, segmentFiles(t, dir), 5)
	for i, f := range readAll(t, j) {
		sameFrame(t, want[i], testFrame(i, sizes[i]), f)
	}
}

func TestBusyWhenTooManyBytesWait(t *testing.T) {
	f := newFaults()
	hold := make(chan struct{})
	f.hold = hold
	j, _ := open(t, Options{Dir: t.TempDir(), MaxPendingBytes: 10_000, disk: f.disk()})
	results := make(chan error, 3)
	go func() {
		_, err := j.Append(context.Background(), testFrame(1, 30_000)) // alone, however large
		results <- err
	}()
	<-f.held
	_, err := j.Append(t.Context(), testFrame(2, 10))
	refused(t, err, ReasonBusy, false)
	require.ErrorIs(t, err, ErrBusy)
	f.set(func() { f.hold = nil })
	close(hold)
	require.NoError(t, <-results)
	appendFrame(t, j, testFrame(3, 10))
	require.Zero(t, j.Stats().PendingBytes)
	require.Len(t, readAll(t, j), 2)
}

// While an fsync hangs: those in its batch are told that the outcome is not
// known, those behind it that nothing was written, later ones are refused at once.
// When the disk answers, all goes on.
func TestStalledFsync(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := newFaults()
		f.held = make(chan struct{}, 100)
		hold := make(chan struct{})
		f.hold = hold
		j, _, err := Open(Options{Dir: dir, MaxSyncDelay: 3 * time.Second, disk: f.disk()})
		require.NoError(t, err)
		results := make(chan error, 1)
		go func() {
			_, err := j.Append(context.Background(), testFrame(1, 10))
			results <- err
		}()
		<-f.held
		behind := make(chan error, 1)
		go func() {
			_, err := j.Append(context.Background(), testFrame(2, 10))
			behind <- err
		}()
		synctest.Wait()
		began := time.Now()
		refused(t, <-results, ReasonStalled, true)
		refused(t, <-behind, ReasonStalled, false)
		assert.Equal(t, 3*time.Second, time.Since(began))
		_, err = j.Append(t.Context(), testFrame(3, 10))
		refused(t, err, ReasonStalled, false)
		require.ErrorIs(t, err, ErrStalled)
		assert.Equal(t, 3*time.Second, time.Since(began), "at once")

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, j.Close(ctx), context.DeadlineExceeded, "a close does not hang with the disk")

		f.set(func() { f.hold = nil })
		close(hold)
		require.NoError(t, j.Close(t.Context()))
		assert.Zero(t, j.Stats().PendingBytes)
	})
	j, rec := open(t, Options{Dir: dir})
	require.Empty(t, rec.Damage)
	got := readAll(t, j)
	require.Len(t, got, 1)
	sameFrame(t, got[0].Seq, testFrame(1, 10), got[0])
}

func TestStalledFsyncThatRecovers(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := newFaults()
		hold := make(chan struct{})
		f.held, f.hold = make(chan struct{}, 100), hold
		j, _, err := Open(Options{Dir: dir, MaxSyncDelay: time.Second, disk: f.disk()})
		require.NoError(t, err)
		_, err = j.Append(t.Context(), testFrame(1, 10))
		refused(t, err, ReasonStalled, true)
		f.set(func() { f.hold = nil })
		close(hold)
		synctest.Wait()
		appendFrame(t, j, testFrame(2, 10))
		got := readAll(t, j)
		require.Len(t, got, 2)
		sameFrame(t, got[1].Seq, testFrame(2, 10), got[1])
		require.NoError(t, j.Close(t.Context()))
	})
}

// Entries that were answered early are still the syncer's: their buffers must
// not serve another append.
func TestStalledFramesKeepTheirBuffers(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := newFaults()
		hold := make(chan struct{})
		f.held, f.hold = make(chan struct{}, 100), hold
		j, _, err := Open(Options{Dir: dir, SegmentBytes: minSegmentBytes, MaxSyncDelay: time.Second, disk: f.disk()})
		require.NoError(t, err)
		var wg sync.WaitGroup
		for n := range 3 { // the first alone, then two in one batch that needs two segments
			wg.Go(func() { _, _ = j.Append(context.Background(), testFrame(n, 3000)) })
			synctest.Wait()
		}
		<-f.held
		next := make(chan struct{})
		f.set(func() { f.hold = next })
		close(hold)
		<-f.held
		wg.Wait() // answered: one is written and not fsynced, one not written
		for range 3 {
			wg.Go(func() { _ = j.Sync(context.Background()) })
		}
		synctest.Wait()
		f.set(func() { f.hold = nil })
		close(next)
		wg.Wait()
		require.NoError(t, j.Sync(t.Context()))
		got := readAll(t, j)
		require.Len(t, got, 3)
		for n, fr := range got {
			sameFrame(t, fr.Seq, testFrame(n, 3000), fr)
		}
		require.NoError(t, j.Close(t.Context()))
	})
}

// What is on its way counts against the journal's size.
func TestFullCountsWhatIsPending(t *testing.T) {
	f := newFaults()
	hold := make(chan struct{})
	f.hold = hold
	dir := t.TempDir()
	j, _ := open(t, Options{Dir: dir, MaxBytes: 1 << 20, disk: f.disk()})
	var wg sync.WaitGroup
	errs := make(chan error, 200)
	for n := range 200 {
		wg.Go(func() {
			_, err := j.Append(context.Background(), testFrame(n, 10_000))
			errs <- err
		})
	}
	<-f.held
	for range 90 { // those that do not fit are refused while the disk hangs
		refused(t, <-errs, ReasonFull, false)
	}
	f.set(func() { f.hold = nil })
	close(hold)
	wg.Wait()
	assert.LessOrEqual(t, j.Stats().Bytes, int64(1<<20))
}

func TestContextThatEnds(t *testing.T) {
	f := newFaults()
	hold := make(chan struct{})
	f.hold = hold
	j, _ := open(t, Options{Dir: t.TempDir(), disk: f.disk()})
	ctx, cancel := context.WithCancel(t.Context())
	results := make(chan error)
	go func() {
		fr := testFrame(1, 1000)
		_, err := j.Append(ctx, fr)
		clear(fr.Payload) // the caller's again, while the disk hangs
		results <- err
	}()
	<-f.held
	cancel()
	err := <-results
	var ae *AppendError
	require.ErrorAs(t, err, &ae)
	assert.True(t, ae.OutcomeUnknown)
	require.ErrorIs(t, err, ErrInterrupted)
	require.ErrorIs(t, err, context.Canceled)
	_, err = j.Append(ctx, testFrame(2, 10))
	require.ErrorAs(t, err, &ae)
	assert.False(t, ae.OutcomeUnknown, "it had ended before anything was done")
	f.set(func() { f.hold = nil })
	close(hold)
	require.NoError(t, j.Sync(t.Context()))
	got := readAll(t, j)
	require.Len(t, got, 1)
	sameFrame(t, got[0].Seq, testFrame(1, 1000), got[0])
	require.Zero(t, j.Stats().PendingBytes)
}
