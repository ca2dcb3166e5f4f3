// Package journal is the collector's append-only log on disk. It owns the
// journal's folder: what Append has acknowledged is fsynced, is read back in
// order by the one Reader, and stays until the reader has committed it.
//
// It carries bytes and does not know what a record is; the meaning of a
// payload is its caller's, told apart by Frame.Kind. It refuses what it cannot
// keep, at once and with a reason, and drops nothing in silence: a frame that
// damage took away is reported with its place and its sequence. It refuses a
// folder that another process holds, that was copied, or that a newer release
// has written to. It does not log; what happened is returned, counted in Stats,
// or handed to the hooks in Options.
//
// The format is docs/journal-format.md.
//
// # Goroutines and locks
//
// Append hands an entry to the one syncer goroutine, which writes and fsyncs
// whatever gathered while it was busy with the batch before (group commit). The
// one keeper goroutine persists the commit point and deletes consumed segments.
//
//	Append ──► queue ──► syncer ──► segment ──► Reader ──► Commit ──► keeper
//
// Locks are taken in this order: keepMu, Reader.mu, Journal.mu. Nothing waits
// for the disk while it holds Journal.mu, so Append and Stats stay quick while
// an fsync hangs.
package journal
