package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/yaml"
	genericrequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"        // the scheme's kinds
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install" // the scheme's kinds
	_ "k8s.io/kubernetes/pkg/apis/batch/install"       // the scheme's kinds
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"       // the scheme's kinds
	_ "k8s.io/kubernetes/pkg/apis/networking/install" // the scheme's kinds
	_ "k8s.io/kubernetes/pkg/apis/policy/install"     // the scheme's kinds
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/autoscaling/horizontalpodautoscaler"
	"k8s.io/kubernetes/pkg/registry/batch/cronjob"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/core/configmap"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/core/secret"
	"k8s.io/kubernetes/pkg/registry/core/service"
	"k8s.io/kubernetes/pkg/registry/core/serviceaccount"
	"k8s.io/kubernetes/pkg/registry/networking/ingress"
	"k8s.io/kubernetes/pkg/registry/networking/networkpolicy"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
)

// strategies are the kinds that can be judged. Another kind is an error, so that
// none passes unseen.
var strategies = map[string]rest.RESTCreateStrategy{
	"ConfigMap":               configmap.Strategy,
	"CronJob":                 cronjob.Strategy,
	"HorizontalPodAutoscaler": horizontalpodautoscaler.Strategy,
	"Ingress":                 ingress.Strategy,
	"Job":                     job.Strategy,
	"NetworkPolicy":           networkpolicy.Strategy,
	"PersistentVolumeClaim":   persistentvolumeclaim.Strategy,
	"Pod":                     pod.Strategy,
	"PodDisruptionBudget":     poddisruptionbudget.Strategy,
	"Secret":                  secret.Strategy,
	"Service":                 service.Strategy,
	"ServiceAccount":          serviceaccount.Strategy,
	"StatefulSet":             statefulset.Strategy,
}

// errNoStrategy means that the kind is none of Kubernetes' own, or not listed.
var errNoStrategy = errors.New("no strategy is registered for this kind")

// finding is what was found for one manifest: its kind and name, and why it was
// refused, or nil.
type finding struct {
	name string
	err  error
}

// validateAll judges each document of a YAML stream.
func validateAll(in io.Reader) ([]finding, error) {
	var out []finding
	docs := yaml.NewYAMLReader(bufio.NewReader(in))
	for {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the manifests: %w", err)
		}
		if len(bytes.TrimSpace(doc)) == 0 {
			continue
		}
		out = append(out, validate(doc))
	}
}

// validate judges one document as a request to create it.
func validate(doc []byte) finding {
	obj, gvk, err := decode(doc)
	if err != nil {
		return finding{"?", err}
	}
	m, ok := obj.(metav1.Object)
	if !ok {
		return finding{gvk.Kind, errors.New("no metadata")}
	}
	name := gvk.Kind + "/" + m.GetName()
	strategy, ok := strategies[gvk.Kind]
	if !ok {
		return finding{name, errNoStrategy}
	}
	if m.GetNamespace() == "" && strategy.NamespaceScoped() {
		m.SetNamespace(metav1.NamespaceDefault)
	}
	ctx := genericrequest.WithNamespace(context.Background(), m.GetNamespace())
	ctx = genericrequest.WithRequestInfo(ctx, &genericrequest.RequestInfo{APIGroup: gvk.Group, APIVersion: gvk.Version, Resource: "manifests"})
	m.SetUID("00000000-0000-0000-0000-000000000000")
	m.SetCreationTimestamp(metav1.Now())
	if s, ok := obj.(*core.Service); ok && s.Spec.ClusterIP != "" {
		s.Spec.ClusterIPs = []string{s.Spec.ClusterIP} // as the store of Services does, which allocates addresses
	}
	strategy.PrepareForCreate(ctx, obj)
	errs := strategy.Validate(ctx, obj)
	for _, w := range strategy.WarningsOnCreate(ctx, obj) {
		errs = append(errs, field.Invalid(nil, "", "warning: "+w))
	}
	return finding{name, errs.ToAggregate()}
}

// decode reads strictly, applies the version's defaults, and converts to the
// internal type that the strategies take.
func decode(doc []byte) (runtime.Object, *schema.GroupVersionKind, error) {
	strict := serializer.NewCodecFactory(legacyscheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
	obj, gvk, err := strict.Decode(doc, nil, nil)
	if err != nil {
		return nil, gvk, err
	}
	legacyscheme.Scheme.Default(obj)
	internal, err := legacyscheme.Scheme.ConvertToVersion(obj, schema.GroupVersion{Group: gvk.Group, Version: runtime.APIVersionInternal})
	return internal, gvk, err
}
