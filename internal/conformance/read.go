package conformance

import (
	"context"
	"io"
	"os"

	"github.com/soakgate/soakgate/internal/classify"
)

// await gives what do returns, or the context's cause when that ends first. Then
// do goes on by itself, since nothing can end a read that waits; the process is
// about to.
func await[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := do()
		done <- outcome{value, err}
	}()
	select {
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	case out := <-done:
		return out.value, out.err
	}
}

// interruptible reads in until the context ends, also while a read waits for a
// terminal or a pipe. Once a Read was interrupted it must not be called again:
// the read that still waits owns buf.
type interruptible struct {
	ctx context.Context
	in  io.Reader
	buf [64 << 10]byte
}

func (r *interruptible) Read(p []byte) (int, error) {
	buf := r.buf[:min(len(p), len(r.buf))]
	n, err := await(r.ctx, func() (int, error) { return r.in.Read(buf) })
	return copy(p, buf[:n]), err
}

// readFile reads at most one byte more than the classifier takes, so that a
// longer file is refused as the payload that it is.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, classify.MaxPayload+1))
}
