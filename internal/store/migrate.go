package store

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/soakgate/soakgate/internal/store/sql"
)

// Retention says how long data is kept, in days of arrival.
type Retention struct {
	PayloadDays int // the payload's text
	RecordsDays int // records
	RollupDays  int // rollups
}

// DefaultRetention keeps rollups for longer than any soak looks back.
var DefaultRetention = Retention{PayloadDays: 30, RecordsDays: 100, RollupDays: 400}

// Migration is one numbered step of the schema.
type Migration struct {
	Version uint32
	Name    string
	Applied bool
	text    string
	front   string // on a cluster, the Distributed table before it
}

// SchemaError says that the database's schema does not fit this program.
type SchemaError struct {
	Address string
	Have    uint32 // the newest version found in the database
	Want    uint32 // the newest version that this program knows
}

// Error says what to do.
func (e *SchemaError) Error() string {
	if e.Have > e.Want {
		return fmt.Sprintf("the schema at %s is at version %d, newer than this program's %d: run the newer program, or one at least as new", e.Address, e.Have, e.Want)
	}
	return fmt.Sprintf("the schema at %s is at version %d, this program needs %d: run `collector migrate up`", e.Address, e.Have, e.Want)
}

// Migrations lists all steps and whether the database has them.
func (s *Store) Migrations(ctx context.Context, keep Retention) ([]Migration, error) {
	statements, err := sql.Folder("migrations")
	if err != nil {
		return nil, err
	}
	applied, err := s.appliedMigrations(ctx)
	if err != nil {
		return nil, err
	}
	var newest uint32
	for v := range applied {
		newest = max(newest, v)
	}
	migrations := make([]Migration, 0, len(statements))
	for _, st := range statements {
		values := s.ddlValues()
		values["PayloadDays"], values["RecordsDays"], values["RollupDays"] = strconv.Itoa(keep.PayloadDays), strconv.Itoa(keep.RecordsDays), strconv.Itoa(keep.RollupDays)
		text, err := st.Fill(values)
		if err != nil {
			return nil, err
		}
		number, name, _ := strings.Cut(st.Name, "_")
		version, err := strconv.ParseUint(number, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("migration %s has no number: %w", st.Name, err)
		}
		migrations = append(migrations, Migration{
			Version: uint32(version), Name: name, Applied: applied[uint32(version)], text: text, front: s.distributed(text),
		})
	}
	if known := migrations[len(migrations)-1].Version; newest > known {
		return nil, &SchemaError{Address: s.address, Have: newest, Want: known}
	}
	return migrations, nil
}

// CheckSchema tells whether the database has all migrations.
func (s *Store) CheckSchema(ctx context.Context) error {
	migrations, err := s.Migrations(ctx, DefaultRetention)
	if err != nil {
		return err
	}
	var have uint32
	for _, m := range migrations {
		if !m.Applied {
			return &SchemaError{Address: s.address, Have: have, Want: migrations[len(migrations)-1].Version}
		}
		have = m.Version
	}
	return s.checkColumns(ctx)
}

// Migrate applies what the database lacks. Each step is safe to run twice, so
// two collectors that start at once do not trip over each other.
func (s *Store) Migrate(ctx context.Context, keep Retention, release string) (applied int, err error) {
	if err := s.conn.Exec(ctx, "CREATE DATABASE IF NOT EXISTS "+s.database+s.onCluster()); err != nil {
		return 0, s.wrap("create the database", err)
	}
	migrations, err := s.Migrations(ctx, keep)
	if err != nil {
		return 0, err
	}
	for _, m := range migrations {
		if m.Applied {
			continue
		}
		for _, text := range []string{m.text, m.front} {
			if text == "" {
				continue
			}
			if err := s.conn.Exec(ctx, text); err != nil {
				return applied, s.wrap(fmt.Sprintf("apply migration %d (%s)", m.Version, m.Name), err)
			}
		}
		if err := s.conn.Exec(ctx, "INSERT INTO "+s.database+".schema_migrations (version, name, release) VALUES (?, ?, ?)", m.Version, m.Name, release); err != nil {
			return applied, s.wrap(fmt.Sprintf("record migration %d (%s)", m.Version, m.Name), err)
		}
		applied++
	}
	return applied, s.checkColumns(ctx)
}

// insertInto finds the table and the columns that a statement of a seal writes.
var insertInto = regexp.MustCompile(`INSERT INTO \S+\.(\w+)\s*\(([^)]*)\)`)

// writtenColumns are the columns that this program writes, by table.
func writtenColumns() (map[string][]string, error) {
	split := func(list string) []string {
		names := strings.Split(list, ",")
		for i, n := range names {
			names[i] = strings.Trim(n, "` \n")
		}
		return names
	}
	written := map[string][]string{
		"records": split(recordColumns), "collector_heartbeats": split(heartbeatColumns), "rejected_records": split(rejectedBlockColumns),
	}
	epoch := time.Unix(0, 0)
	for folder, values := range map[string]map[string]string{
		"seal": sealValues("d", "s", uuid.Nil, epoch, epoch), "hours": hourValues("d", epoch, epoch),
	} {
		statements, err := sql.Folder(folder)
		if err != nil {
			return nil, err
		}
		for _, st := range statements {
			text, err := st.Fill(values)
			if err != nil {
				return nil, err
			}
			found := insertInto.FindStringSubmatch(text)
			if found != nil && found[1] != values["Scratch"]+"_rows" {
				written[found[1]] = split(found[2])
			}
		}
	}
	return written, nil
}

// checkColumns refuses a database that lacks a column that this program writes:
// the first insert would fail, and an idle collector would look healthy.
func (s *Store) checkColumns(ctx context.Context) error {
	written, err := writtenColumns()
	if err != nil {
		return err
	}
	result, err := s.conn.Query(ctx, "SELECT table, name FROM system.columns WHERE database = ?", s.database)
	if err != nil {
		return s.wrap("read the tables' columns", err)
	}
	type column struct{ table, name string }
	have, err := scanAll(result, func(c *column, scan scanner) error { return scan(&c.table, &c.name) })
	if err != nil {
		return s.wrap("read the tables' columns", err)
	}
	var missing []string
	for table, names := range written {
		for _, name := range names {
			if !slices.Contains(have, column{table, name}) {
				missing = append(missing, table+"."+name)
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	return fmt.Errorf("the schema at %s lacks the columns %s although its migrations are recorded: add them as internal/store/sql/migrations has them, or restore the database", s.address, strings.Join(missing, ", "))
}

func (s *Store) appliedMigrations(ctx context.Context) (map[uint32]bool, error) {
	var exists uint64
	if err := s.conn.QueryRow(ctx, "SELECT count() FROM system.tables WHERE database = ? AND name = 'schema_migrations'", s.database).Scan(&exists); err != nil {
		return nil, s.wrap("look for the schema", err)
	}
	applied := make(map[uint32]bool)
	if exists == 0 {
		return applied, nil
	}
	rows, err := s.conn.Query(ctx, "SELECT DISTINCT version FROM "+s.database+".schema_migrations")
	if err != nil {
		return nil, s.wrap("read the applied migrations", err)
	}
	defer rows.Close()
	for rows.Next() {
		var v uint32
		if err := rows.Scan(&v); err != nil {
			return nil, s.wrap("read the applied migrations", err)
		}
		applied[v] = true
	}
	if err := rows.Err(); err != nil {
		return nil, s.wrap("read the applied migrations", err)
	}
	return applied, nil
}
