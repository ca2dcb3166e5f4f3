package ship

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/soakgate/soakgate/internal/ship/fleet"
	"github.com/soakgate/soakgate/internal/ship/payload"
)

// recounter finds rows by their names, as they come.
type recounter struct {
	t              fleet.Tally
	deployments    map[fleet.DeploymentCount]*fleet.DeploymentCount
	calls          map[fleet.CallCount]*fleet.CallCount
	errors         map[fleet.ErrorCount]*fleet.ErrorCount
	legacy         map[fleet.LegacyCount]*fleet.LegacyCount
	normalizations map[fleet.NormalizationCount]*fleet.NormalizationCount
	blocks         map[fleet.BlockCount]*fleet.BlockCount
	warnings       map[fleet.WarningCount]*fleet.WarningCount
	rateLimits     map[fleet.RateLimitCount]*fleet.RateLimitCount
}

func newRecounter() *recounter {
	return &recounter{
		t:              fleet.Tally{Events: map[string]int64{}, Carriers: map[string]int64{}},
		deployments:    map[fleet.DeploymentCount]*fleet.DeploymentCount{},
		calls:          map[fleet.CallCount]*fleet.CallCount{},
		errors:         map[fleet.ErrorCount]*fleet.ErrorCount{},
		legacy:         map[fleet.LegacyCount]*fleet.LegacyCount{},
		normalizations: map[fleet.NormalizationCount]*fleet.NormalizationCount{},
		blocks:         map[fleet.BlockCount]*fleet.BlockCount{},
		warnings:       map[fleet.WarningCount]*fleet.WarningCount{},
		rateLimits:     map[fleet.RateLimitCount]*fleet.RateLimitCount{},
	}
}

func row[R comparable](m map[R]*R, key R) *R {
	if m[key] == nil {
		m[key] = &key
	}
	return m[key]
}

func rows[R comparable](m map[R]*R) []R {
	out := []R{}
	for _, r := range m {
		out = append(out, *r)
	}
	return sorted(out)
}

// sorted orders rows in any one way, for comparison.
func sorted[R any](in []R) []R {
	slices.SortFunc(in, func(a, b R) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return in
}

func (a *recounter) tally() fleet.Tally {
	t := a.t
	t.Deployments, t.Calls, t.Errors, t.Legacy = rows(a.deployments), rows(a.calls), rows(a.errors), rows(a.legacy)
	t.Normalizations, t.Blocks = rows(a.normalizations), rows(a.blocks)
	t.Warnings, t.RateLimits = rows(a.warnings), rows(a.rateLimits)
	return t
}

// recount counts what arrived from the wire alone, by other means than the
// fleet's: it reads JSON with encoding/json and knows no variants. It cannot
// judge, so it fills in everything of a Tally but findings and validity.
func recount(taken []plog.Logs) fleet.Tally {
	a := newRecounter()
	calls := map[string]bool{}
	for _, l := range taken {
		for _, rl := range l.ResourceLogs().All() {
			for _, sl := range rl.ScopeLogs().All() {
				for _, lr := range sl.LogRecords().All() {
					recountRecord(a, calls, rl.Resource().Attributes(), lr)
				}
			}
		}
	}
	return a.tally()
}

func attr(m pcommon.Map, keys ...string) string {
	for _, k := range keys {
		if v, ok := m.Get(k); ok {
			return v.AsString()
		}
	}
	return ""
}

func recountRecord(a *recounter, calls map[string]bool, res pcommon.Map, lr plog.LogRecord) {
	server, deployment := attr(res, "service.name"), attr(res, "mcp.deployment.id")
	d := row(a.deployments, fleet.DeploymentCount{
		Server: server, Version: attr(res, "service.version"), Deployment: deployment, Environment: attr(res, "deployment.environment.name"),
		Option: attr(res, "mcp.normalization.meta") == "true", Replayed: attr(res, "mcp.replay.id") != "",
	})
	d.Records++
	a.t.Records++
	event := lr.EventName()
	if event == "" {
		event = attr(lr.Attributes(), "event.name")
	}
	a.t.Events[event]++

	raw, carrier := bodyText(lr.Body())
	doc := extract(raw)
	_, isEnvelope := doc["_envelope_version"]
	if _, ok := doc["error_kind"]; ok && doc["error_code"] != nil {
		isEnvelope = true
	}
	if event == "" && !isEnvelope {
		a.t.Ignored++
		return
	}
	a.t.Carriers[carrier]++
	outcome := payload.OutcomeSuccess
	if isEnvelope || event == payload.EventEnvelope || attr(lr.Attributes(), "error.type") != "" {
		outcome = payload.OutcomeError
	}
	if event != payload.EventCapabilities && event != payload.EventConformance {
		id := lr.TraceID().String() + attr(lr.Attributes(), "mcp.session.id") + attr(lr.Attributes(), "jsonrpc.request.id")
		if calls[id] {
			a.t.Twins++
		} else {
			d.Calls++
			row(a.calls, fleet.CallCount{Server: server, Tool: attr(lr.Attributes(), "gen_ai.tool.name", "mcp.tool.name"), Outcome: outcome}).Calls++
		}
		calls[id] = true
	}
	if doc == nil && event == payload.EventEnvelope && !bytes.Contains(raw, []byte("error_kind\"")) {
		a.t.Opaque++
	}
	text := func(key string) string { s, _ := doc[key].(string); return s }
	if isEnvelope {
		row(a.errors, fleet.ErrorCount{Server: server, Kind: text("error_kind"), Code: text("error_code")}).Records++
		if k := text("legacy_error_kind"); k != "" {
			row(a.legacy, fleet.LegacyCount{Server: server, Version: attr(res, "service.version"), Kind: k}).Records++
		}
	}
	meta, _ := doc["_meta"].(map[string]any)
	recountMeta(a, server, deployment, meta, lr.Attributes())
}

func recountMeta(a *recounter, server, deployment string, meta map[string]any, attrs pcommon.Map) {
	if v, ok := meta["normalized"]; ok {
		b := row(a.blocks, fleet.BlockCount{Server: server, Deployment: deployment})
		member, _ := json.Marshal(map[string]any{"normalized": v})
		size := int64(len(member) - 2) // without the braces
		b.Blocks++
		b.Bytes += size
		b.Largest = max(b.Largest, size)
		if n, ok := attrs.Get("mcp.response.size"); ok {
			b.Sized, b.SizedBytes, b.AnswerBytes = b.Sized+1, b.SizedBytes+size, b.AnswerBytes+n.Int()
		}
	}
	var seen []string
	for _, k := range rowKinds(meta["normalized"]) {
		r := row(a.normalizations, fleet.NormalizationCount{Server: server, Deployment: deployment, Kind: k})
		r.Events++
		if !slices.Contains(seen, k) {
			r.Calls++
		}
		seen = append(seen, k)
	}
	for _, k := range rowKinds(meta["warnings"]) {
		row(a.warnings, fleet.WarningCount{Server: server, Kind: k}).Warnings++
	}
	limits, _ := meta["rate_limit"].(map[string]any)
	usable, textual, zero := false, false, false
	for k, v := range limits {
		_, isText := v.(string)
		n, isNumber := v.(json.Number)
		usable = usable || isText || isNumber
		textual = textual || isText && k != "reset_at"
		zero = zero || isNumber && k == "remaining" && strings.Trim(n.String(), "0.") == ""
	}
	retry, isRetry := meta["retry_after_seconds"].(json.Number)
	seconds, err := retry.Float64()
	isRetry = isRetry && err == nil && seconds >= 0
	if !usable && !isRetry {
		return
	}
	r := row(a.rateLimits, fleet.RateLimitCount{Server: server})
	for _, c := range []struct {
		on bool
		n  *int64
	}{{usable, &r.RateLimits}, {textual, &r.Textual}, {zero, &r.AtZero}, {isRetry, &r.RetryAfters}} {
		if c.on {
			*c.n++
		}
	}
	if isRetry {
		r.RetryAfterSum += seconds
		r.RetryAfterMost = max(r.RetryAfterMost, seconds)
	}
}

func rowKinds(v any) (out []string) {
	list, _ := v.([]any)
	for _, e := range list {
		o, _ := e.(map[string]any)
		if k, ok := o["kind"].(string); ok {
			out = append(out, k)
		}
	}
	return out
}

// bodyText is the body as JSON or text, and what it was.
func bodyText(v pcommon.Value) ([]byte, string) {
	switch v.Type() {
	case pcommon.ValueTypeEmpty:
		return nil, "none"
	case pcommon.ValueTypeMap:
		b, _ := json.Marshal(v.Map().AsRaw())
		return b, "map"
	}
	return []byte(v.Str()), "text"
}

// extract finds the envelope or answer in a text: the first object that parses
// from any brace on, unwrapped when it is a JSON-RPC answer.
func extract(raw []byte) map[string]any {
	if i := bytes.IndexByte(raw, '{'); i >= 0 && (len(raw) == 0 || raw[0] != '[') {
		d := json.NewDecoder(bytes.NewReader(raw[i:]))
		d.UseNumber()
		var o map[string]any
		if err := d.Decode(&o); err != nil && err != io.EOF {
			return nil
		}
		if result, ok := o["result"].(map[string]any); ok {
			content := result["content"].([]any)[0].(map[string]any)
			return extract([]byte(content["text"].(string)))
		}
		return o
	}
	return nil
}

// unjudged is the tally less all that takes a judge to know, in the order of
// sorted.
func unjudged(t fleet.Tally) fleet.Tally {
	t.Shapes, t.Violations, t.Advisories = nil, nil, nil
	errors := map[fleet.ErrorCount]*fleet.ErrorCount{}
	for _, e := range t.Errors {
		row(errors, fleet.ErrorCount{Server: e.Server, Kind: e.Kind, Code: e.Code}).Records += e.Records
	}
	t.Errors = rows(errors)
	t.Blocks = slices.Clone(t.Blocks)
	for i := range t.Blocks {
		t.Blocks[i].Malformed = 0
	}
	t.Blocks, t.Deployments, t.Calls, t.Legacy = sorted(t.Blocks), sorted(t.Deployments), sorted(t.Calls), sorted(t.Legacy)
	t.Normalizations, t.Warnings, t.RateLimits = sorted(t.Normalizations), sorted(t.Warnings), sorted(t.RateLimits)
	return t
}
