package grafana

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// rule is an alert of Prometheus, or of Grafana.
type rule struct {
	Alert, Title string
	Labels       map[string]string
	Annotations  map[string]string
	Data         []struct {
		DatasourceUID string `yaml:"datasourceUid"`
	}
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, into), file)
}

// rules are those of both files, by name.
func rules(t *testing.T) map[string]rule {
	t.Helper()
	named := map[string]rule{}
	for _, file := range []string{"alerting/soakgate.yaml", "../prometheus/soakgate.rules.yaml"} {
		var f struct{ Groups []struct{ Rules []rule } }
		read(t, file, &f)
		for _, g := range f.Groups {
			for _, r := range g.Rules {
				named[r.Alert+r.Title] = r // one of them is empty
			}
		}
	}
	require.GreaterOrEqual(t, len(named), 14)
	return named
}

func TestEveryRuleHasARunbook(t *testing.T) {
	const at = "https://github.com/soakgate/soakgate/blob/main/docs/runbooks/"
	named := rules(t)
	for name, r := range named {
		assert.Equal(t, at+name+".md", r.Annotations["runbook_url"], name)
		assert.NotEmpty(t, r.Annotations["summary"], name)
		assert.NotEmpty(t, r.Annotations["description"], name)
		assert.Contains(t, []string{"critical", "warning"}, r.Labels["severity"], name)
		assert.FileExists(t, "../../docs/runbooks/"+name+".md")
	}
	files, err := filepath.Glob("../../docs/runbooks/*.md")
	require.NoError(t, err)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".md")
		assert.Contains(t, named, name, "a runbook without a rule")
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.True(t, strings.HasPrefix(string(text), "# "+name+"\n"), "%s begins with the rule's name", file)
	}
}

// TestEveryPrometheusRuleIsTested holds the rules' tests to the rules: each fires in one.
func TestEveryPrometheusRuleIsTested(t *testing.T) {
	var f struct {
		Tests []struct {
			Cases []struct {
				Alertname string
				Expected  []any `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	read(t, "../prometheus/soakgate.rules.test.yaml", &f)
	fires, rests := map[string]bool{}, map[string]bool{}
	for _, test := range f.Tests {
		for _, c := range test.Cases {
			if len(c.Expected) > 0 {
				fires[c.Alertname] = true
			} else {
				rests[c.Alertname] = true
			}
		}
	}
	for name, r := range rules(t) {
		if r.Alert != "" {
			assert.True(t, fires[name], "%s fires in no test", name)
			assert.True(t, rests[name], "%s rests in no test", name)
		}
	}
}

// TestRulesAskProvisionedDataSources: a rule names a data source by its uid.
func TestRulesAskProvisionedDataSources(t *testing.T) {
	var sources struct{ Datasources []struct{ UID, Type string } }
	read(t, "datasources/soakgate.yaml", &sources)
	known := map[string]string{"__expr__": "expressions"}
	for _, s := range sources.Datasources {
		known[s.UID] = s.Type
	}
	for name, r := range rules(t) {
		for _, d := range r.Data {
			assert.Contains(t, known, d.DatasourceUID, name)
		}
	}
}

// TestComposeGivesWhatDataSourcesTake holds compose's Grafana to this folder: each
// variable is set, and the port speaks the protocol that is asked for.
func TestComposeGivesWhatDataSourcesTake(t *testing.T) {
	var compose struct {
		Services map[string]struct{ Environment map[string]string }
	}
	read(t, "../compose/compose.yaml", &compose)
	given := compose.Services["grafana"].Environment
	text, err := os.ReadFile("datasources/soakgate.yaml")
	require.NoError(t, err)
	taken := regexp.MustCompile(`\$\{(SOAKGATE_\w+)\}`).FindAllStringSubmatch(string(text), -1)
	require.Len(t, taken, 5)
	for _, name := range taken {
		assert.Contains(t, given, name[1])
	}
	assert.Contains(t, string(text), "protocol: http\n")
	assert.Equal(t, "8123", given["SOAKGATE_CLICKHOUSE_PORT"], "ClickHouse's port for HTTP")
}
