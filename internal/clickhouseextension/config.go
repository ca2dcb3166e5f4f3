package clickhouseextension

import (
	"github.com/soakgate/soakgate/internal/store/embedded"
)

// Config is what the operator sets.
type Config struct {
	// Path is the data folder; required, made when absent.
	Path string `mapstructure:"path"`
	// Listen is the loopback address of ClickHouse's HTTP interface.
	Listen string `mapstructure:"listen"`
	// Library is the file of libchdb; empty looks for it.
	Library string `mapstructure:"library"`
	// MemoryLimitMiB is for the engine as a whole, in MiB. memory_limiter does not
	// see it: give the machine room for both.
	MemoryLimitMiB int64 `mapstructure:"memory_limit_mib"`
	// MarkCacheMiB, UncompressedCacheMiB and IndexCacheMiB are parts of it.
	MarkCacheMiB         int64 `mapstructure:"mark_cache_mib"`
	UncompressedCacheMiB int64 `mapstructure:"uncompressed_cache_mib"`
	IndexCacheMiB        int64 `mapstructure:"index_cache_mib"`
	// MaxQueries is how many statements run at a time.
	MaxQueries int `mapstructure:"max_queries"`
}

// Validate names each field that is wrong, with its value.
func (c *Config) Validate() error { return c.embedded().Validate() }

// embedded is the same in the store's terms.
func (c *Config) embedded() embedded.Config {
	return embedded.Config{
		Path:                 c.Path,
		Listen:               c.Listen,
		Library:              c.Library,
		MemoryLimitMiB:       c.MemoryLimitMiB,
		MarkCacheMiB:         c.MarkCacheMiB,
		UncompressedCacheMiB: c.UncompressedCacheMiB,
		IndexCacheMiB:        c.IndexCacheMiB,
		MaxQueries:           c.MaxQueries,
	}
}
