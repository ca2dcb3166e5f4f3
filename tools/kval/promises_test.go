package main

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	psapi "k8s.io/pod-security-admission/api"
	pspolicy "k8s.io/pod-security-admission/policy"
)

// podOf is a pod that a release runs, by the component that its labels name.
type podOf struct {
	labels map[string]string
	meta   metav1.ObjectMeta
	spec   corev1.PodSpec
}

// pods are all pods that a rendering leads to.
func pods(t *testing.T, stream string) map[string]podOf {
	t.Helper()
	out := map[string]podOf{}
	add := func(meta metav1.ObjectMeta, spec corev1.PodSpec) {
		out[meta.Labels["app.kubernetes.io/component"]] = podOf{meta.Labels, meta, spec}
	}
	for _, o := range all[appsv1.StatefulSet](t, stream) {
		add(o.Spec.Template.ObjectMeta, o.Spec.Template.Spec)
	}
	for _, o := range all[batchv1.Job](t, stream) {
		add(o.Spec.Template.ObjectMeta, o.Spec.Template.Spec)
	}
	for _, o := range all[batchv1.CronJob](t, stream) {
		add(o.Spec.JobTemplate.Spec.Template.ObjectMeta, o.Spec.JobTemplate.Spec.Template.Spec)
	}
	for _, o := range all[corev1.Pod](t, stream) {
		add(o.ObjectMeta, o.Spec)
	}
	return out
}

// each runs a check on every values file.
func each(t *testing.T, check func(t *testing.T, stream string)) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(valuesFiles(t))) {
		t.Run(name, func(t *testing.T) { check(t, rendered(t, name)) })
	}
}

// TestSelectors: what selects collectors selects them, and no Job or test pod.
func TestSelectors(t *testing.T) {
	each(t, func(t *testing.T, stream string) {
		selectors := map[string]labels.Selector{}
		add := func(name string, s *metav1.LabelSelector) {
			selector, err := metav1.LabelSelectorAsSelector(s)
			if err != nil || selector.Empty() {
				t.Errorf("%s selects everything (%v)", name, err)
			}
			selectors[name] = selector
		}
		sts := one[appsv1.StatefulSet](t, stream)
		add("StatefulSet", sts.Spec.Selector)
		for _, o := range all[corev1.Service](t, stream) {
			add("Service "+o.Name, &metav1.LabelSelector{MatchLabels: o.Spec.Selector})
			for _, p := range o.Spec.Ports {
				if !slices.ContainsFunc(sts.Spec.Template.Spec.Containers[0].Ports, func(c corev1.ContainerPort) bool { return c.Name == p.TargetPort.StrVal }) {
					t.Errorf("port %s of Service %s leads to no port of the container", p.Name, o.Name)
				}
			}
		}
		for _, o := range all[policyv1.PodDisruptionBudget](t, stream) {
			add("PodDisruptionBudget", o.Spec.Selector)
		}
		for _, c := range sts.Spec.Template.Spec.TopologySpreadConstraints {
			add("spread over "+c.TopologyKey, c.LabelSelector)
		}
		if len(selectors) < 7 {
			t.Errorf("only %d selectors were seen", len(selectors))
		}
		for name, selector := range selectors {
			for component, pod := range pods(t, stream) {
				if selector.Matches(labels.Set(pod.labels)) != (component == "collector") {
					t.Errorf("%s: does it select the pod of %s?", name, component)
				}
			}
		}
		// A pod that drains leaves the Services of senders, and nothing else.
		draining := maps.Clone(sts.Spec.Template.Labels)
		draining["soakgate.io/serving"] = "false"
		for name, selector := range selectors {
			senders := name == "Service "+sts.Name || name == "Service "+sts.Spec.ServiceName
			if selector.Matches(labels.Set(draining)) == senders {
				t.Errorf("%s: is a pod that drains in it?", name)
			}
		}
	})
}

// TestStatefulSet: each replica has a journal of its own on a volume that its
// user may write to and that outlives it (U66), and stops in time (U68).
func TestStatefulSet(t *testing.T) {
	each(t, func(t *testing.T, stream string) {
		sts := one[appsv1.StatefulSet](t, stream)
		c := sts.Spec.Template.Spec.Containers[0]
		claims := map[string]corev1.PersistentVolumeClaim{}
		for _, claim := range sts.Spec.VolumeClaimTemplates {
			claims[claim.Name] = claim
		}
		config := collectorConfig(t, stream)
		dir := at(t, config, "exporters", "soakgate", "journal", "directory").(string)
		mib := at(t, config, "exporters", "soakgate", "journal", "max_size_mib").(int64)
		found := false
		for _, m := range c.VolumeMounts {
			claim, ok := claims[m.Name]
			if !ok || !strings.HasPrefix(dir, m.MountPath+"/") {
				continue
			}
			found = true
			if size := claim.Spec.Resources.Requests.Storage().Value(); mib<<20 > size*9/10 || mib<<20 < size/2 {
				t.Errorf("the journal takes %d MiB of a volume of %d", mib, size>>20)
			}
		}
		if !found {
			t.Errorf("the journal's folder %s is on no volume of the replica's own", dir)
		}
		if security := sts.Spec.Template.Spec.SecurityContext; security.FSGroup == nil || *security.FSGroup != *security.RunAsGroup {
			t.Error("the volume is not given to the group that the collector runs as")
		}
		if sts.Spec.PersistentVolumeClaimRetentionPolicy.WhenScaled != appsv1.RetainPersistentVolumeClaimRetentionPolicyType {
			t.Error("a journal goes with its replica")
		}
		grace, wait := *sts.Spec.Template.Spec.TerminationGracePeriodSeconds, int64(0)
		if c.Lifecycle != nil {
			wait = c.Lifecycle.PreStop.Sleep.Seconds
		}
		if grace < wait+15 {
			t.Errorf("%d s to stop, of which %d are spent waiting", grace, wait)
		}
		if !slices.ContainsFunc(all[corev1.Service](t, stream), func(s *corev1.Service) bool {
			return s.Name == sts.Spec.ServiceName && s.Spec.ClusterIP == corev1.ClusterIPNone
		}) {
			t.Errorf("there is no headless Service %s", sts.Spec.ServiceName)
		}
		if c.LivenessProbe.HTTPGet.Port.StrVal != "alive" {
			t.Error("a store that is away would restart collectors (U57)")
		}
		if _, ok := c.Resources.Limits[corev1.ResourceMemory]; !ok {
			t.Error("no limit of memory, which the memory limiter reads")
		}
	})
}

// collectorConfig is the configuration in the ConfigMap.
func collectorConfig(t *testing.T, stream string) map[string]any {
	t.Helper()
	for _, c := range all[corev1.ConfigMap](t, stream) {
		if text := c.Data["collector.yaml"]; text != "" {
			return parse(t, text)
		}
	}
	t.Fatal("no ConfigMap holds the collector's configuration")
	return nil
}

// TestProbesFollowTheConfiguration: alive and ready are different listeners, and
// readiness asks about the store only where it was told to.
func TestProbesFollowTheConfiguration(t *testing.T) {
	for name, want := range map[string]string{"production": "alive", "everything": "ready"} {
		c := one[appsv1.StatefulSet](t, rendered(t, name)).Spec.Template.Spec.Containers[0]
		if got := c.ReadinessProbe.HTTPGet.Port.StrVal; got != want {
			t.Errorf("%s: readiness asks %s, not %s", name, got, want)
		}
	}
	each(t, func(t *testing.T, stream string) {
		c := one[appsv1.StatefulSet](t, stream).Spec.Template.Spec.Containers[0]
		config := collectorConfig(t, stream)
		listening := map[string]string{
			"alive":     at(t, config, "extensions", "healthcheckv2/alive", "http", "endpoint").(string),
			"ready":     at(t, config, "extensions", "healthcheckv2/ready", "http", "endpoint").(string),
			"otlp-grpc": at(t, config, "receivers", "soakgate", "protocols", "grpc", "endpoint").(string),
			"otlp-http": at(t, config, "receivers", "soakgate", "protocols", "http", "endpoint").(string),
		}
		for _, p := range c.Ports {
			if endpoint, ok := listening[p.Name]; ok && !strings.HasSuffix(endpoint, ":"+itoa(p.ContainerPort)) {
				t.Errorf("port %s is %d, and the collector listens on %s", p.Name, p.ContainerPort, endpoint)
			}
		}
	})
}

// TestRestricted: every pod keeps the restricted pod security standard (U69), as
// the admission that enforces it judges, and none has a token of the API.
func TestRestricted(t *testing.T) {
	evaluator, err := pspolicy.NewEvaluator(pspolicy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	level := psapi.LevelVersion{Level: psapi.LevelRestricted, Version: psapi.LatestVersion()}
	each(t, func(t *testing.T, stream string) {
		for component, pod := range pods(t, stream) {
			if r := pspolicy.AggregateCheckResults(evaluator.EvaluatePod(level, &pod.meta, &pod.spec)); !r.Allowed {
				t.Errorf("%s: %s", component, r.ForbiddenDetail())
			}
			if pod.spec.AutomountServiceAccountToken == nil || *pod.spec.AutomountServiceAccountToken {
				t.Errorf("%s has a token of the API", component)
			}
			for _, c := range pod.spec.Containers {
				if c.SecurityContext.ReadOnlyRootFilesystem == nil || !*c.SecurityContext.ReadOnlyRootFilesystem {
					t.Errorf("%s may write to its root", component)
				}
			}
		}
		for _, a := range all[corev1.ServiceAccount](t, stream) {
			if a.AutomountServiceAccountToken == nil || *a.AutomountServiceAccountToken {
				t.Error("the ServiceAccount hands out its token")
			}
		}
	})
}

// TestSecretsStayInSecrets: what the values call secret is in Secrets alone, and
// with Secrets of the operator's the chart makes none.
func TestSecretsStayInSecrets(t *testing.T) {
	secret := []string{"not-a-real-password", "not-a-real-token-1", "not-a-real-token-2"}
	kept := ""
	for _, d := range documents(rendered(t, "everything")) {
		if strings.Contains(d, "\nkind: Secret\n") {
			continue
		}
		for _, s := range secret {
			if strings.Contains(d, s) || strings.Contains(d, base64.StdEncoding.EncodeToString([]byte(s))) {
				t.Errorf("%q is in\n%s", s, d)
			}
		}
	}
	for _, s := range all[corev1.Secret](t, rendered(t, "everything")) {
		for _, v := range s.Data {
			kept += string(v)
		}
	}
	for _, s := range secret {
		if !strings.Contains(kept, s) {
			t.Errorf("%q is in no Secret", s)
		}
	}
	for _, name := range []string{"existing-secrets", "production"} {
		if n := len(all[corev1.Secret](t, rendered(t, name))); n != 0 {
			t.Errorf("%s: %d Secrets are made", name, n)
		}
	}
}

// TestScaling: an autoscaler and the budget agree, no fixed number of replicas
// fights with it (U71), and it never takes a journal away.
func TestScaling(t *testing.T) {
	each(t, func(t *testing.T, stream string) {
		sts := one[appsv1.StatefulSet](t, stream)
		scalers := all[autoscalingv2.HorizontalPodAutoscaler](t, stream)
		if (sts.Spec.Replicas == nil) != (len(scalers) == 1) {
			t.Error("replicas is given beside an autoscaler, or neither is")
		}
		budget := one[policyv1.PodDisruptionBudget](t, stream)
		if budget.Spec.MaxUnavailable == nil || budget.Spec.MinAvailable != nil {
			t.Error("a minimum of available pods can stop every drain; the budget must be a maximum of absent ones")
		}
		for _, s := range scalers {
			ref := s.Spec.ScaleTargetRef
			if ref.Kind != "StatefulSet" || ref.Name != sts.Name || ref.APIVersion != "apps/v1" {
				t.Errorf("scales %v", ref)
			}
			if p := s.Spec.Behavior.ScaleDown.SelectPolicy; p == nil || *p != autoscalingv2.DisabledPolicySelect {
				t.Error("may take away a collector whose journal is not empty")
			}
			if int32(budget.Spec.MaxUnavailable.IntValue()) >= *s.Spec.MinReplicas {
				t.Error("the budget lets all of the least number of collectors go")
			}
			if _, ok := sts.Spec.Template.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU]; !ok {
				t.Error("scales by the use of CPU without a request of it")
			}
		}
	})
	if n := len(all[autoscalingv2.HorizontalPodAutoscaler](t, rendered(t, "ha"))); n != 1 {
		t.Errorf("%d autoscalers", n)
	}
}

// TestChangesRollPods: a change of configuration, policy or DSN is a change of
// the pod (U68); a change of replicas is none.
func TestChangesRollPods(t *testing.T) {
	annotations := func(set string) string {
		stream := render(t, chart, "--values", valuesFiles(t)["minimal"], "--set", set)
		return labels.FormatLabels(one[appsv1.StatefulSet](t, stream).Spec.Template.Annotations)
	}
	same := annotations("replicaCount=1")
	for _, set := range []string{"retention.payloadDays=7", "soak.interval=1h", "clickhouse.dsn=http://other:8123/soakgate", "config.processors.memory_limiter.limit_percentage=60"} {
		if annotations(set) == same {
			t.Errorf("%s does not restart pods", set)
		}
	}
	if annotations("replicaCount=2") != same {
		t.Error("another number of replicas restarts pods")
	}
}

// TestMigrationComesFirst: the Job runs before the release, with what it needs
// already there, and collectors do not migrate beside it.
func TestMigrationComesFirst(t *testing.T) {
	each(t, func(t *testing.T, stream string) {
		jobs := all[batchv1.Job](t, stream)
		if migrate := at(t, collectorConfig(t, stream), "exporters", "soakgate").(map[string]any)["migrate"].(bool); migrate == (len(jobs) == 1) {
			t.Errorf("%d migration Jobs, and do collectors migrate: %v", len(jobs), migrate)
		}
		made := map[string]bool{}
		for _, s := range all[corev1.Secret](t, stream) {
			made[s.Name] = s.Annotations["helm.sh/hook"] == "pre-install,pre-upgrade"
		}
		keep := at(t, collectorConfig(t, stream), "exporters", "soakgate", "retention")
		for _, j := range jobs {
			for flag, days := range map[string]any{"payload": at(t, keep, "payload_days"), "records": at(t, keep, "records_days"), "rollup": at(t, keep, "rollup_days")} {
				if want := fmt.Sprintf("--%s-days=%v", flag, days); !slices.Contains(j.Spec.Template.Spec.Containers[0].Args, want) {
					t.Errorf("the tables are not made with %s: %v", want, j.Spec.Template.Spec.Containers[0].Args)
				}
			}
			if j.Annotations["helm.sh/hook"] != "pre-install,pre-upgrade" {
				t.Error("the migration is no hook")
			}
			for _, e := range j.Spec.Template.Spec.Containers[0].Env {
				if e.ValueFrom == nil {
					continue
				}
				if hook, ok := made[e.ValueFrom.SecretKeyRef.Name]; ok && !hook {
					t.Errorf("needs the Secret %s, which is made later", e.ValueFrom.SecretKeyRef.Name)
				}
			}
		}
	})
}

// TestExtras: what the operator adds for ClickHouse's sake, such as a CA, is in
// each pod that asks it.
func TestExtras(t *testing.T) {
	for component, pod := range pods(t, rendered(t, "everything")) {
		c := pod.spec.Containers[0]
		volume := slices.ContainsFunc(pod.spec.Volumes, func(v corev1.Volume) bool { return v.Name == "ca" })
		mount := slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == "ca" })
		env := slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == "GOGC" })
		if want := component != "test"; volume != want || mount != want || env != want {
			t.Errorf("%s: volume %v, mount %v, environment %v", component, volume, mount, env)
		}
	}
}

// TestHooksLeaveNothing: Helm does not uninstall what a hook made, so each hook is
// deleted when it has succeeded.
func TestHooksLeaveNothing(t *testing.T) {
	each(t, func(t *testing.T, stream string) {
		for _, d := range documents(stream) {
			meta, _ := at(t, parse(t, d), "metadata").(map[string]any)
			annotations, _ := meta["annotations"].(map[string]any)
			if annotations["helm.sh/hook"] != nil && annotations["helm.sh/hook-delete-policy"] != "before-hook-creation,hook-succeeded" {
				t.Errorf("%v stays after the release", meta["name"])
			}
		}
	})
}

// TestSoakCronJob: a verdict is not tried again, and evidence is kept by run.
func TestSoakCronJob(t *testing.T) {
	stream := rendered(t, "production")
	j := one[batchv1.CronJob](t, stream).Spec.JobTemplate.Spec
	rule := j.PodFailurePolicy.Rules[0]
	if rule.Action != batchv1.PodFailurePolicyActionFailJob || !slices.Equal(rule.OnExitCodes.Values, []int32{2, 3, 4}) {
		t.Errorf("the failure policy is %v", rule)
	}
	claim := one[corev1.PersistentVolumeClaim](t, stream)
	if claim.Annotations["helm.sh/resource-policy"] != "keep" {
		t.Error("evidence goes with the release")
	}
	if got := j.Template.Spec.Volumes[0].PersistentVolumeClaim.ClaimName; got != claim.Name {
		t.Errorf("writes to the claim %s, and %s is made", got, claim.Name)
	}
	c := j.Template.Spec.Containers[0]
	if !slices.ContainsFunc(c.Args, func(a string) bool {
		return strings.HasPrefix(a, "--evidence="+c.VolumeMounts[0].MountPath+"/$(POD_NAME)")
	}) {
		t.Errorf("the evidence is not on the claim, in a file of the run's own: %v", c.Args)
	}
}
