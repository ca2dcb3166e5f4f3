package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
)

// TestWrongValuesAreRefused: by name, and before anything is installed.
func TestWrongValuesAreRefused(t *testing.T) {
	const dsn = "clickhouse.dsn=http://clickhouse:8123/soakgate"
	for _, tt := range []struct{ name, set, says string }{
		{"no store", "replicaCount=1", "at '/clickhouse/dsn': '' does not match pattern"},
		{"a DSN that is none", "clickhouse.dsn=clickhouse:9000", "at '/clickhouse/dsn': 'clickhouse:9000' does not match pattern"},
		{"two stores", dsn + ",clickhouse.existingSecret=a", "at '/clickhouse/dsn': value must be ''"},
		{"several embedded stores", "clickhouse.embedded.enabled=true,replicaCount=2", "at '/replicaCount': value must be 1"},
		{"an embedded store that scales", "clickhouse.embedded.enabled=true,autoscaling.enabled=true", "at '/autoscaling/enabled': value must be false"},
		{"an embedded store and a DSN", "clickhouse.embedded.enabled=true," + dsn, "at '/clickhouse/dsn': value must be ''"},
		{"a CronJob that cannot reach the embedded store", "clickhouse.embedded.enabled=true,soak.cronJob.enabled=true", "at '/soak/cronJob/enabled': value must be false"},
		{"an unknown value", dsn + ",replicas=2", "additional properties 'replicas' not allowed"},
		{"a misspelt value below", dsn + ",journal.sise=1Gi", "at '/journal': additional properties 'sise' not allowed"},
		{"a wrong type", dsn + ",replicaCount=two", "at '/replicaCount': got string, want integer"},
		{"no replica", dsn + ",replicaCount=0", "at '/replicaCount': minimum: got 0, want 1"},
		{"a volume without a unit", dsn + ",journal.size=10", "at '/journal/size'"},
		{"TLS without a Secret", dsn + ",tls.enabled=true", "at '/tls/existingSecret': minLength: got 0, want 1"},
		{"two monitors", dsn + ",serviceMonitor.enabled=true,podMonitor.enabled=true", "at '/podMonitor/enabled': value must be false"},
		{"a budget of nothing", dsn + ",podDisruptionBudget.maxUnavailable=0", "at '/podDisruptionBudget/maxUnavailable'"},
		{"an Ingress without a host", dsn + ",ingress.enabled=true", "at '/ingress/hosts': minItems: got 0, want 1"},
		{"a route without a gateway", dsn + ",httpRoute.enabled=true", "at '/httpRoute/parentRefs': minItems: got 0, want 1"},
		{"a short token", dsn + ",auth.tokens={short}", "at '/auth/tokens/0': minLength: got 5, want 16"},
		{"records that go before their payloads", dsn + ",retention.payloadDays=200", "payloadDays must not be above recordsDays"},
		{"fewer at most than at least", dsn + ",autoscaling.enabled=true,autoscaling.minReplicas=9", "autoscaling.minReplicas must not be above autoscaling.maxReplicas"},
		{"a grace period that waiting uses up", dsn + ",preStopSeconds=50", "terminationGracePeriodSeconds must be at least 15 more than preStopSeconds"},
		{"a grace period below what stopping takes", dsn + ",terminationGracePeriodSeconds=5", "at '/terminationGracePeriodSeconds': minimum: got 5, want 20"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, err := helm(t, "template", releaseName, chart, "--set", tt.set)
			if err == nil {
				t.Fatalf("was taken:\n%s", out)
			}
			if !strings.Contains(err.Error(), tt.says) {
				t.Errorf("says\n%v\nwithout %q", err, tt.says)
			}
		})
	}
}

// TestSubchart: a parent may switch the chart off by a condition and share
// globals with it (U67), and its misspelt values are still refused.
func TestSubchart(t *testing.T) {
	parent := t.TempDir()
	if err := os.CopyFS(filepath.Join(parent, "charts", "soakgate"), os.DirFS(chart)); err != nil {
		t.Fatal(err)
	}
	const meta = "apiVersion: v2\nname: platform\nversion: 1.0.0\n" +
		"dependencies: [{name: soakgate, version: 0.x, condition: soakgate.enabled}]\n"
	const values = "global: {region: here}\nsoakgate:\n  enabled: true\n  clickhouse: {dsn: 'http://clickhouse:8123/soakgate'}\n"
	for file, text := range map[string]string{"Chart.yaml": meta, "values.yaml": values} {
		if err := os.WriteFile(filepath.Join(parent, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(all[appsv1.StatefulSet](t, render(t, parent))); n != 1 {
		t.Errorf("%d StatefulSets as a dependency, one is expected", n)
	}
	if off := render(t, parent, "--set", "soakgate.enabled=false"); len(documents(off)) != 0 {
		t.Errorf("renders although it is switched off:\n%s", off)
	}
	_, err := helm(t, "template", releaseName, parent, "--set", "soakgate.journal.sise=1Gi")
	if err == nil || !strings.Contains(err.Error(), "additional properties 'sise' not allowed") {
		t.Errorf("a misspelt value gives %v", err)
	}
}
