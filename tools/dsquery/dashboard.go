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
	Title       string
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

// Panel is one panel, or a row that holds panels.
type Panel struct {
	ID            int
	Type, Title   string
	Interval      string
	MaxDataPoints int64
	Datasource    Datasource
	Targets       []json.RawMessage
	Panels        []Panel
}

// Variable is one variable of a dashboard.
type Variable struct {
	Name, Type string
	Datasource Datasource
	Query      json.RawMessage // a text, or for some data sources an object
	Multi      bool
	IncludeAll bool
	AllValue   *string
	Current    struct{ Value any }
}

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

// AllPanels are the panels, those of collapsed rows included.
func (d *Dashboard) AllPanels() []Panel {
	var all []Panel
	for _, p := range d.Panels {
		if p.Type != "row" {
			all = append(all, p)
		}
		all = append(all, p.Panels...)
	}
	return all
}

// Queries are the queries of panels and annotations.
func (d *Dashboard) Queries() ([]Query, error) {
	var queries []Query
	for _, p := range d.AllPanels() {
		for _, raw := range p.Targets {
			var t struct {
				target
				Hide bool
			}
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
		if a.Target != nil && a.Datasource.Type != "grafana" {
			queries = append(queries, Query{Place: d.UID + "/annotation " + a.Name, Datasource: a.Datasource.Type, JSON: a.Target})
		}
	}
	return queries, nil
}

// Text is the query of a query variable.
func (v *Variable) Text() (string, error) {
	var text string
	if err := json.Unmarshal(v.Query, &text); err == nil {
		return text, nil
	}
	var object struct{ RawSQL, Query string }
	if err := json.Unmarshal(v.Query, &object); err != nil {
		return "", fmt.Errorf("read the query of variable %s: %w", v.Name, err)
	}
	return or(object.RawSQL, object.Query), nil
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
