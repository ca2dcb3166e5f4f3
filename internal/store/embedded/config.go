// Package embedded runs ClickHouse inside this process and serves its HTTP
// interface on loopback, so that a machine without a ClickHouse server has the
// same store, the same SQL and the same schema as one with it. It owns the
// listener and the engine's life: start, drain, stop. Everything that wants the
// store, this process included, talks to it over HTTP as to any ClickHouse.
//
// It opens the engine's library when Start is called and never before. It
// refuses to listen beyond loopback, since whoever reaches the port has the
// store: user names and passwords are accepted and ignored. What else it refuses
// is in the packages below: statements that reach outside the store, sessions,
// and requests that a web page could cause.
package embedded

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"
)

// Defaults of Config.
const (
	DefaultListen           = "127.0.0.1:8123"
	DefaultMemoryLimitMiB   = 1024
	DefaultMarkCacheMiB     = 64
	DefaultUncompressedMiB  = 0
	DefaultIndexCacheMiB    = 32
	DefaultMaxQueries       = 8
	DefaultShutdownDeadline = 20 * time.Second
)

// minMemoryLimitMiB is what the engine needs to load its own metadata and merge
// parts; below it fails at its first insert.
const minMemoryLimitMiB = 256

// maxQueries bounds the connections of the engine, each of which has threads.
const maxQueries = 64

// Config says where the store is and what it may use.
type Config struct {
	// Path is the data folder; it is made when absent.
	Path string
	// Listen is the loopback address of the HTTP interface; port 0 takes a free one.
	Listen string
	// Library is the file of libchdb; empty looks for it, see FindLibrary.
	Library string
	// MemoryLimitMiB is for the engine as a whole, its caches included. A query
	// that would pass it fails; one query alone gets three quarters of it.
	MemoryLimitMiB int64
	// MarkCacheMiB, UncompressedCacheMiB and IndexCacheMiB are parts of that.
	MarkCacheMiB, UncompressedCacheMiB, IndexCacheMiB int64
	// MaxQueries is how many statements run at a time; the others wait their turn.
	MaxQueries int
}

// NewDefaultConfig returns the defaults; Path has none.
func NewDefaultConfig() Config {
	return Config{
		Listen:               DefaultListen,
		MemoryLimitMiB:       DefaultMemoryLimitMiB,
		MarkCacheMiB:         DefaultMarkCacheMiB,
		UncompressedCacheMiB: DefaultUncompressedMiB,
		IndexCacheMiB:        DefaultIndexCacheMiB,
		MaxQueries:           DefaultMaxQueries,
	}
}

// Validate names each field that is wrong, with its value.
func (c Config) Validate() error {
	var errs []error
	if strings.TrimSpace(c.Path) == "" {
		errs = append(errs, errors.New("path is empty; name the data folder"))
	}
	if err := validateListen(c.Listen); err != nil {
		errs = append(errs, err)
	}
	if c.MemoryLimitMiB < minMemoryLimitMiB {
		errs = append(errs, fmt.Errorf("memory_limit_mib is %d, and the engine needs at least %d", c.MemoryLimitMiB, minMemoryLimitMiB))
	}
	caches := int64(0)
	for _, cache := range []struct {
		name  string
		value int64
	}{
		{"mark_cache_mib", c.MarkCacheMiB},
		{"uncompressed_cache_mib", c.UncompressedCacheMiB},
		{"index_cache_mib", c.IndexCacheMiB},
	} {
		if cache.value < 0 {
			errs = append(errs, fmt.Errorf("%s is %d; it must not be negative", cache.name, cache.value))
		}
		caches += max(cache.value, 0)
	}
	if c.MemoryLimitMiB >= minMemoryLimitMiB && caches > c.MemoryLimitMiB/2 {
		errs = append(errs, fmt.Errorf("mark_cache_mib, uncompressed_cache_mib and index_cache_mib are %d together, more than half of memory_limit_mib %d", caches, c.MemoryLimitMiB))
	}
	if c.MaxQueries < 1 || c.MaxQueries > maxQueries {
		errs = append(errs, fmt.Errorf("max_queries is %d; it must be from 1 to %d", c.MaxQueries, maxQueries))
	}
	return errors.Join(errs...)
}

// validateListen takes loopback addresses only.
func validateListen(listen string) error {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("listen is %q, which is no host:port: %w", listen, err)
	}
	if host == "localhost" {
		return nil
	}
	if ip, err := netip.ParseAddr(host); err != nil || !ip.IsLoopback() {
		return fmt.Errorf("listen is %q; the embedded ClickHouse has no access control and listens on loopback only (127.0.0.1, [::1] or localhost)", listen)
	}
	return nil
}
