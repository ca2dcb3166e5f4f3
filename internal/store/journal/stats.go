package journal

import "time"

// Stats is the journal's figures at one moment.
type Stats struct {
	ID ID
	// Bytes is the size of the segments on disk, Segments their number. What is
	// in the folder "damaged" is apart, in SavedBytes.
	Bytes    int64
	Segments int
	// PendingBytes wait for fsync.
	PendingBytes int64
	// BacklogFrames and BacklogRows are on disk and not committed.
	BacklogFrames, BacklogRows uint64
	// Oldest is when the oldest of those arrived; zero when there is none.
	Oldest time.Time
	// LastSeq is the highest sequence on disk, Committed the commit point.
	LastSeq, Committed uint64
	// LastSync is how long the last fsync took.
	LastSync time.Duration
	// DamageEvents, DamagedBytes and LostFrames count what could not be read
	// since Open, torn appends included; LostRows is what of the backlog's rows
	// went with it.
	DamageEvents         uint64
	DamagedBytes         int64
	LostFrames, LostRows uint64
	// SavedBytes is what the folder "damaged" holds.
	SavedBytes int64
	// KeepErr is why the commit point could not be persisted, or a consumed
	// segment not deleted, the last time that was tried; nil when it could.
	KeepErr error
}

// Stats gives the figures. It may wait for a read of the Reader, and for nothing else.
func (j *Journal) Stats() Stats {
	s := Stats{ID: j.id, Oldest: j.reader.oldest()}
	j.reader.mu.Lock()
	s.Committed = j.reader.commit
	j.reader.mu.Unlock()

	j.mu.Lock()
	s.Bytes, s.Segments, s.PendingBytes = j.disk, len(j.segments), j.pending
	s.BacklogFrames, s.BacklogRows = j.frames, j.rows
	s.LastSeq, s.LastSync = j.last, j.lastSync
	s.LostRows, s.KeepErr = j.lostRows, j.keepErr
	j.mu.Unlock()

	j.attic.mu.Lock()
	s.DamageEvents, s.DamagedBytes, s.LostFrames = j.attic.events, j.attic.bytes, j.attic.frames
	s.SavedBytes = j.attic.saved
	j.attic.mu.Unlock()
	return s
}
