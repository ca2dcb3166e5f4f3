package journal

import (
	"errors"
	"fmt"
	"time"
)

// MaxPayload is the largest payload of a frame, in bytes. A request of the
// stock OTLP receiver is at most 20 MiB by default and grows about threefold
// when it is judged; a header that promises more than this is not believed.
const MaxPayload = 64 << 20

// Limits and defaults of Options.
const (
	// DefaultSegmentBytes lets a backlog be freed in steps that are small next to
	// DefaultMaxBytes, and the last segment be verified at start in well under a second.
	DefaultSegmentBytes = 64 << 20
	// DefaultMaxBytes holds half an hour at 5,000 records a second of 700 bytes.
	DefaultMaxBytes = 8 << 30
	// DefaultMaxPendingBytes bounds the memory of appends; it is about what a
	// slow disk (100 MB/s) takes in under a second.
	DefaultMaxPendingBytes = 64 << 20
	// DefaultMaxSyncDelay is past any healthy disk's worst fsync and within the
	// 10 s after which OTLP exporters give up by default.
	DefaultMaxSyncDelay = 8 * time.Second
	// DefaultCommitInterval is how much consumed work a crash repeats at most.
	DefaultCommitInterval = 250 * time.Millisecond
	// DefaultRotateAge frees the space of a quiet journal after minutes.
	DefaultRotateAge = 10 * time.Minute
	// DefaultMaxDamagedBytes keeps what one bad segment can hold, a few times over.
	DefaultMaxDamagedBytes = 256 << 20

	minSegmentBytes = 4 << 10
	maxSegmentBytes = 1 << 30 // offsets are 32 bits, and a frame may lie past the bound
	minMaxBytes     = 4 * minSegmentBytes
)

// Options is what a Journal is opened with. Zero means the default, except for Dir.
type Options struct {
	// Dir is the journal's folder. It is made when it is absent.
	Dir string
	// Adopt accepts a copied folder under a new journal id; frames in it keep the
	// old one. It does nothing to a folder that is no copy.
	Adopt bool
	// SegmentBytes is the size at which a segment is sealed, 4 KiB to 1 GiB. It is
	// never more than a quarter of MaxBytes, so that freeing a segment is felt.
	SegmentBytes int64
	// MaxBytes bounds the segments on disk.
	MaxBytes int64
	// MaxPendingBytes bounds the bytes that wait for fsync, in memory.
	MaxPendingBytes int64
	// MaxSyncDelay bounds the write and fsync of one batch.
	MaxSyncDelay time.Duration
	// CommitInterval is the least time between two writes of the commit point.
	CommitInterval time.Duration
	// RotateAge is the age at which a segment is sealed whatever its size.
	RotateAge time.Duration
	// MaxDamagedBytes bounds what is copied into the folder "damaged".
	MaxDamagedBytes int64

	// OnSync is called after each fsync of a batch with its duration, frames and
	// bytes. It is called between batches and must be quick.
	OnSync func(d time.Duration, frames, bytes int)
	// OnDamage is called for damage that the Reader comes upon, from within Next.
	OnDamage func(Damage)

	// disk is the filesystem; tests put faults in its place.
	disk *disk
}

// withDefaults checks o and fills in what is not set.
func (o Options) withDefaults() (Options, error) {
	if o.Dir == "" {
		return o, errors.New("journal options: Dir is empty; name the folder the journal is kept in")
	}
	setDefault(&o.SegmentBytes, DefaultSegmentBytes)
	setDefault(&o.MaxBytes, DefaultMaxBytes)
	setDefault(&o.MaxPendingBytes, DefaultMaxPendingBytes)
	setDefault(&o.MaxSyncDelay, DefaultMaxSyncDelay)
	setDefault(&o.CommitInterval, DefaultCommitInterval)
	setDefault(&o.RotateAge, DefaultRotateAge)
	setDefault(&o.MaxDamagedBytes, DefaultMaxDamagedBytes)
	if o.disk == nil {
		o.disk = realDisk()
	}
	if o.SegmentBytes < minSegmentBytes || o.SegmentBytes > maxSegmentBytes {
		return o, fmt.Errorf("journal options: SegmentBytes is %d; it must be %d to %d", o.SegmentBytes, minSegmentBytes, maxSegmentBytes)
	}
	if o.MaxBytes < minMaxBytes {
		return o, fmt.Errorf("journal options: MaxBytes is %d; it must be at least %d", o.MaxBytes, minMaxBytes)
	}
	for name, v := range map[string]int64{
		"MaxPendingBytes": o.MaxPendingBytes,
		"MaxSyncDelay":    int64(o.MaxSyncDelay),
		"CommitInterval":  int64(o.CommitInterval),
		"RotateAge":       int64(o.RotateAge),
		"MaxDamagedBytes": o.MaxDamagedBytes,
	} {
		if v < 0 {
			return o, fmt.Errorf("journal options: %s is %d; it must not be negative", name, v)
		}
	}
	o.SegmentBytes = min(o.SegmentBytes, o.MaxBytes/4)
	return o, nil
}

func setDefault[T int64 | time.Duration](v *T, d T) {
	if *v == 0 {
		*v = d
	}
}
