package journal

import (
	"errors"
	"fmt"
	"syscall"
	"time"
)

// Errors of Open. Each comes wrapped with the folder and what to do.
var (
	// ErrLocked says that another process, or another Journal of this one, holds the folder.
	ErrLocked = errors.New("journal folder is in use")
	// ErrCopied says that the folder is a copy of another one. Options.Adopt accepts it.
	ErrCopied = errors.New("journal folder is a copy")
	// ErrNewerFormat says that a newer release wrote to the folder. It was left as it is.
	ErrNewerFormat = errors.New("journal format is newer than this release")
)

// Errors of a Journal and its Reader.
var (
	// ErrClosed is returned by everything that is asked of a closed journal.
	ErrClosed = errors.New("journal is closed")
	// ErrTooLarge refuses a payload over MaxPayload. It is permanent: the same frame fails again.
	ErrTooLarge = errors.New("payload is too large for the journal")
	// ErrNotDelivered refuses a commit of a sequence that the Reader has not handed out.
	ErrNotDelivered = errors.New("sequence was not delivered")
)

// What an *AppendError matches with errors.Is, one for each thing a sender can
// be told. All of them may pass.
var (
	// ErrFull says that the journal or its disk is full (ReasonFull, ReasonDiskFull).
	ErrFull = errors.New("journal is full")
	// ErrBusy says that too many bytes wait for fsync (ReasonBusy).
	ErrBusy = errors.New("journal is busy")
	// ErrStalled says that the disk does not answer (ReasonStalled).
	ErrStalled = errors.New("journal's disk has stalled")
	// ErrFailed says that a write or an fsync failed (ReasonFailed).
	ErrFailed = errors.New("journal write failed")
	// ErrInterrupted says that the caller's context ended first (ReasonInterrupted).
	ErrInterrupted = errors.New("journal append was interrupted")
)

// Reason is why Append refused a frame: a closed set, fit for a metric's label.
type Reason string

// The reasons of an AppendError.
const (
	ReasonFull        Reason = "journal_full"
	ReasonDiskFull    Reason = "disk_full"
	ReasonBusy        Reason = "journal_busy"
	ReasonStalled     Reason = "fsync_stalled"
	ReasonFailed      Reason = "write_failed"
	ReasonInterrupted Reason = "interrupted"
)

// How long a refused sender should wait. A full journal empties at the pace of
// ClickHouse, seconds; a busy one at the pace of an fsync; a stalled or failing
// disk is worth asking again after a few seconds, not sooner, since each try
// costs it work.
const (
	retryFull   = 5 * time.Second
	retryBusy   = 250 * time.Millisecond
	retryBroken = 2 * time.Second
)

// AppendError is a refused or unfinished append. It matches the sentinel of its
// reason with errors.Is, and the cause as well.
type AppendError struct {
	Reason Reason
	// RetryAfter is how long the sender should wait; 0 when it is not ours to say.
	RetryAfter time.Duration
	// OutcomeUnknown says that the frame may yet be on disk, so that sending it
	// again may store it twice.
	OutcomeUnknown bool
	// Err is the cause.
	Err error
}

// Error says what failed, why, and whether the outcome is known.
func (e *AppendError) Error() string {
	outcome := "the frame was not written"
	if e.OutcomeUnknown {
		outcome = "whether the frame is on disk is not known"
	}
	if e.RetryAfter > 0 {
		return fmt.Sprintf("append to journal: %v (%s); try again after %s", e.Err, outcome, e.RetryAfter)
	}
	return fmt.Sprintf("append to journal: %v (%s)", e.Err, outcome)
}

// Unwrap gives the sentinel of the reason, and the cause.
func (e *AppendError) Unwrap() []error {
	return []error{sentinels[e.Reason], e.Err}
}

// sentinels pairs each reason with what errors.Is finds.
var sentinels = map[Reason]error{
	ReasonFull:        ErrFull,
	ReasonDiskFull:    ErrFull,
	ReasonBusy:        ErrBusy,
	ReasonStalled:     ErrStalled,
	ReasonFailed:      ErrFailed,
	ReasonInterrupted: ErrInterrupted,
}

// isDiskFull reports whether err is for want of space. A file-size limit counts:
// to a sender it is the same.
func isDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// writeError sorts a failed write or fsync. After an fsync that failed the bytes
// may be on disk all the same.
func writeError(err error, unknown bool) *AppendError {
	if isDiskFull(err) {
		return &AppendError{Reason: ReasonDiskFull, RetryAfter: retryFull, OutcomeUnknown: unknown, Err: err}
	}
	return &AppendError{Reason: ReasonFailed, RetryAfter: retryBroken, OutcomeUnknown: unknown, Err: err}
}
