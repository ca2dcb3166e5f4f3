package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

const (
	root      = "../.."
	chart     = root + "/deploy/helm/soakgate"
	golden    = root + "/deploy/helm/testdata"
	collector = root + "/bin/collector"

	releaseName = "gate"
	namespace   = "soak"
)

var update = flag.Bool("update", false, "write the golden files")

// helm runs helm, which make chart builds, and returns what it says.
func helm(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out, failure bytes.Buffer
	cmd := exec.CommandContext(context.Background(), root+"/.cache/tools/helm", args...)
	cmd.Stdout, cmd.Stderr = &out, &failure
	if err := cmd.Run(); err != nil {
		if _, ok := errors.AsType[*exec.ExitError](err); !ok {
			t.Fatalf("helm cannot be run: %v; run the tests by `make chart`", err)
		}
		return out.String(), errors.New(failure.String())
	}
	return out.String(), nil
}

// render is the chart in dir as one stream of documents.
func render(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := helm(t, append([]string{"template", releaseName, dir, "--namespace", namespace}, args...)...)
	if err != nil {
		t.Fatalf("helm template %v: %v", args, err)
	}
	return out
}

// valuesFiles are the values files that stand for the ways to install.
func valuesFiles(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(chart + "/ci/*-values.yaml")
	if err != nil || len(paths) < 6 {
		t.Fatalf("%d values files in %s/ci, at least 6 are expected (%v)", len(paths), chart, err)
	}
	files := map[string]string{}
	for _, p := range paths {
		files[strings.TrimSuffix(filepath.Base(p), "-values.yaml")] = p
	}
	return files
}

// renderings are kept by name: tests ask for the same ones.
var renderings = map[string]string{}

// rendered is the chart with one of the values files.
func rendered(t *testing.T, name string) string {
	t.Helper()
	if renderings[name] == "" {
		renderings[name] = render(t, chart, "--values", valuesFiles(t)[name])
	}
	return renderings[name]
}

// documents splits a stream.
func documents(stream string) []string {
	var out []string
	for d := range strings.SplitSeq(stream, "\n---\n") {
		d = strings.TrimPrefix(d, "---\n")
		if strings.TrimSpace(d) != "" {
			out = append(out, d)
		}
	}
	return out
}

// all are the stream's objects of one of Kubernetes' own types.
func all[T any](t *testing.T, stream string) []*T {
	t.Helper()
	decoder := serializer.NewCodecFactory(legacyscheme.Scheme).UniversalDeserializer()
	var out []*T
	for _, d := range documents(stream) {
		obj, _, err := decoder.Decode([]byte(d), nil, nil)
		if err != nil {
			continue // a custom resource; TestKubernetesAccepts tells the others
		}
		if typed, ok := obj.(any).(*T); ok {
			out = append(out, typed)
		}
	}
	return out
}

// one is the only object of its type.
func one[T any](t *testing.T, stream string) *T {
	t.Helper()
	found := all[T](t, stream)
	if len(found) != 1 {
		t.Fatalf("%d objects of type %T, one is expected", len(found), *new(T))
	}
	return found[0]
}

// custom are the custom resources of one kind.
func custom(t *testing.T, stream, kind string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for _, d := range documents(stream) {
		var m map[string]any
		if err := yaml.Unmarshal([]byte(d), &m); err != nil {
			t.Fatalf("%v in\n%s", err, d)
		}
		if m["kind"] == kind {
			out = append(out, m)
		}
	}
	return out
}

// at is the value below keys and indices; it fails where there is none.
func at(t *testing.T, v any, path ...any) any {
	t.Helper()
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				t.Fatalf("no element %d on the path %v", p, path)
			}
			v = l[p]
		}
		if v == nil {
			t.Fatalf("nothing at %v of the path %v", p, path)
		}
	}
	return v
}

// embeddedFiles are the ConfigMaps and rules whose text is another file's, which
// the golden files need not repeat.
var embeddedFiles = regexp.MustCompile(`(?s)(# (?:The file's bytes|The file as it is):[^\n]*\n)(?:data|spec):\n.*?(\n---\n|\z)`)

// TestGolden renders each values file twice, to the bytes that are kept.
func TestGolden(t *testing.T) {
	for name, path := range valuesFiles(t) {
		t.Run(name, func(t *testing.T) {
			if out, err := helm(t, "lint", "--strict", "--quiet", "--values", path, chart); err != nil {
				t.Errorf("helm lint --strict: %v\n%s", err, out)
			}
			got := rendered(t, name)
			if again := render(t, chart, "--values", path); got != again {
				t.Error("rendering twice gives other bytes")
			}
			got = embeddedFiles.ReplaceAllString(got, "${1}# (its text)$2")
			file := filepath.Join(golden, name+".yaml")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("the rendering is not that of %s; look at it, and `scripts/chart.sh golden` writes it anew:\n%s", file, firstDifference(string(want), got))
			}
		})
	}
	kept, err := filepath.Glob(golden + "/*.yaml")
	if err != nil || len(kept) != len(valuesFiles(t)) {
		t.Errorf("%d golden files for %d values files (%v)", len(kept), len(valuesFiles(t)), err)
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return "- " + w[i] + "\n+ " + g[i]
		}
	}
	return "one is longer than the other"
}

// customKinds are judged by TestCustomResources alone: Kubernetes does not know them.
var customKinds = []string{"ServiceMonitor", "PodMonitor", "PrometheusRule", "HTTPRoute"}

// TestKubernetesAccepts has each manifest judged as an API server would.
func TestKubernetesAccepts(t *testing.T) {
	for name := range valuesFiles(t) {
		t.Run(name, func(t *testing.T) {
			stream := rendered(t, name)
			findings, err := validateAll(strings.NewReader(stream))
			if err != nil {
				t.Fatal(err)
			}
			if len(findings) != len(documents(stream)) || len(findings) < 8 {
				t.Errorf("%d manifests were judged of %d", len(findings), len(documents(stream)))
			}
			unknown := 0
			for _, f := range findings {
				if f.err != nil && f.name == "?" && strings.Contains(f.err.Error(), "no kind") {
					unknown++
					continue
				}
				if f.err != nil {
					t.Errorf("%s: %v", f.name, f.err)
				}
			}
			known := 0
			for _, kind := range customKinds {
				known += len(custom(t, stream, kind))
			}
			if unknown != known {
				t.Errorf("%d manifests have a kind that is not known, and %d are the custom resources of the chart", unknown, known)
			}
		})
	}
}

// TestCollectorAccepts has the collector validate each rendered configuration.
func TestCollectorAccepts(t *testing.T) {
	for name := range valuesFiles(t) {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var text, policy string
			for _, c := range all[corev1.ConfigMap](t, rendered(t, name)) {
				if c.Data["collector.yaml"] != "" {
					text, policy = c.Data["collector.yaml"], c.Data["soak-policy.yaml"]
				}
			}
			// The policy is the one file that validation reads.
			text = strings.ReplaceAll(text, "/etc/soakgate/soak-policy.yaml", filepath.Join(dir, "soak-policy.yaml"))
			for file, text := range map[string]string{"collector.yaml": text, "soak-policy.yaml": policy} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.CommandContext(t.Context(), collector, "validate", "--config", filepath.Join(dir, "collector.yaml"))
			cmd.Env = append(os.Environ(), "SOAKGATE_DSN=http://127.0.0.1:8123/soakgate", "SOAKGATE_COLLECTOR=gate-0")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("collector validate: %v\n%s\nof\n%s", err, out, text)
			}
		})
	}
}

// TestFaultsAreFound plants mistakes that rendering does not see into a good
// rendering: what judges it must find each.
func TestFaultsAreFound(t *testing.T) {
	good := rendered(t, "minimal")
	for _, tt := range []struct{ name, old, planted string }{
		{"an unknown field", "podManagementPolicy: Parallel", "podManagement: Parallel"},
		{"a wrong type", "replicas: 1", "replicas: one"},
		{"an unknown apiVersion", "apiVersion: apps/v1\n", "apiVersion: apps/v2\n"},
		{"a bad name", "name: gate-soakgate-headless", "name: Gate_headless"},
		{"a port too large", "containerPort: 8888", "containerPort: 99999"},
		{"a bad quantity", "memory: 2Gi", "memory: 2Gib"},
		{"a selector that is not of the labels", "        soakgate.io/serving: \"true\"\n      annotations:", "        app.kubernetes.io/component: other\n      annotations:"},
		{"a bad port name", "{name: otlp-grpc, containerPort", "{name: the_port_of_otlp_grpc, containerPort"},
		{"a bad enum", "updateStrategy:\n    type: RollingUpdate", "updateStrategy:\n    type: Sometimes"},
		{"a key twice", "serviceName: gate-soakgate-headless", "serviceName: a\n  serviceName: b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bad := strings.Replace(good, tt.old, tt.planted, 1)
			if bad == good {
				t.Fatalf("the rendering has no %q any more", tt.old)
			}
			findings, err := validateAll(strings.NewReader(bad))
			if err == nil && !slices.ContainsFunc(findings, func(f finding) bool { return f.err != nil }) {
				t.Error("was not found")
			}
		})
	}
	for _, f := range must(validateAll(strings.NewReader("apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n"))) {
		if !errors.Is(f.err, errNoStrategy) {
			t.Errorf("a kind that cannot be judged gives %v", f.err)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestNamesThatLookLikeNumbers: what YAML would read as another type is text.
func TestNamesThatLookLikeNumbers(t *testing.T) {
	sets := []string{
		"fullnameOverride=gate", "nameOverride=7", "clickhouse.existingSecret=1", "clickhouse.existingSecretKey=2", "clickhouse.existingSecretPasswordKey=3",
		"auth.existingSecret=4", "auth.existingSecretKey=5", "tls.existingSecret=6", "journal.storageClassName=8", "priorityClassName=9", "serviceAccount.name=10",
		"migrations.existingSecret=11", "migrations.existingSecretKey=12", "soak.cronJob.evidence.existingClaim=13", "ingress.className=14", "dashboards.label=15",
	}
	args := []string{"template", "2026", chart, "--set", "tls.enabled=true,soak.cronJob.enabled=true,ingress.enabled=true,ingress.hosts={a.example.com},dashboards.enabled=true"}
	for _, s := range sets {
		args = append(args, "--set-string", s)
	}
	stream, err := helm(t, args...)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range must(validateAll(strings.NewReader(stream))) {
		if f.err != nil {
			t.Errorf("%s: %v", f.name, f.err)
		}
	}
}
