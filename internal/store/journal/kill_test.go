package journal

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	// childDir makes the test's binary the process that is killed: it appends to
	// this folder and prints what was acknowledged.
	childDir = "SOAKGATE_JOURNAL_TEST_DIR"
	// childFrom is the first of its frames' numbers.
	childFrom = "SOAKGATE_JOURNAL_TEST_FROM"

	kills        = 40
	childWorkers = 6
)

// childSize varies, so that frames end anywhere in a page, and segments fill.
func childSize(n int) int { return 8 + n*7919%20_000 }

// child appends until it is killed. Each line is written by one write(2), so a
// whole line was meant.
func child(dir string) int {
	from, err := strconv.Atoi(os.Getenv(childFrom))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	j, rec, err := Open(Options{Dir: dir, SegmentBytes: 256 << 10, CommitInterval: time.Millisecond})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for _, d := range rec.Damage {
		if !d.Torn {
			fmt.Fprintln(os.Stderr, d)
			return 1
		}
	}
	var mu sync.Mutex
	for w := range childWorkers {
		go func() {
			for n := from + w; ; n += childWorkers {
				seq, err := j.Append(context.Background(), testFrame(n, childSize(n)))
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				mu.Lock()
				_, _ = fmt.Fprintf(os.Stdout, "%d %d\n", seq, n)
				mu.Unlock()
			}
		}()
	}
	// The child consumes as well, all but the last ten, so that commits, rotation
	// and deletion are cut off too.
	for {
		f, err := j.Reader().Next(context.Background())
		if err != nil {
			return 1
		}
		mu.Lock()
		_, _ = fmt.Fprintf(os.Stdout, "read %d %d\n", f.Seq, checksum(f.Payload))
		mu.Unlock()
		if err := j.Reader().Commit(f.Seq); err != nil {
			return 1
		}
		for s := j.Stats(); s.BacklogFrames < 10; s = j.Stats() {
			time.Sleep(time.Millisecond)
		}
	}
}

// SIGKILL at any moment: every acknowledged frame that was not read before is
// read afterwards, as it was written, in order and under the sequence that was told.
func TestKillLosesNothingAcknowledged(t *testing.T) {
	const seed = 20260917
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	exe, err := os.Executable()
	require.NoError(t, err)
	acked := map[uint64]int{}       // sequence to number
	consumed := map[uint64]uint32{} // sequence to the payload's checksum
	var highest uint64
	total, torn := 0, 0
	for kill := range kills {
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), childDir+"="+dir, childFrom+"="+strconv.Itoa(kill*1_000_000))
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		wait := time.Duration(r.IntN(60_000)) * time.Microsecond
		var timer *time.Timer
		lines := bufio.NewReader(out)
		read := uint64(0)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				break // what is behind the last newline was not told
			}
			if timer == nil { // from the first word on, so that it is within appends
				timer = time.AfterFunc(wait, func() { _ = cmd.Process.Kill() })
			}
			var seq uint64
			var n int
			var crc uint32
			if _, err := fmt.Sscanf(line, "read %d %d\n", &seq, &crc); err == nil {
				require.Greater(t, seq, read, "the child read out of order")
				read = seq
				consumed[seq] = crc
				continue
			}
			_, err = fmt.Sscanf(line, "%d %d\n", &seq, &n)
			require.NoError(t, err, "line %q", line)
			_, twice := acked[seq]
			require.False(t, twice, "sequence %d was given twice", seq)
			acked[seq] = n
			highest = max(highest, seq)
			total++
		}
		require.NotNil(t, timer, "the child said nothing")
		require.Error(t, cmd.Wait())
		require.Equal(t, "signal: killed", cmd.ProcessState.String())
	}

	j, rec := open(t, Options{Dir: dir})
	for _, d := range rec.Damage {
		require.True(t, d.Torn, d.String())
		torn++
	}
	var last uint64
	unknown := 0
	for _, f := range readAll(t, j) {
		require.Greater(t, f.Seq, last)
		last = f.Seq
		n, ok := acked[f.Seq]
		if !ok {
			unknown++ // on disk, and the child was killed before it could say so
			continue
		}
		sameFrame(t, f.Seq, testFrame(n, childSize(n)), f)
		delete(acked, f.Seq)
	}
	for seq, n := range acked {
		crc, ok := consumed[seq]
		require.True(t, ok, "sequence %d was acknowledged and is lost", seq)
		require.Equal(t, checksum(testFrame(n, childSize(n)).Payload), crc, "sequence %d", seq)
	}
	s := j.Stats()
	assert.Zero(t, s.LostFrames)
	assert.Greater(t, appendFrame(t, j, testFrame(1, 1)), highest)
	t.Logf("%d kills, %d acknowledged, %d consumed, %d of unknown outcome kept, %d torn at the last start", kills, total, len(consumed), unknown, torn)
	require.Greater(t, total, kills*5)
	require.Greater(t, len(consumed), kills)
}
