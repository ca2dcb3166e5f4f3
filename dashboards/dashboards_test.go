package dashboards

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/soakgate/soakgate/config"
	"github.com/soakgate/soakgate/internal/soak/policy"
	"github.com/soakgate/soakgate/internal/store/sql"
)

func TestMain(m *testing.M) {
	plugins.RegisterDefaultPlugins()
	os.Exit(m.Run())
}

func generated(t *testing.T, o Options) []File {
	t.Helper()
	files, err := Generate(o)
	require.NoError(t, err)
	return files
}

func TestCommittedFilesAreGenerated(t *testing.T) {
	for _, f := range generated(t, Options{}) {
		committed, err := os.ReadFile(f.Name)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(committed, f.JSON), "%s is not what Generate makes: run `make generate`", f.Name)
	}
	committed, err := filepath.Glob("*.json")
	require.NoError(t, err)
	assert.Len(t, committed, len(pages), "a file that no page makes")
}

func TestDashboardsAreSound(t *testing.T) {
	for _, o := range []Options{{}, {Datasource: "clickhouse-prod", Database: "other"}} {
		for _, f := range generated(t, o) {
			require.NoError(t, strict(f.JSON), f.Name)
			assert.Empty(t, check(f.JSON), f.Name)
		}
	}
}

func TestUIDsAreStable(t *testing.T) {
	var uids []string
	for _, f := range generated(t, Options{}) {
		var d struct{ UID string }
		require.NoError(t, json.Unmarshal(f.JSON, &d))
		uids = append(uids, d.UID)
		for _, other := range pages {
			if other.uid() != d.UID {
				assert.Contains(t, string(f.JSON), `"url": "/d/`+other.uid()+`"`, "%s links to all others", f.Name)
			}
		}
	}
	assert.Equal(t, []string{"soakgate-soak", "soakgate-errors", "soakgate-contract", "soakgate-upstream", "soakgate-collector"}, uids)
}

func TestWriteForAnotherInstallation(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	paths, err := Write(dir, Options{Datasource: "clickhouse-prod", Database: "telemetry"})
	require.NoError(t, err)
	require.Len(t, paths, len(pages))
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Contains(t, string(raw), `"value": "clickhouse-prod"`, path)
		assert.Contains(t, string(raw), "telemetry.", path)
		assert.NotContains(t, string(raw), "FROM soakgate.", path)
	}
	_, err = Write(dir, Options{Database: "x; DROP TABLE y"})
	require.ErrorIs(t, err, ErrDatabase)
}

// What happened to servers is marked on every graph of theirs, and holes in collecting
// on the collector's.
func TestPagesMarkEvents(t *testing.T) {
	for _, f := range generated(t, Options{}) {
		var d struct {
			Annotations struct{ List []struct{ Name string } }
		}
		require.NoError(t, json.Unmarshal(f.JSON, &d))
		var names []string
		for _, a := range d.Annotations.List {
			names = append(names, a.Name)
		}
		want := []string{"Conformance runs", "Complaints", "Version changes", "Holes in collecting"}
		if f.Name == "collector.json" {
			want = want[3:]
		}
		assert.Equal(t, want, names, f.Name)
	}
}

// Every statement of panels is asked by some dashboard.
func TestNoStatementIsLeftOver(t *testing.T) {
	statements, err := sql.Folder("panels")
	require.NoError(t, err)
	var all strings.Builder
	for _, f := range generated(t, Options{}) {
		all.Write(f.JSON)
	}
	for _, st := range statements {
		text, err := st.Fill(map[string]string{"Database": DefaultDatabase})
		require.NoError(t, err)
		quoted, err := json.Marshal(strings.TrimSpace(text))
		require.NoError(t, err)
		assert.Contains(t, all.String(), string(unescape(quoted)), st.Name)
	}
}

// The lines in panels are those of the built-in policy, and of the alert on the journal.
func TestThresholdsArePolicy(t *testing.T) {
	p, err := policy.Parse(config.SoakPolicy)
	require.NoError(t, err)
	g := p.Gates
	assert.InDelta(t, soakDays, g.Duration.Min.Std().Hours()/24, 0)
	assert.InDelta(t, malformedRate, g.Malformed.MaxRate.Float(), 0)
	assert.EqualValues(t, normalizedP99, g.Bytes.P99)
	assert.EqualValues(t, normalizedMost, g.Bytes.Max)
	assert.InDelta(t, answerShare, g.Share.Max.Float(), 0)
	assert.EqualValues(t, kindCalls, g.CoverageKinds.MinCalls)
	assert.EqualValues(t, toolCalls, g.CoverageTools.MinCalls)
	assert.InDelta(t, reviewDays, g.Complaints.ReviewMaxAge.Std().Hours()/24, 0)
	rules, err := os.ReadFile("../deploy/prometheus/soakgate.rules.yaml")
	require.NoError(t, err)
	assert.Contains(t, string(rules), fmt.Sprintf("soakgate_journal_max_bytes > %g\n", journalHalf))
}

// Green is what may flip and red what stops it, and nothing else is either.
func TestColoursOfStates(t *testing.T) {
	for _, states := range [][]dashboard.ValueMapping{gateStates, verdicts} {
		for number, shown := range states[0].ValueMap.Options {
			assert.Equal(t, number == "1", *shown.Color == "green", *shown.Text)
			assert.Equal(t, number == "-1", *shown.Color == "red", *shown.Text)
		}
	}
}

// Each check fails on a copy that is broken where it looks.
func TestChecksFindFaults(t *testing.T) {
	sound := string(generated(t, Options{})[0].JSON)
	for _, c := range []struct{ name, from, to, want string }{
		{"type", `"type": "stat"`, `"type": "statt"`, "type: "},
		{"unit", `"unit": "percentunit"`, `"unit": "fortnights"`, "unit: "},
		{"enum", `"graphMode": "none"`, `"graphMode": "nope"`, "enum: "},
		{"empty enum", `"orientation": "auto"`, `"orientation": ""`, "empty: "},
		{"empty mode of a tooltip", `"mode": "single"`, `"mode": ""`, "empty: "},
		{"order of a tooltip", `"sort": "desc"`, `"sort": "down"`, "enum: "},
		{"no version of a panel", `"pluginVersion": "12.0.0"`, `"pluginversion": "12.0.0"`, "version: "},
		{"threshold mode", `"mode": "absolute"`, `"mode": "abs"`, "enum: "},
		{"same id", `"id": 3`, `"id": 2`, "id: "},
		{"overlap", `"x": 5`, `"x": 4`, "layout: "},
		{"over the edge", `"w": 19`, `"w": 20`, "layout: "},
		{"undefined variable", `${tool:singlequote}`, `${tol:singlequote}`, "variable: tol is used"},
		{"unused variable", `"name": "tool"`, `"name": "tools"`, "variable: tools is defined"},
		{"refresh", `"refresh": 2`, `"refresh": 9`, "variable: "},
		{"no All", `"includeAll": true`, `"includeAll": false`, "variable: "},
		{"hard-coded uid", `"uid": "${datasource}"`, `"uid": "P4169E866C3094E38"`, "datasource: "},
		{"no description", `"description": "How the verdict has stood`, `"descriptiom": "How the verdict has stood`, "description: "},
		{"null options", `"graphMode": "none"`, `"graphMode": null`, "null: "},
		{"no empty state", `"noValue": "Nothing in this time range"`, `"novalue": ""`, "empty state: "},
		{"unknown default", `"noValue": "Nothing in this time range"`, `"noValue": "", "units": "s"`, "field: "},
		{"variable without quotes", `IN (${tool:singlequote})`, `IN ($tool)`, "variable: $tool stands"},
		{"variable in quotes", `IN (${tool:singlequote})`, `IN ('${tool}')`, "variable: ${tool} stands"},
		{"format of a variable", `IN (${tool:singlequote})`, `IN (${tool:csv})`, "variable: ${tool:csv} stands"},
		{"series sorted within a window alone", `ORDER BY time, server, version`, `ORDER BY server`, "target: "},
		{"unsorted series", `ORDER BY time, server`, `ORDER BY server`, "target: "},
		{"no query", `"rawSql": "`, `"rawSql": "", "rawSQL": "`, "target: "},
		{"hidden link", `"includeVars"`, `"placement": "inControlsMenu", "includeVars"`, "link: "},
		{"size", `"schemaVersion"`, strings.Repeat(" ", maxBytes) + `"schemaVersion"`, "size: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Contains(t, sound, c.from)
			faults := strings.Join(check([]byte(broken(sound, c.from, c.to))), "\n")
			assert.Contains(t, faults, c.want)
		})
	}
}

// What the SDK's strict decoding is there for.
func TestStrictDecodingFindsFaults(t *testing.T) {
	sound := string(generated(t, Options{})[0].JSON)
	require.NoError(t, strict([]byte(sound)))
	for _, c := range []struct{ name, from, to string }{
		{"dashboard", `"editable": true`, `"editable": true, "editible": 1`},
		{"panel", `"type": "stat"`, `"type": "stat", "titel": 1`},
		{"option", `"graphMode": "none"`, `"graphMode": "none", "grafMode": 1`},
		{"field option", `"lineWidth": 2`, `"lineWidth": 2, "linWidth": 1`},
		{"target", `"editorType": "sql"`, `"editorType": "sql", "rawSqll": ""`},
		{"format", `"format": 0`, `"format": 1`},
		{"wrong type", `"refresh": "1m"`, `"refresh": 30`},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Contains(t, sound, c.from)
			assert.Error(t, strict([]byte(broken(sound, c.from, c.to))))
		})
	}
}

// broken changes every place for faults that one place may hide, such as a variable
// that is used elsewhere too; for ids and positions the first alone.
func broken(text, from, to string) string {
	switch {
	case strings.HasPrefix(from, `"id"`), strings.HasPrefix(from, `"x"`), strings.HasPrefix(from, `"w"`), strings.HasPrefix(from, `"schemaVersion"`):
		return strings.Replace(text, from, to, 1)
	}
	return strings.ReplaceAll(text, from, to)
}
