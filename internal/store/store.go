// Package store reads and writes records in ClickHouse. All SQL of the project
// is below this folder. It owns the schema and its migrations, the journal's
// way into ClickHouse, the sealing of slices into rollups, and the figures that
// verdict, metrics and panels share. It judges nothing.
package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// DefaultDSN is where the embedded ClickHouse of config/local.yaml answers.
const DefaultDSN = "http://127.0.0.1:8123/soakgate"

// EnvDSN names the environment variable that holds the DSN where no flag does.
const EnvDSN = "SOAKGATE_DSN"

// EnvPassword names the environment variable with ClickHouse's password, as it
// is, and EnvPasswordFile the one with a file that holds it. They are used where
// the DSN has no password.
const (
	EnvPassword     = "SOAKGATE_CLICKHOUSE_PASSWORD"      //nolint:gosec // a name
	EnvPasswordFile = "SOAKGATE_CLICKHOUSE_PASSWORD_FILE" //nolint:gosec // a name
)

func passwordFromEnv() (string, error) {
	file := os.Getenv(EnvPasswordFile)
	if file == "" {
		return os.Getenv(EnvPassword), nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read ClickHouse's password from $%s: %w", EnvPasswordFile, err)
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

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
	cluster  string // see OnCluster
}

// schemes are those of a DSN: the native protocol over TCP, with TLS where the
// DSN says secure=true, and HTTP.
var schemes = []string{"clickhouse", "tcp", "http", "https"}

// withTLS says what https:// says already, since the driver wants it twice.
func withTLS(scheme, dsn string) string {
	if scheme != "https" || strings.Contains(dsn, "secure=") {
		return dsn
	}
	if strings.Contains(dsn, "?") {
		return dsn + "&secure=true"
	}
	return dsn + "?secure=true"
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
	scheme, _, _ := strings.Cut(dsn, "://")
	if !slices.Contains(schemes, scheme) {
		return nil, fmt.Errorf("read the ClickHouse DSN: its scheme is none of %s: it looks like http://host:8123/soakgate", strings.Join(schemes, ", "))
	}
	options, err := clickhouse.ParseDSN(withTLS(scheme, dsn))
	if err != nil {
		return nil, fmt.Errorf("read the ClickHouse DSN: %w; it looks like http://host:8123/soakgate or clickhouse://user:password@host:9000/soakgate, "+
			"with %%40 for @, %%2F for / and so on in the password, or with the password in $%s", withoutDSN(err, dsn), EnvPassword)
	}
	database := options.Auth.Database
	if database == "" || database == "default" {
		database = DefaultDatabase
	}
	if !identifier(database) {
		return nil, fmt.Errorf("read the ClickHouse DSN: database %q: use letters, digits and underscores only", database)
	}
	if options.Auth.Password == "" {
		if options.Auth.Password, err = passwordFromEnv(); err != nil {
			return nil, err
		}
	}
	// Statements name their database themselves, so that connecting works
	// before the database has been made.
	options.Auth.Database = ""
	options.DialTimeout = dialTimeout
	options.ConnMaxLifetime = time.Minute
	if options.Protocol == clickhouse.HTTP {
		options.TransportFunc = func(t *http.Transport) (http.RoundTripper, error) {
			liveConnections(t)
			return t, nil
		}
	}
	if options.Settings == nil {
		options.Settings = clickhouse.Settings{}
	}
	for _, more := range []map[string]any{durableSettings, clusterSettings} {
		maps.Copy(options.Settings, more)
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		return nil, fmt.Errorf("prepare the connection to ClickHouse at %s: %w", strings.Join(options.Addr, ","), err)
	}
	return &Store{
		conn:     conn,
		inserter: newInserter(options, conn),
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

// withoutDSN is an error's reason without its text when that may quote the DSN,
// or a part of it, which may hold a password.
func withoutDSN(err error, dsn string) error {
	if parse, ok := errors.AsType[*url.Error](err); ok {
		err = parse.Err
	}
	// What stands behind the scheme and before the last @ is user and password.
	_, rest, _ := strings.Cut(dsn, "://")
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		for _, part := range strings.FieldsFunc(rest[:at], func(r rune) bool { return strings.ContainsRune(":@/?#", r) }) {
			if strings.Contains(err.Error(), part) {
				return errors.New("it cannot be parsed")
			}
		}
	}
	return errors.New(strings.ReplaceAll(err.Error(), dsn, "(DSN)"))
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
