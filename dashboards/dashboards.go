// Package dashboards owns the Grafana dashboards: Go that makes their JSON, and the
// JSON itself beside it. The SQL of panels, variables and annotations comes from
// internal/store/sql/panels. It refuses a hard-coded data source: panels name the
// dashboard's variables. It asks no Grafana and no ClickHouse anything.
package dashboards

//go:generate go run ./generate

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"

	"github.com/soakgate/soakgate/internal/store/sql"
)

// Folder is the folder in Grafana that the dashboards belong to. A dashboard's JSON
// cannot name it: provisioning does.
const Folder = "Soakgate"

// DefaultDatabase is the database that the committed dashboards read.
const DefaultDatabase = "soakgate"

// Options are what differs between installations.
type Options struct {
	// Datasource is the uid of the ClickHouse data source that is chosen at first.
	// Empty: Grafana's default one of that type.
	Datasource string
	// Database is the database to read. Empty: DefaultDatabase.
	Database string
}

// File is one dashboard as JSON.
type File struct {
	Name string // of the file, without folder
	JSON []byte
}

// ErrDatabase tells that a database's name is none.
var ErrDatabase = errors.New("a database's name has letters, digits and underscores only")

// The name is pasted into SQL, so it must be an identifier.
var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Generate makes all dashboards.
func Generate(o Options) ([]File, error) {
	if o.Database == "" {
		o.Database = DefaultDatabase
	}
	if !identifier.MatchString(o.Database) {
		return nil, fmt.Errorf("database %q: %w", o.Database, ErrDatabase)
	}
	texts, err := texts(o.Database)
	if err != nil {
		return nil, err
	}
	files := make([]File, 0, len(pages))
	for _, p := range pages {
		b := &board{texts: texts, options: o, page: p, nextID: 1}
		d, err := b.build()
		if err != nil {
			return nil, fmt.Errorf("build dashboard %s: %w", p.name, err)
		}
		raw, err := encode(d)
		if err != nil {
			return nil, fmt.Errorf("write dashboard %s as JSON: %w", p.name, err)
		}
		files = append(files, File{Name: p.name + ".json", JSON: raw})
	}
	return files, nil
}

// Write writes all dashboards into a folder, which is made where it is missing.
func Write(dir string, o Options) ([]string, error) {
	files, err := Generate(o)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // Grafana runs as another user
		return nil, fmt.Errorf("make the folder of the dashboards: %w", err)
	}
	paths := make([]string, 0, len(files))
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		if err := os.WriteFile(path, f.JSON, 0o644); err != nil { //nolint:gosec // Grafana runs as another user
			return nil, fmt.Errorf("write a dashboard: %w", err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// texts gives the SQL of the panels by name, filled in.
func texts(database string) (map[string]string, error) {
	statements, err := sql.Folder("panels")
	if err != nil {
		return nil, err
	}
	texts := make(map[string]string, len(statements))
	for _, st := range statements {
		text, err := st.Fill(map[string]string{"Database": database})
		if err != nil {
			return nil, err
		}
		texts[st.Name] = text
	}
	return texts, nil
}

// encode writes a dashboard as people read a diff: indented, and with < and > as
// they are.
func encode(d dashboard.Dashboard) ([]byte, error) {
	raw, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(unescape(raw), '\n'), nil
}

// unescape undoes what encoding/json does for HTML. Strings hold such a sequence
// only where the encoder put it: it writes a backslash of ours as two.
var escaped = regexp.MustCompile(`\\\\|\\u003c|\\u003e|\\u0026`)

func unescape(raw []byte) []byte {
	return escaped.ReplaceAllFunc(raw, func(s []byte) []byte {
		switch string(s) {
		case `\u003c`:
			return []byte("<")
		case `\u003e`:
			return []byte(">")
		case `\u0026`:
			return []byte("&")
		}
		return s
	})
}
