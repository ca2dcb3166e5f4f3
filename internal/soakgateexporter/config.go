package soakgateexporter

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configopaque"

	"github.com/soakgate/soakgate/internal/store"
)

// Config is what the operator sets.
type Config struct {
	// DSN is where ClickHouse is, with credentials where it wants them. Empty: the
	// environment variable SOAKGATE_DSN, else the embedded ClickHouse's default.
	DSN configopaque.String `mapstructure:"dsn"`
	// Migrate applies missing schema migrations at start.
	Migrate bool `mapstructure:"migrate"`
	// Cluster makes tables on all servers of a ClickHouse cluster, Replicated and
	// behind Distributed ones. Empty: a single server.
	Cluster string `mapstructure:"cluster"`
	// Collector names this collector in heartbeats. Empty: the host's name.
	Collector string `mapstructure:"collector"`

	Journal   JournalConfig   `mapstructure:"journal"`
	Batch     BatchConfig     `mapstructure:"batch"`
	Seal      SealConfig      `mapstructure:"seal"`
	Retention RetentionConfig `mapstructure:"retention"`
	Soak      SoakConfig      `mapstructure:"soak"`

	// PayloadAttributes are log attributes that may hold an envelope, besides
	// exception.message, error.message and mcp.error.envelope.
	PayloadAttributes []string `mapstructure:"payload_attributes"`
}

// JournalConfig is the log on disk between acknowledgement and ClickHouse.
type JournalConfig struct {
	// Directory holds the journal. One collector owns it.
	Directory string `mapstructure:"directory"`
	// MaxSizeMiB bounds it. A full journal refuses senders, who try again.
	MaxSizeMiB int64 `mapstructure:"max_size_mib"`
	// MaxPendingMiB bounds the bytes that wait for fsync, in memory.
	MaxPendingMiB int64 `mapstructure:"max_pending_mib"`
	// Adopt accepts a folder that was copied from another journal's.
	Adopt bool `mapstructure:"adopt"`
}

// BatchConfig says when rows are sent to ClickHouse: whichever is met first.
type BatchConfig struct {
	MaxRows    int           `mapstructure:"max_rows"`
	MaxSizeMiB int           `mapstructure:"max_size_mib"`
	MaxAge     time.Duration `mapstructure:"max_age"`
}

// SealConfig is the computing of rollups.
type SealConfig struct {
	// Enabled is true unless another collector seals.
	Enabled bool `mapstructure:"enabled"`
	// Interval is the time between looks for slices to seal; open slices are
	// sealed provisionally, so that panels stay live.
	Interval time.Duration `mapstructure:"interval"`
}

// RetentionConfig says how many days data is kept, counted from arrival.
type RetentionConfig struct {
	PayloadDays int `mapstructure:"payload_days"`
	RecordsDays int `mapstructure:"records_days"`
	RollupDays  int `mapstructure:"rollup_days"`
}

func createDefaultConfig() component.Config {
	return &Config{
		Migrate: true,
		Journal: JournalConfig{Directory: ".soakgate/journal", MaxSizeMiB: 8192, MaxPendingMiB: 64},
		Batch: BatchConfig{
			MaxRows:    store.DefaultLimits.Rows,
			MaxSizeMiB: store.DefaultLimits.Bytes >> 20,
			MaxAge:     store.DefaultLimits.Age,
		},
		Seal: SealConfig{Enabled: true, Interval: 5 * time.Second},
		Retention: RetentionConfig{
			PayloadDays: store.DefaultRetention.PayloadDays,
			RecordsDays: store.DefaultRetention.RecordsDays,
			RollupDays:  store.DefaultRetention.RollupDays,
		},
	}
}

// Validate names the first field that cannot be, and its value.
func (c *Config) Validate() error {
	s, err := store.Open(c.dsn())
	if err != nil {
		return fmt.Errorf("dsn: %w", err)
	}
	defer s.Close()
	if err := s.OnCluster(c.Cluster); err != nil {
		return err
	}
	if strings.TrimSpace(c.Journal.Directory) == "" {
		return errors.New("journal::directory is empty: name a folder on a disk that survives restarts")
	}
	for _, f := range []struct {
		name       string
		value, min int64
	}{
		{"journal::max_size_mib", c.Journal.MaxSizeMiB, 8},
		{"journal::max_pending_mib", c.Journal.MaxPendingMiB, 1},
		{"batch::max_rows", int64(c.Batch.MaxRows), 1},
		{"batch::max_size_mib", int64(c.Batch.MaxSizeMiB), 1},
		{"retention::payload_days", int64(c.Retention.PayloadDays), 1},
		{"retention::records_days", int64(c.Retention.RecordsDays), int64(c.Retention.PayloadDays)},
		{"retention::rollup_days", int64(c.Retention.RollupDays), int64(c.Retention.RecordsDays)},
	} {
		if f.value < f.min {
			return fmt.Errorf("%s is %d: it must be at least %d", f.name, f.value, f.min)
		}
	}
	if c.Batch.MaxAge < 100*time.Millisecond || c.Batch.MaxAge > time.Minute {
		return fmt.Errorf("batch::max_age is %s: it must be between 100ms and 1m", c.Batch.MaxAge)
	}
	if c.Seal.Enabled && (c.Seal.Interval < 100*time.Millisecond || c.Seal.Interval > time.Minute) {
		return fmt.Errorf("seal::interval is %s: it must be between 100ms and 1m", c.Seal.Interval)
	}
	return c.Soak.validate()
}

func (c *Config) dsn() string { return store.DSNFromEnv(string(c.DSN)) }

func (c *Config) limits() store.Limits {
	return store.Limits{Rows: c.Batch.MaxRows, Bytes: c.Batch.MaxSizeMiB << 20, Age: c.Batch.MaxAge}
}

func (c *Config) retention() store.Retention { return store.Retention(c.Retention) }
