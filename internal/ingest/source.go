package ingest

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/soakgate/soakgate/internal/classify"
)

// Where a deployment's name came from, as records.deployment_source has it.
// hostName identifies a pod rather than an installation, so it is shown but
// does not count as a deployment (D5).
const (
	deploymentID  = "mcp.deployment.id"
	namespaceName = "service.namespace"
	k8sNamespace  = "k8s.namespace.name"
	hostName      = "host.name"
)

// sourceOf reads what a resource declares (docs/emitting.md, resource attributes).
func sourceOf(resource pcommon.Resource) *classify.Source {
	a := resource.Attributes()
	s := &classify.Source{
		ServerVersion:   text(a, "service.version"),
		Instance:        text(a, "service.instance.id"),
		Environment:     text(a, "deployment.environment.name"),
		Option:          declaredSwitch(a, "mcp.normalization.meta"),
		Strict:          declaredSwitch(a, "mcp.strict_unknown_fields"),
		ReplayID:        text(a, "mcp.replay.id"),
		ContractVersion: text(a, "mcp.contract_version"),
	}
	s.Server, s.Family = classify.NameServer(text(a, "service.name"))
	if s.Environment == "" {
		s.Environment = text(a, "deployment.environment")
	}
	s.Environment = strings.ToLower(strings.TrimSpace(s.Environment))
	s.Deployment, s.DeploymentSource = deploymentOf(a)
	return s
}

func deploymentOf(a pcommon.Map) (name, source string) {
	for _, key := range []string{deploymentID, namespaceName} {
		if v := text(a, key); v != "" {
			return v, key
		}
	}
	cluster, namespace := text(a, "k8s.cluster.name"), text(a, k8sNamespace)
	if cluster != "" && namespace != "" {
		return cluster + "/" + namespace, k8sNamespace
	}
	if v := text(a, hostName); v != "" {
		return v, hostName
	}
	return "", ""
}

// declaredSwitch reads a boolean; anything but a boolean is undeclared (D2).
func declaredSwitch(a pcommon.Map, key string) classify.Switch {
	v, ok := a.Get(key)
	switch {
	case !ok || v.Type() != pcommon.ValueTypeBool:
		return classify.SwitchUndeclared
	case v.Bool():
		return classify.SwitchOn
	}
	return classify.SwitchOff
}

// text is an attribute as text, whatever its type, within maxAttributeText; ""
// when absent.
func text(a pcommon.Map, key string) string {
	v, ok := a.Get(key)
	if !ok {
		return ""
	}
	return cut(asText(v))
}

// asText is a value as text in UTF-8, whatever its type.
func asText(v pcommon.Value) string {
	if v.Type() == pcommon.ValueTypeStr {
		return valid(v.Str())
	}
	return v.AsString()
}
