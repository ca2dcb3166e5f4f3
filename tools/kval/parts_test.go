package main

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// foreign is what the values files say is there already: the objects, each with
// the keys that are taken from it.
var foreign = map[string][]string{
	"Secret/clickhouse-collector":            {"url", "password"},
	"Secret/clickhouse-owner":                {"url"},
	"Secret/senders":                         {"tokens.txt"},
	"Secret/otlp-certificate":                {"tls.crt", "tls.key", "ca.crt"},
	"Secret/soakgate-clickhouse":             {"dsn"},
	"Secret/soakgate-tokens":                 {"tokens"},
	"Secret/soakgate-tls":                    {"tls.crt", "tls.key", "ca.crt"},
	"ConfigMap/company-ca":                   {"ca.crt"},
	"PersistentVolumeClaim/release-evidence": {},
	"ServiceAccount/telemetry":               {},
}

// there are the objects that a pod of the stream can refer to, with their keys. A
// hook's pod finds what other hooks made before it, and nothing of the release.
func there(t *testing.T, stream string, hook bool) map[string][]string {
	t.Helper()
	out := map[string][]string{"ServiceAccount/default": {}, "ServiceAccount/": {}}
	maps.Copy(out, foreign)
	for _, o := range all[corev1.Secret](t, stream) {
		made := o.Annotations["helm.sh/hook"] == "pre-install,pre-upgrade" && o.Annotations["helm.sh/hook-weight"] == "-10"
		if made == hook {
			out["Secret/"+o.Name] = []string{}
			for key := range o.Data {
				out["Secret/"+o.Name] = append(out["Secret/"+o.Name], key)
			}
		}
	}
	if hook {
		return out
	}
	for _, o := range all[corev1.ConfigMap](t, stream) {
		out["ConfigMap/"+o.Name] = []string{}
		for key := range o.Data {
			out["ConfigMap/"+o.Name] = append(out["ConfigMap/"+o.Name], key)
		}
	}
	for _, o := range all[corev1.PersistentVolumeClaim](t, stream) {
		out["PersistentVolumeClaim/"+o.Name] = []string{}
	}
	for _, o := range all[corev1.ServiceAccount](t, stream) {
		out["ServiceAccount/"+o.Name] = []string{}
	}
	return out
}

// TestWhatPodsReferToIsThere: each Secret, ConfigMap, claim and ServiceAccount
// exists by name and key when the pod starts, and each file that the pod is told
// to read is mounted.
func TestWhatPodsReferToIsThere(t *testing.T) {
	paths := regexp.MustCompile(`/etc/soakgate/[a-z./-]+`)
	each(t, func(t *testing.T, stream string) {
		for component, pod := range pods(t, stream) {
			objects := there(t, stream, component == "migrate")
			need := func(name, key string) {
				keys, ok := objects[name]
				if !ok || key != "" && !slices.Contains(keys, key) {
					t.Errorf("%s: there is no %s with %q", component, name, key)
				}
			}
			c := pod.spec.Containers[0]
			need("ServiceAccount/"+pod.spec.ServiceAccountName, "")
			for _, e := range c.Env {
				if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
					need("Secret/"+e.ValueFrom.SecretKeyRef.Name, e.ValueFrom.SecretKeyRef.Key)
				}
			}
			from := map[string]string{}
			for _, v := range pod.spec.Volumes {
				switch {
				case v.Secret != nil:
					from[v.Name] = "Secret/" + v.Secret.SecretName
					for _, i := range v.Secret.Items {
						need(from[v.Name], i.Key)
					}
				case v.ConfigMap != nil:
					from[v.Name] = "ConfigMap/" + v.ConfigMap.Name
				case v.PersistentVolumeClaim != nil:
					from[v.Name] = "PersistentVolumeClaim/" + v.PersistentVolumeClaim.ClaimName
				}
				if from[v.Name] != "" {
					need(from[v.Name], "")
				}
			}
			for _, m := range c.VolumeMounts {
				if m.SubPath != "" {
					need(from[m.Name], m.SubPath)
				}
			}
			told := strings.Join(c.Args, " ")
			if component == "collector" {
				for _, o := range all[corev1.ConfigMap](t, stream) {
					told += " " + o.Data["collector.yaml"]
				}
			}
			for _, path := range paths.FindAllString(told, -1) {
				if !slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool {
					return path == m.MountPath || strings.HasPrefix(path, m.MountPath+"/")
				}) {
					t.Errorf("%s reads %s, which is not mounted", component, path)
				}
			}
		}
	})
}

// TestEveryPodKnowsTheStore: by the user whom the values name for it.
func TestEveryPodKnowsTheStore(t *testing.T) {
	each(t, func(t *testing.T, stream string) {
		for component, pod := range pods(t, stream) {
			named := slices.ContainsFunc(pod.spec.Containers[0].Env, func(e corev1.EnvVar) bool {
				return e.Name == "SOAKGATE_DSN" && e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil
			})
			if named != (component != "test") {
				t.Errorf("%s: has it a DSN from a Secret: %v", component, named)
			}
		}
	})
	for component, want := range map[string]string{
		"collector": "SOAKGATE_DSN=clickhouse-collector/url SOAKGATE_CLICKHOUSE_PASSWORD=clickhouse-collector/password",
		"soak":      "SOAKGATE_DSN=clickhouse-collector/url SOAKGATE_CLICKHOUSE_PASSWORD=clickhouse-collector/password",
		"migrate":   "SOAKGATE_DSN=clickhouse-owner/url",
	} {
		var got []string
		for _, e := range pods(t, rendered(t, "existing-secrets"))[component].spec.Containers[0].Env {
			if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
				got = append(got, e.Name+"="+e.ValueFrom.SecretKeyRef.Name+"/"+e.ValueFrom.SecretKeyRef.Key)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s knows %v, not %s", component, got, want)
		}
	}
}

// TestHealthListeners: the probes ask where the collector answers, liveness and
// start-up never about the store, and the other listener does ask.
func TestHealthListeners(t *testing.T) {
	each(t, func(t *testing.T, stream string) {
		config := collectorConfig(t, stream)
		c := one[appsv1.StatefulSet](t, stream).Spec.Template.Spec.Containers[0]
		for _, p := range []*corev1.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
			if path := at(t, config, "extensions", "healthcheckv2/"+p.HTTPGet.Port.StrVal, "http", "status", "path"); path != p.HTTPGet.Path {
				t.Errorf("a probe asks for %s, and %v is served", p.HTTPGet.Path, path)
			}
		}
		if c.StartupProbe.HTTPGet.Port.StrVal != "alive" {
			t.Error("a store that is away keeps a collector from starting")
		}
		alive, ready := at(t, config, "extensions", "healthcheckv2/alive").(map[string]any), at(t, config, "extensions", "healthcheckv2/ready").(map[string]any)
		if alive["component_health"] != nil || ready["component_health"] == nil {
			t.Error("alive asks the components, or ready does not")
		}
		port := at(t, config, "service", "telemetry", "metrics", "readers", 0, "pull", "exporter", "prometheus", "port")
		if !slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.Name == "metrics" && int64(p.ContainerPort) == port }) {
			t.Errorf("metrics are served at %v", port)
		}
	})
}

// TestListenersAreGuarded: TLS and tokens hold on both protocols where they are
// asked for, and the embedded ClickHouse listens on loopback alone.
func TestListenersAreGuarded(t *testing.T) {
	for name, want := range map[string]struct{ tls, clients, auth bool }{
		"minimal": {}, "everything": {tls: true, auth: true}, "existing-secrets": {tls: true, clients: true, auth: true},
	} {
		protocols := at(t, collectorConfig(t, rendered(t, name)), "receivers", "soakgate", "protocols").(map[string]any)
		for _, p := range []string{"grpc", "http"} {
			listener := protocols[p].(map[string]any)
			tls, _ := listener["tls"].(map[string]any)
			if got := listener["auth"] != nil; got != want.auth {
				t.Errorf("%s: does %s want a token: %v", name, p, got)
			}
			if (tls != nil) != want.tls || (tls["client_ca_file"] != nil) != want.clients {
				t.Errorf("%s: TLS of %s is %v", name, p, tls)
			}
		}
	}
	if got := at(t, collectorConfig(t, rendered(t, "embedded")), "extensions", "clickhouse_embedded", "listen"); got != "127.0.0.1:8123" {
		t.Errorf("the embedded ClickHouse listens on %v", got)
	}
}

// TestWaysIn: helm test, Ingress and route ask Services and ports that are there.
func TestWaysIn(t *testing.T) {
	each(t, func(t *testing.T, stream string) {
		ports := map[string]string{}
		for _, s := range all[corev1.Service](t, stream) {
			for _, p := range s.Spec.Ports {
				ports[s.Name+":"+itoa(p.Port)] = p.Name
				ports[s.Name+":"+p.Name] = p.Name
			}
		}
		var asked []string
		for _, arg := range one[corev1.Pod](t, stream).Spec.Containers[0].Args[1:] {
			asked = append(asked, ports[must(url.Parse(arg)).Host])
		}
		if want := []string{"otlp-grpc", "otlp-http", "alive", "ready", "metrics"}; !slices.Equal(asked, want) {
			t.Errorf("helm test asks %v, not %v", asked, want)
		}
		for _, i := range all[networkingv1.Ingress](t, stream) {
			for _, p := range i.Spec.Rules[0].HTTP.Paths {
				if to := p.Backend.Service; ports[to.Name+":"+to.Port.Name] != "otlp-http" {
					t.Errorf("%s leads to %v", p.Path, to)
				}
			}
		}
	})
	if len(all[networkingv1.Ingress](t, rendered(t, "everything"))) != 1 {
		t.Error("no Ingress")
	}
}

// TestMigrationsCommand: the Job migrates, on the cluster, and its policy lets it
// out before it starts.
func TestMigrationsCommand(t *testing.T) {
	args := one[batchv1.Job](t, rendered(t, "ha")).Spec.Template.Spec.Containers[0].Args
	if !slices.Equal(args[:2], []string{"migrate", "up"}) || !slices.Contains(args, "--cluster=main") {
		t.Errorf("the Job runs %v", args)
	}
	if got := at(t, collectorConfig(t, rendered(t, "ha")), "exporters", "soakgate", "cluster"); got != "main" {
		t.Errorf("collectors write to the cluster %v", got)
	}
	early := 0
	for _, p := range all[networkingv1.NetworkPolicy](t, rendered(t, "everything")) {
		if p.Annotations["helm.sh/hook"] == "pre-install,pre-upgrade" && p.Annotations["helm.sh/hook-weight"] == "-10" {
			early++
		}
	}
	if early != 1 {
		t.Errorf("%d policies are there before the migration", early)
	}
}

// TestValuesArrive: what the values say about scheduling, images, peers and limits
// is in what is rendered.
func TestValuesArrive(t *testing.T) {
	stream := rendered(t, "everything")
	for component, pod := range pods(t, stream) {
		s := pod.spec
		if len(s.ImagePullSecrets) != 2 || s.NodeSelector["kubernetes.io/os"] != "linux" || len(s.Tolerations) != 1 {
			t.Errorf("%s: pull Secrets, nodes or tolerations are missing", component)
		}
		if c := s.Containers[0]; !strings.HasPrefix(c.Image, "registry.example.com/soakgate@sha256:") || c.ImagePullPolicy != corev1.PullAlways {
			t.Errorf("%s runs %s", component, c.Image)
		}
	}
	template := one[appsv1.StatefulSet](t, stream).Spec.Template
	if template.Spec.Affinity == nil || template.Spec.PriorityClassName != "telemetry" || *template.Spec.TerminationGracePeriodSeconds != 120 ||
		template.Labels["example.com/tier"] != "telemetry" || template.Annotations["example.com/note"] != "here" ||
		template.Spec.Containers[0].Env[0].ValueFrom.FieldRef.FieldPath != "metadata.name" {
		t.Errorf("the pod is %v", template)
	}
	if image := pods(t, rendered(t, "embedded"))["collector"].spec.Containers[0].Image; !strings.HasSuffix(image, "-engine") {
		t.Errorf("the embedded ClickHouse is to run in %s", image)
	}
	if limit := at(t, collectorConfig(t, rendered(t, "embedded")), "processors", "memory_limiter", "limit_percentage").(int64); limit > 50 {
		t.Errorf("beside the embedded ClickHouse the collector takes %d %% of the memory", limit)
	}
	whenDeleted := func(name string) appsv1.PersistentVolumeClaimRetentionPolicyType {
		return one[appsv1.StatefulSet](t, rendered(t, name)).Spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted
	}
	if whenDeleted("everything") != "Delete" || whenDeleted("minimal") != "Retain" {
		t.Error("journals of a deleted release are not kept as told")
	}
	if s := one[autoscalingv2.HorizontalPodAutoscaler](t, rendered(t, "ha")).Spec; *s.MinReplicas != 3 || s.MaxReplicas != 9 {
		t.Errorf("scales from %d to %d", *s.MinReplicas, s.MaxReplicas)
	}
	if !strings.Contains(stream, "grafana_folder: Soakgate") {
		t.Error("dashboards have no folder")
	}
	if zone := one[batchv1.CronJob](t, stream).Spec.TimeZone; zone == nil || *zone != "Etc/UTC" {
		t.Errorf("the schedule's zone is %v", zone)
	}
	if rule := custom(t, rendered(t, "production"), "PrometheusRule"); at(t, rule[0], "metadata", "labels", "release") != "prometheus" {
		t.Error("no Prometheus picks the rules")
	}
	soak := one[batchv1.CronJob](t, stream).Spec.JobTemplate.Spec.Template.Spec.Containers[0]
	if !slices.Contains(soak.Args, "--policy=/etc/soakgate/soak-policy.yaml") {
		t.Errorf("the CronJob judges by another policy: %v", soak.Args)
	}
	claim := pods(t, rendered(t, "existing-secrets"))["soak"].spec.Volumes[0].PersistentVolumeClaim.ClaimName
	if claim != "release-evidence" {
		t.Errorf("evidence goes to %s", claim)
	}
	keep := collectorConfig(t, render(t, chart, "--values", valuesFiles(t)["minimal"], "--set", "retention.payloadDays=1,retention.recordsDays=2,retention.rollupDays=3"))
	for i, key := range []string{"payload_days", "records_days", "rollup_days"} {
		if got := at(t, keep, "exporters", "soakgate", "retention", key); got != int64(i+1) {
			t.Errorf("%s is %v", key, got)
		}
	}
}

// TestPolicyPeers: the peers that the values name for ClickHouse and for more are
// in the collectors' policy.
func TestPolicyPeers(t *testing.T) {
	stream := render(t, chart, "--values", valuesFiles(t)["kafka"], "--set", "networkPolicy.clickhouseTo[0].podSelector.matchLabels.app=clickhouse")
	for _, p := range all[networkingv1.NetworkPolicy](t, stream) {
		of := []*networkingv1.NetworkPolicy{p}
		self := peer(p.Spec.PodSelector.MatchLabels)
		to := func(other peer, port int32) bool {
			return admits(of, self, other, networkingv1.PolicyTypeEgress, corev1.ContainerPort{ContainerPort: port, Protocol: corev1.ProtocolTCP})
		}
		component := self["app.kubernetes.io/component"]
		if got := to(nil, 9092); got != (component == "collector") {
			t.Errorf("%s: does it reach Kafka: %v", component, got)
		}
		if to(nil, 8123) || to(peer{"app": "clickhouse"}, 8123) != (component != "test") {
			t.Errorf("%s: reaches more than ClickHouse at its port, or not even that", component)
		}
	}
}

// TestEmbeddedDataOutlivesThePod: the trial's ClickHouse writes to a claim.
func TestEmbeddedDataOutlivesThePod(t *testing.T) {
	stream := rendered(t, "embedded")
	sts := one[appsv1.StatefulSet](t, stream)
	path := at(t, collectorConfig(t, stream), "extensions", "clickhouse_embedded", "path").(string)
	if !slices.ContainsFunc(sts.Spec.Template.Spec.Containers[0].VolumeMounts, func(m corev1.VolumeMount) bool {
		return strings.HasPrefix(path, m.MountPath+"/") && slices.ContainsFunc(sts.Spec.VolumeClaimTemplates, func(c corev1.PersistentVolumeClaim) bool { return c.Name == m.Name })
	}) {
		t.Errorf("%s is on no claim", path)
	}
}
