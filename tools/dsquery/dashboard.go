package dsquery

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Dashboard is what a dashboard's JSON says of queries.
type Dashboard struct {
	UID         string
	Panels      []Panel
	Templating  struct{ List []Variable }
	Annotations struct {
		List []struct {
			Name       string
			Datasource Datasource
			Target     json.RawMessage
		}
	}
}

// Datasource names where a query goes.
type Datasource struct{ Type, UID string }

// Panel is one panel, or a row: a heading without queries.
type Panel struct {
	Type, Title   string
	Interval      string
	MaxDataPoints int64
	Datasource    Datasource
	Targets       []json.RawMessage
}

// Variable is one variable of a dashboard. The query of a data source variable is a
// plugin's id.
type Variable struct{ Name, Type, Query string }

// Query is one query of a dashboard, and where it is asked.
type Query struct {
	Place      string // for messages: dashboard, panel, query
	Panel      *Panel // nil for variables and annotations
	Datasource string // the data source's type
	JSON       json.RawMessage
}

// ReadDashboards reads all dashboards of a folder.
func ReadDashboards(folder string) ([]Dashboard, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("list dashboards: %w", err)
	}
	var dashboards []Dashboard
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read dashboard: %w", err)
		}
		var d Dashboard
		if err := json.Unmarshal(text, &d); err != nil {
			return nil, fmt.Errorf("read dashboard %s: %w", file, err)
		}
		dashboards = append(dashboards, d)
	}
	return dashboards, nil
}

// Queries are the queries of panels and annotations.
func (d *Dashboard) Queries() ([]Query, error) {
	var queries []Query
	for _, p := range d.Panels {
		for _, raw := range p.Targets {
			var t target
			if err := json.Unmarshal(raw, &t); err != nil {
				return nil, fmt.Errorf("%s, panel %q: %w", d.UID, p.Title, err)
			}
			queries = append(queries, Query{
				Place: fmt.Sprintf("%s/%s/%s", d.UID, p.Title, t.RefID), Panel: &p,
				Datasource: or(t.Datasource.Type, p.Datasource.Type), JSON: raw,
			})
		}
	}
	for _, a := range d.Annotations.List {
		queries = append(queries, Query{Place: d.UID + "/annotation " + a.Name, Datasource: a.Datasource.Type, JSON: a.Target})
	}
	return queries, nil
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
