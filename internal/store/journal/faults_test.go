package journal

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// After a failed write or fsync the file is not used again, nothing that was
// acknowledged is touched, nothing that failed is read, and appends work as soon
// as the disk does.
func TestFailedWritesAndFsyncs(t *testing.T) {
	for name, c := range map[string]struct {
		set    func(*faults)
		reason Reason
		known  bool
	}{
		"write EIO":          {func(f *faults) { f.write = syscall.EIO }, ReasonFailed, false},
		"fsync EIO":          {func(f *faults) { f.sync = syscall.EIO }, ReasonFailed, false},
		"fsync ENOSPC":       {func(f *faults) { f.sync = syscall.ENOSPC }, ReasonDiskFull, false},
		"write EDQUOT":       {func(f *faults) { f.write = syscall.EDQUOT }, ReasonDiskFull, false},
		"no new file":        {func(f *faults) { f.sync, f.create = syscall.EIO, syscall.ENOSPC }, ReasonFailed, false},
		"disk is full":       {func(f *faults) { f.free = 0 }, ReasonDiskFull, false},
		"half a frame fits":  {func(f *faults) { f.free = 500 }, ReasonDiskFull, false},
		"one frame fits not": {func(f *faults) { f.free = 1063 }, ReasonDiskFull, false},
	} {
		for start, before := range map[string]int{"first frame": 0, "later frame": 3} {
			t.Run(name+", "+start, func(t *testing.T) {
				dir := t.TempDir()
				f := newFaults()
				j, _, err := Open(Options{Dir: dir, disk: f.disk()})
				require.NoError(t, err)
				want := map[uint64]int{}
				for n := range before {
					want[appendFrame(t, j, testFrame(n, 1000))] = n
				}
				f.set(func() { c.set(f) })
				_, err = j.Append(t.Context(), testFrame(100, 1000))
				unknown := true
				reason := c.reason
				if name == "no new file" && before == 0 {
					unknown, reason = false, ReasonDiskFull // refused before a byte was written
				}
				refused(t, err, reason, unknown)
				if reason == ReasonDiskFull {
					_, err = j.Append(t.Context(), testFrame(101, 1000))
					refused(t, err, ReasonDiskFull, false)
					j.mu.Lock()
					j.fullUntil = time.Time{} // as if the pause were over
					j.mu.Unlock()
				}
				_, err = j.Append(t.Context(), testFrame(102, 1000))
				require.Error(t, err)
				f.set(func() { f.write, f.sync, f.create, f.free = nil, nil, nil, -1 })
				j.mu.Lock()
				j.fullUntil = time.Time{}
				j.mu.Unlock()
				for n := 10; n < 13; n++ {
					want[appendFrame(t, j, testFrame(n, 1000))] = n
				}
				verify := func(j *Journal) {
					got := readAll(t, j)
					require.Len(t, got, len(want))
					for _, fr := range got {
						n, ok := want[fr.Seq]
						require.True(t, ok, "sequence %d was not acknowledged", fr.Seq)
						sameFrame(t, fr.Seq, testFrame(n, 1000), fr)
					}
					require.Zero(t, j.Stats().DamageEvents)
					require.Zero(t, j.Stats().PendingBytes)
				}
				verify(j)
				closeJournal(t, j)
				for path, n := range f.writes {
					assert.Zero(t, n, "%s was written after an fsync on it failed", path)
				}
				j, rec := open(t, Options{Dir: dir, disk: quickDisk()})
				require.Empty(t, rec.Damage)
				verify(j)
			})
		}
	}
}

// U31: a full disk refuses with a delay, what is consumed can be deleted on it,
// and then it takes frames again.
func TestFullDiskDrains(t *testing.T) {
	dir := t.TempDir()
	f := newFaults()
	f.free = 2 << 20
	j, _ := open(t, Options{Dir: dir, SegmentBytes: 256 << 10, CommitInterval: time.Millisecond, disk: f.disk()})
	n := 0
	var err error
	for ; err == nil; n++ {
		_, err = j.Append(t.Context(), testFrame(n, 20_000))
	}
	n--
	refused(t, err, ReasonDiskFull, true)
	require.ErrorIs(t, err, ErrFull)
	require.Greater(t, n, 90)
	// On a filesystem that copies on write the state needs room too.
	f.set(func() { f.state = syscall.ENOSPC })
	for i := range n / 2 {
		fr, err := j.Reader().Next(t.Context())
		require.NoError(t, err)
		sameFrame(t, fr.Seq, testFrame(i, 20_000), fr)
		require.NoError(t, j.Reader().Commit(fr.Seq))
	}
	require.ErrorIs(t, j.Sync(t.Context()), syscall.ENOSPC)
	require.ErrorIs(t, j.Stats().KeepErr, syscall.ENOSPC)
	assert.Less(t, j.Stats().Bytes, int64(1300<<10), "deleted, though the state could not be written")
	f.set(func() { f.state = nil })
	require.NoError(t, j.Sync(t.Context()))
	require.NoError(t, j.Stats().KeepErr)
	for i := range 20 {
		appendFrame(t, j, testFrame(n+i, 20_000))
	}
	rest := readAll(t, j)
	require.Len(t, rest, n-n/2+20)
	for i, fr := range rest {
		sameFrame(t, fr.Seq, testFrame(n/2+i, 20_000), fr)
	}
	require.NoError(t, j.Reader().Commit(rest[len(rest)-1].Seq))
	require.NoError(t, j.Sync(t.Context()))
	require.Zero(t, j.Stats().BacklogFrames)
	require.Zero(t, j.Stats().DamageEvents)
}

// The commit point is on disk and the segments are not gone yet: they are at the
// next start, and nothing comes twice.
func TestConsumedSegmentsThatCouldNotBeDeleted(t *testing.T) {
	dir := t.TempDir()
	d := quickDisk()
	remove, fail := d.remove, true
	d.remove = func(path string) error {
		if fail {
			return &os.PathError{Op: "remove", Path: path, Err: syscall.EPERM}
		}
		return remove(path)
	}
	o := Options{Dir: dir, SegmentBytes: minSegmentBytes, CommitInterval: time.Hour, disk: d}
	j, _, err := Open(o)
	require.NoError(t, err)
	for n := range 10 {
		appendFrame(t, j, testFrame(n, 2000))
	}
	for range 7 {
		f, ok := tryNext(t, j)
		require.True(t, ok)
		require.NoError(t, j.Reader().Commit(f.Seq))
	}
	require.ErrorIs(t, j.Sync(t.Context()), syscall.EPERM)
	require.ErrorContains(t, j.Stats().KeepErr, "delete consumed segment")
	require.ErrorIs(t, j.Close(t.Context()), syscall.EPERM)
	before := len(segmentFiles(t, dir))
	fail = false
	j, rec := open(t, o)
	assert.EqualValues(t, 3, rec.Frames)
	assert.Less(t, len(segmentFiles(t, dir)), before-3)
	got := readAll(t, j)
	require.Len(t, got, 3)
	sameFrame(t, got[0].Seq, testFrame(7, 2000), got[0])
	require.Zero(t, j.Stats().DamageEvents)
}

// One failure is told to all whose frames shared the fsync.
func TestABatchFailsTogether(t *testing.T) {
	f := newFaults()
	hold := make(chan struct{})
	f.hold = hold
	j, _ := open(t, Options{Dir: t.TempDir(), disk: f.disk()})
	var wg sync.WaitGroup
	wg.Go(func() { _, err := j.Append(context.Background(), testFrame(0, 10)); assert.NoError(t, err) })
	<-f.held
	errs := make(chan error, 20)
	for n := range 20 {
		wg.Go(func() {
			_, err := j.Append(context.Background(), testFrame(n+1, 10))
			errs <- err
		})
	}
	require.Eventually(t, func() bool {
		j.mu.Lock()
		defer j.mu.Unlock()
		return len(j.queue) == 20
	}, 5*time.Second, time.Millisecond)
	f.set(func() { f.hold = nil; f.sync = nil })
	// The first fsync passes, the second, of the batch, fails.
	d := make(chan struct{})
	f.set(func() { f.hold = d })
	close(hold)
	<-f.held
	f.set(func() { f.hold = nil; f.sync = syscall.EIO })
	close(d)
	wg.Wait()
	for range 20 {
		refused(t, <-errs, ReasonFailed, true)
	}
	f.set(func() { f.sync = nil })
	appendFrame(t, j, testFrame(50, 10))
	got := readAll(t, j)
	require.Len(t, got, 2)
	sameFrame(t, got[1].Seq, testFrame(50, 10), got[1])
	require.Zero(t, j.Stats().DamageEvents)
}

func TestOpenThatFailsLeavesNothingOpen(t *testing.T) {
	w := write(t, 5, 1<<20, false, smallSizes)
	f := newFaults()
	f.sync = syscall.EIO
	_, _, err := Open(Options{Dir: w.dir, disk: f.disk()})
	require.ErrorIs(t, err, syscall.EIO, "frames that may only be in the page cache must not be called safe")
	require.ErrorContains(t, err, segmentName(1))
	f = newFaults()
	f.state = syscall.EROFS
	_, _, err = Open(Options{Dir: w.dir, disk: f.disk()})
	require.ErrorIs(t, err, syscall.EROFS)
	_, _, err = Open(Options{Dir: "/dev/null/x"})
	require.Error(t, err)
	w.check(t, func(place) bool { return false }) // and the lock is free
}

func TestDiskFullIsKnown(t *testing.T) {
	assert.True(t, isDiskFull(&os.PathError{Err: syscall.ENOSPC}))
	assert.True(t, isDiskFull(&os.PathError{Err: syscall.EFBIG}))
	assert.False(t, isDiskFull(errors.New("no space")))
	assert.False(t, isDiskFull(syscall.EIO))
}
