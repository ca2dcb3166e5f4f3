package dsquery

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
	"github.com/grafana/grafana-plugin-sdk-go/data"
	"go.yaml.in/yaml/v3"
)

// alertQueries are the ClickHouse queries of the rules that Grafana evaluates, by rule.
func alertQueries(t *testing.T) map[string]backend.DataQuery {
	t.Helper()
	text, err := os.ReadFile("../../deploy/grafana/alerting/soakgate.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var provisioned struct {
		Groups []struct {
			Rules []struct {
				Title string
				Data  []struct {
					RefID string                 `yaml:"refId"`
					Range struct{ From, To int } `yaml:"relativeTimeRange"`
					Model map[string]any
				}
			}
		}
	}
	if err := yaml.Unmarshal(text, &provisioned); err != nil {
		t.Fatal(err)
	}
	ago := func(seconds int) time.Time { return time.Now().Add(-time.Duration(seconds) * time.Second) }
	queries := map[string]backend.DataQuery{}
	for _, group := range provisioned.Groups {
		for _, rule := range group.Rules {
			for _, d := range rule.Data {
				if _, isSQL := d.Model["rawSql"]; !isSQL {
					continue
				}
				raw, err := json.Marshal(d.Model)
				if err != nil {
					t.Fatal(err)
				}
				queries[rule.Title] = backend.DataQuery{
					RefID: d.RefID, JSON: raw, TimeRange: backend.TimeRange{From: ago(d.Range.From), To: ago(d.Range.To)},
				}
			}
		}
	}
	return queries
}

// alerts asks every query of the alert rules that Grafana evaluates, and tells how many
// gave rows. Grafana compares one number and takes the texts beside it for labels.
func alerts(t *testing.T, c *ClickHouse) int {
	t.Helper()
	queries, told := alertQueries(t), 0
	if len(queries) < 3 {
		t.Errorf("%d queries of alert rules were asked", len(queries))
	}
	for title, query := range queries {
		frames, err := c.Query(t.Context(), query)
		if err != nil {
			t.Errorf("%s: %v", title, err)
			continue
		}
		if frames[0].Rows() == 0 {
			continue // and has no columns
		}
		told++
		numbers := 0
		for _, field := range frames[0].Fields {
			switch {
			case field.Type().Numeric():
				numbers++
			case field.Type().NonNullableType() != data.FieldTypeString:
				t.Errorf("%s: column %s is neither a label nor a number", title, field.Name)
			}
		}
		if numbers != 1 {
			t.Errorf("%s: Grafana compares one number, and there are %d", title, numbers)
		}
	}
	return told
}
