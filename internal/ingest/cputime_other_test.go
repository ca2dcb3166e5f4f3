//go:build !linux

package ingest

import "time"

// cpuTime is the time that do takes, where a thread's own is not to be had.
func cpuTime(do func()) time.Duration {
	began := time.Now()
	do()
	return time.Since(began)
}
