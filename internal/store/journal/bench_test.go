package journal

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkAppend is the whole way of a frame to disk, fsync included. 340 KB is
// a request of 512 records, 4 KB one of a few. The reader consumes in step, so
// that the folder stays small.
func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{4 << 10, 340 << 10} {
		for _, appenders := range []int{1, 4, 64} {
			b.Run(fmt.Sprintf("size=%d/appenders=%d", size, appenders), func(b *testing.B) {
				var syncs atomic.Int64
				j, _ := open(b, Options{Dir: b.TempDir(), OnSync: func(time.Duration, int, int) { syncs.Add(1) }})
				ctx, cancel := context.WithCancel(b.Context())
				var drain sync.WaitGroup
				drain.Go(func() {
					for {
						f, err := j.Reader().Next(ctx)
						if err != nil || j.Reader().Commit(f.Seq) != nil {
							return
						}
					}
				})
				f := testFrame(1, size)
				b.SetBytes(int64(size))
				b.ReportAllocs()
				var next atomic.Int64
				took := make([]time.Duration, b.N)
				b.ResetTimer()
				var wg sync.WaitGroup
				for range appenders {
					wg.Go(func() {
						for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
							began := time.Now()
							if _, err := j.Append(ctx, f); err != nil {
								b.Error(err)
								return
							}
							took[i-1] = time.Since(began)
						}
					})
				}
				wg.Wait()
				b.StopTimer()
				cancel()
				drain.Wait()
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-us")
				b.ReportMetric(float64(b.N)/float64(syncs.Load()), "frames/fsync")
			})
		}
	}
}

// BenchmarkDrain is reading and committing a backlog.
func BenchmarkDrain(b *testing.B) {
	for _, size := range []int{4 << 10, 340 << 10} {
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			j, _ := open(b, Options{Dir: b.TempDir(), disk: quickDisk()})
			f := testFrame(1, size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for done := 0; done < b.N; {
				b.StopTimer()
				n := min(b.N-done, (256<<20)/size) // not more on disk at a time
				for range n {
					appendFrame(b, j, f)
				}
				b.StartTimer()
				for range n {
					f, err := j.Reader().Next(b.Context())
					require.NoError(b, err)
					require.NoError(b, j.Reader().Commit(f.Seq))
				}
				done += n
			}
		})
	}
}

// BenchmarkOpen is a start, and an orderly end, with a backlog of 260 MiB.
func BenchmarkOpen(b *testing.B) {
	w := write(b, 800, DefaultSegmentBytes, false, func(int) int { return 340 << 10 })
	b.ReportAllocs()
	for b.Loop() {
		j, _, err := Open(Options{Dir: w.dir})
		require.NoError(b, err)
		require.NoError(b, j.Close(context.Background()))
	}
}
