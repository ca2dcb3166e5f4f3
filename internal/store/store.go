// Package store reads and writes records in ClickHouse. All SQL of the project
// is below this folder. It owns the schema and its migrations, the journal's
// way into ClickHouse, the sealing of slices into rollups, and the figures that
// verdict, metrics and panels share. It judges nothing.
package store

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// DefaultDSN is where the embedded ClickHouse of config/local.yaml answers.
const DefaultDSN = "http://127.0.0.1:8123/soakgate"

// EnvDSN names the environment variable that holds the DSN where no flag does.
const EnvDSN = "SOAKGATE_DSN"

// DefaultDatabase is the database where the DSN names none.
const DefaultDatabase = "soakgate"

// dialTimeout bounds how long one attempt to connect takes, and so how long a
// dead connection can hold a query back.
const dialTimeout = 5 * time.Second

// Store is a ClickHouse database. Safe for concurrent use.
type Store struct {
	conn     driver.Conn
	inserter *inserter
	database string
	address  string // without credentials, for messages
}

// DSNFromEnv is the DSN to use where a flag was left empty.
func DSNFromEnv(flag string) string {
	switch {
	case flag != "":
		return flag
	case os.Getenv(EnvDSN) != "":
		return os.Getenv(EnvDSN)
	}
	return DefaultDSN
}

// Open prepares a store; it does not connect. The database need not exist.
func Open(dsn string) (*Store, error) {
	options, err := clickhouse.ParseDSN(dsn)
	if err != nil {
		return nil, fmt.Errorf("read the ClickHouse DSN: %w; it looks like http://host:8123/soakgate", withoutDSN(err, dsn))
	}
	database := options.Auth.Database
	if database == "" || database == "default" {
		database = DefaultDatabase
	}
	if !identifier(database) {
		return nil, fmt.Errorf("read the ClickHouse DSN: database %q: use letters, digits and underscores only", database)
	}
	if options.Protocol != clickhouse.HTTP {
		return nil, fmt.Errorf("read the ClickHouse DSN: scheme %q is not supported: use http:// or https://", schemeOf(dsn))
	}
	// Statements name their database themselves, so that connecting works
	// before the database has been made.
	options.Auth.Database = ""
	options.DialTimeout = dialTimeout
	options.ConnMaxLifetime = time.Minute
	if options.Settings == nil {
		options.Settings = clickhouse.Settings{}
	}
	// An acknowledged row must be stored, whatever the server's profile says.
	options.Settings["async_insert"] = 0
	conn, err := clickhouse.Open(options)
	if err != nil {
		return nil, fmt.Errorf("prepare the connection to ClickHouse at %s: %w", strings.Join(options.Addr, ","), err)
	}
	return &Store{
		conn:     conn,
		inserter: newInserter(options),
		database: database,
		address:  strings.Join(options.Addr, ",") + "/" + database,
	}, nil
}

// Ping asks whether ClickHouse answers.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.conn.Ping(ctx); err != nil {
		return s.wrap("ask ClickHouse for a sign of life", err)
	}
	return nil
}

// Address is where the store is, without credentials.
func (s *Store) Address() string { return s.address }

// Close gives the connections back.
func (s *Store) Close() error {
	s.inserter.close()
	return s.conn.Close()
}

// wrap says what was being done, and where.
func (s *Store) wrap(doing string, err error) error {
	return fmt.Errorf("%s (ClickHouse at %s): %w", doing, s.address, err)
}

// withoutDSN keeps an error's reason and drops the DSN from its text, since the
// DSN may hold a password.
func withoutDSN(err error, dsn string) error {
	var parse *url.Error
	if errors.As(err, &parse) {
		return parse.Err
	}
	return errors.New(strings.ReplaceAll(err.Error(), dsn, "(DSN)"))
}

func schemeOf(dsn string) string {
	scheme, _, _ := strings.Cut(dsn, "://")
	return scheme
}

func identifier(s string) bool {
	for i, r := range s {
		letter := r == '_' || (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z')
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}
