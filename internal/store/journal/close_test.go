package journal

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNextWaits(t *testing.T) {
	j, _ := open(t, Options{Dir: t.TempDir()})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := j.Reader().Next(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)

	got := make(chan Frame)
	go func() {
		f, err := j.Reader().Next(context.Background())
		assert.NoError(t, err)
		got <- f
	}()
	seq := appendFrame(t, j, testFrame(1, 10))
	assert.Equal(t, seq, (<-got).Seq)

	ended := make(chan error)
	go func() {
		_, err := j.Reader().Next(context.Background())
		ended <- err
	}()
	closeJournal(t, j)
	assert.ErrorIs(t, <-ended, ErrClosed)
}

func TestClose(t *testing.T) {
	var none *Journal
	require.NoError(t, none.Close(t.Context()), "after an Open that failed")

	dir := t.TempDir()
	j, _ := open(t, Options{Dir: dir})
	appendFrame(t, j, testFrame(1, 10))
	closeJournal(t, j)
	closeJournal(t, j)
	_, err := j.Append(t.Context(), testFrame(2, 10))
	require.ErrorIs(t, err, ErrClosed)
	require.ErrorIs(t, j.Sync(t.Context()), ErrClosed)
	_, err = j.Reader().Next(t.Context())
	require.ErrorIs(t, err, ErrClosed)
	assert.EqualValues(t, 1, j.Stats().BacklogFrames)
	_, rec := open(t, Options{Dir: dir})
	assert.EqualValues(t, 1, rec.Frames)
}

func TestAppendsThatMeetClose(t *testing.T) {
	dir := t.TempDir()
	j, _ := open(t, Options{Dir: dir})
	var mu sync.Mutex
	acked := map[uint64]int{}
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for n := w; ; n += 8 {
				seq, err := j.Append(context.Background(), testFrame(n, 500))
				if err != nil {
					assert.ErrorIs(t, err, ErrClosed)
					return
				}
				mu.Lock()
				acked[seq] = n
				mu.Unlock()
			}
		})
	}
	for {
		mu.Lock()
		n := len(acked)
		mu.Unlock()
		if n > 100 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	closeJournal(t, j)
	wg.Wait()
	j, rec := open(t, Options{Dir: dir})
	require.Empty(t, rec.Damage)
	got := readAll(t, j)
	require.Len(t, got, len(acked))
	for _, f := range got {
		n, ok := acked[f.Seq]
		require.True(t, ok)
		sameFrame(t, f.Seq, testFrame(n, 500), f)
	}
}
