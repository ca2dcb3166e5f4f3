package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/yaml"
)

func itoa(n int32) string { return strconv.Itoa(int(n)) }

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := yaml.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestCustomResources: shape of what Kubernetes does not know, and that exactly
// one Service is scraped, or every counter doubles (U59).
func TestCustomResources(t *testing.T) {
	stream := rendered(t, "production")
	services := all[corev1.Service](t, stream)
	for _, m := range custom(t, stream, "ServiceMonitor") {
		if m["apiVersion"] != "monitoring.coreos.com/v1" || at(t, m, "metadata", "labels", "release") != "prometheus" {
			t.Errorf("the ServiceMonitor's head is %v, %v", m["apiVersion"], m["metadata"])
		}
		if got := at(t, m, "spec", "namespaceSelector", "matchNames", 0); got != namespace {
			t.Errorf("looks in the namespace %v", got)
		}
		selected := 0
		for _, s := range services {
			if labels.SelectorFromSet(stringMap(t, at(t, m, "spec", "selector", "matchLabels"))).Matches(labels.Set(s.Labels)) {
				selected++
				if !slices.ContainsFunc(s.Spec.Ports, func(p corev1.ServicePort) bool { return p.Name == at(t, m, "spec", "endpoints", 0, "port") }) {
					t.Errorf("the Service %s has no port that is scraped", s.Name)
				}
			}
		}
		if selected != 1 {
			t.Errorf("the ServiceMonitor selects %d of %d Services, not one", selected, len(services))
		}
	}
	if n := len(custom(t, stream, "ServiceMonitor")); n != 1 {
		t.Errorf("%d ServiceMonitors", n)
	}

	ha := rendered(t, "ha")
	monitors := custom(t, ha, "PodMonitor")
	if len(monitors) != 1 || len(custom(t, ha, "ServiceMonitor")) != 0 {
		t.Fatalf("%d PodMonitors", len(monitors))
	}
	selector := labels.SelectorFromSet(stringMap(t, at(t, monitors[0], "spec", "selector", "matchLabels")))
	for component, pod := range pods(t, ha) {
		if selector.Matches(labels.Set(pod.labels)) != (component == "collector") {
			t.Errorf("does the PodMonitor select the pod of %s?", component)
		}
	}
	if got := at(t, monitors[0], "spec", "podMetricsEndpoints", 0, "port"); got != "metrics" {
		t.Errorf("scrapes the port %v", got)
	}

	routes := custom(t, ha, "HTTPRoute")
	if len(routes) != 1 {
		t.Fatalf("%d HTTPRoutes", len(routes))
	}
	back := at(t, routes[0], "spec", "rules", 0, "backendRefs", 0)
	if !slices.ContainsFunc(all[corev1.Service](t, ha), func(s *corev1.Service) bool {
		return s.Name == at(t, back, "name") && slices.ContainsFunc(s.Spec.Ports, func(p corev1.ServicePort) bool {
			return p.Name == "otlp-http" && int64(p.Port) == at(t, back, "port")
		})
	}) {
		t.Errorf("the route leads to %v", back)
	}
	if routes[0]["apiVersion"] != "gateway.networking.k8s.io/v1" || at(t, routes[0], "spec", "parentRefs", 0, "name") != "edge" {
		t.Errorf("the route is %v", routes[0])
	}
}

func stringMap(t *testing.T, v any) map[string]string {
	t.Helper()
	out := map[string]string{}
	for k, v := range v.(map[string]any) {
		out[k] = v.(string)
	}
	return out
}

// TestDashboardsAndRules: what is rendered are the bytes of the files, braces and
// all (U60), each below what client-side apply takes, under names that differ (U61).
func TestDashboardsAndRules(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "soakgate")
	if err := os.CopyFS(dir, os.DirFS(chart)); err != nil {
		t.Fatal(err)
	}
	const tricky = "{\n  \"title\": \"{{label}} {{ .Values.x }}\",\r\n\t\"uid\": \"ü\\\"'$x\"}\n\n"
	const rules = "groups:\n  - name: a\n    rules:\n      - alert: A\n        expr: up == 0\n        annotations: {summary: '{{ $labels.instance }} {{ \"x\" }}'}\n"
	for file, text := range map[string]string{"dashboards/tricky_one.json": tricky, "rules/planted.yaml": rules} {
		if err := os.WriteFile(filepath.Join(dir, "files", file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{}
	for _, path := range must(filepath.Glob(dir + "/files/dashboards/*.json")) {
		want[filepath.Base(path)] = string(must(os.ReadFile(path)))
	}
	values := valuesFiles(t)["everything"]
	got, sizes, alertFiles := map[string]string{}, map[string]int{}, map[string]string{}
	for _, d := range documents(render(t, dir, "--values", values)) {
		for _, c := range all[corev1.ConfigMap](t, d) {
			if c.Labels["grafana_alert"] == "1" {
				maps.Copy(alertFiles, c.Data)
			}
			if c.Labels["grafana_dashboard"] != "1" {
				continue
			}
			if _, twice := sizes[c.Name]; twice {
				t.Errorf("two ConfigMaps are named %s", c.Name)
			}
			sizes[c.Name] = len(d)
			if len(d) >= 256<<10 {
				t.Errorf("%s has %d bytes, more than an annotation takes", c.Name, len(d))
			}
			maps.Copy(got, c.Data)
		}
	}
	alerts := map[string]string{}
	for _, path := range must(filepath.Glob(dir + "/files/alerting/*.yaml")) {
		alerts[filepath.Base(path)] = string(must(os.ReadFile(path)))
	}
	if len(alerts) == 0 || !maps.Equal(alertFiles, alerts) {
		t.Errorf("%d files of Grafana's alert rules, not the %d there are; or their bytes differ", len(alertFiles), len(alerts))
	}
	if !maps.Equal(got, want) || len(sizes) != len(want) {
		t.Errorf("%d dashboards in %d ConfigMaps, %d files; or their bytes differ", len(got), len(sizes), len(want))
	}
	if len(custom(t, render(t, dir, "--values", values, "--set", "dashboards.enabled=false,grafanaAlerts.enabled=false"), "ConfigMap")) != 1 {
		t.Error("without dashboards there are others")
	}
	found := false
	for _, r := range custom(t, render(t, dir, "--values", values), "PrometheusRule") {
		at(t, r, "spec", "groups", 0, "rules", 0)
		if strings.HasSuffix(at(t, r, "metadata", "name").(string), "-planted") {
			found = true
			a, b := must(json.Marshal(r["spec"])), must(json.Marshal(parse(t, rules)))
			if string(a) != string(b) {
				t.Errorf("the rules are\n%s\nnot\n%s", a, b)
			}
		}
	}
	if !found {
		t.Error("the planted rules are not rendered")
	}
}

// TestCopies: the chart's files are the generated ones, byte for byte, and the
// dashboards' uids differ.
func TestCopies(t *testing.T) {
	compare := func(sources []string, copies string) {
		want, got := map[string]string{}, map[string]string{}
		for _, path := range sources {
			want[filepath.Base(path)] = string(must(os.ReadFile(path)))
		}
		for _, path := range must(filepath.Glob(copies)) {
			got[filepath.Base(path)] = string(must(os.ReadFile(path)))
		}
		if !maps.Equal(want, got) {
			t.Errorf("%s are not the files they are made from; run `make generate`", copies)
		}
	}
	dashboards := must(filepath.Glob(root + "/dashboards/*.json"))
	compare(dashboards, chart+"/files/dashboards/*.json")
	var rules []string
	for _, path := range must(filepath.Glob(root + "/deploy/prometheus/*.yaml")) {
		if strings.HasPrefix(string(must(os.ReadFile(path))), "groups:") || strings.Contains(string(must(os.ReadFile(path))), "\ngroups:") {
			rules = append(rules, path)
		}
	}
	compare(rules, chart+"/files/rules/*.yaml")
	compare(must(filepath.Glob(root+"/deploy/grafana/alerting/*.yaml")), chart+"/files/alerting/*.yaml")
	uids := map[any]string{}
	for _, path := range dashboards {
		uid := parse(t, string(must(os.ReadFile(path))))["uid"]
		if other, ok := uids[uid]; ok || uid == nil {
			t.Errorf("%s and %s have the uid %v", path, other, uid)
		}
		uids[uid] = path
	}
}

// peer is one end of a connection: labels of a pod of the release, or nil for the
// rest of the world.
type peer map[string]string

// admits says whether the policies let a connection to a port through at one end.
// It knows what the chart uses: peers by podSelector in the release's namespace,
// and ports by number or name.
func admits(policies []*networkingv1.NetworkPolicy, self, other peer, direction networkingv1.PolicyType, port corev1.ContainerPort) bool {
	selected, allowed := false, false
	ports := func(list []networkingv1.NetworkPolicyPort) bool {
		return len(list) == 0 || slices.ContainsFunc(list, func(p networkingv1.NetworkPolicyPort) bool {
			return *p.Protocol == port.Protocol && (p.Port.IntVal == port.ContainerPort || p.Port.StrVal != "" && p.Port.StrVal == port.Name)
		})
	}
	peers := func(list []networkingv1.NetworkPolicyPeer) bool {
		return len(list) == 0 || slices.ContainsFunc(list, func(p networkingv1.NetworkPolicyPeer) bool {
			return other != nil && p.PodSelector != nil && labels.SelectorFromSet(p.PodSelector.MatchLabels).Matches(labels.Set(other))
		})
	}
	for _, p := range policies {
		if !slices.Contains(p.Spec.PolicyTypes, direction) || !labels.SelectorFromSet(p.Spec.PodSelector.MatchLabels).Matches(labels.Set(self)) {
			continue
		}
		selected = true
		for _, r := range p.Spec.Ingress {
			allowed = allowed || direction == networkingv1.PolicyTypeIngress && ports(r.Ports) && peers(r.From)
		}
		for _, r := range p.Spec.Egress {
			allowed = allowed || direction == networkingv1.PolicyTypeEgress && ports(r.Ports) && peers(r.To)
		}
	}
	return !selected || allowed
}

// TestNetworkPolicy: what the release itself needs is let through, and nothing
// else (U70), in a namespace that denies all by default.
func TestNetworkPolicy(t *testing.T) {
	const in, out = networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress
	tcp := func(n int32, name string) corev1.ContainerPort {
		return corev1.ContainerPort{ContainerPort: n, Name: name, Protocol: corev1.ProtocolTCP}
	}
	grpc, http, metrics, alive, ready := tcp(4317, "otlp-grpc"), tcp(4318, "otlp-http"), tcp(8888, "metrics"), tcp(13133, "alive"), tcp(13134, "ready")
	stream := rendered(t, "everything") // senders and Prometheus may be anywhere
	policies := all[networkingv1.NetworkPolicy](t, stream)
	release := pods(t, stream)
	if len(release) != 4 {
		t.Fatalf("%d kinds of pods", len(release))
	}
	collector, test := peer(release["collector"].labels), peer(release["test"].labels)
	for component, pod := range release {
		for _, direction := range []networkingv1.PolicyType{in, out} {
			if admits(policies, pod.labels, nil, direction, tcp(22, "ssh")) {
				t.Errorf("%s: %s of anything is let through", component, direction)
			}
		}
		for _, n := range []int32{53, 5353} {
			if !admits(policies, pod.labels, nil, out, corev1.ContainerPort{ContainerPort: n, Protocol: corev1.ProtocolUDP}) || !admits(policies, pod.labels, nil, out, tcp(n, "")) {
				t.Errorf("%s cannot ask for names at port %d", component, n)
			}
		}
		if store := admits(policies, pod.labels, nil, out, tcp(8443, "")); store != (component != "test") {
			t.Errorf("%s: does it reach ClickHouse: %v", component, store)
		}
	}
	for _, port := range []corev1.ContainerPort{grpc, http, metrics, alive, ready} {
		if !admits(policies, collector, nil, in, port) {
			t.Errorf("nobody reaches %s", port.Name)
		}
		if !admits(policies, test, collector, out, port) {
			t.Errorf("helm test may not ask %s", port.Name)
		}
	}

	narrow := all[networkingv1.NetworkPolicy](t, rendered(t, "production"))
	collector, test = pods(t, rendered(t, "production"))["collector"].labels, pods(t, rendered(t, "production"))["test"].labels
	for _, port := range []corev1.ContainerPort{grpc, http, metrics} {
		if admits(narrow, collector, nil, in, port) {
			t.Errorf("%s is open to everybody, and the values name who may", port.Name)
		}
		if !admits(narrow, collector, test, in, port) || !admits(narrow, test, collector, out, port) {
			t.Errorf("helm test is kept from %s", port.Name)
		}
	}
}
