// Package gen makes OTLP log requests that carry MCP error envelopes and
// _meta success events. The same Options always give the same bytes.
package gen

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"google.golang.org/protobuf/encoding/protowire"
)

// Schema is the JSON Schema that every valid error envelope passes.
//
//go:embed envelope.schema.json
var Schema []byte

// Options says what to generate.
type Options struct {
	Seed       uint64
	Payloads   int     // distinct requests
	Batch      int     // log records in each
	Success    float64 // share of _meta success events
	Normalized float64 // share of all records with _meta.normalized
	RateLimit  float64 // ... with _meta.rate_limit
	Warnings   float64 // ... with _meta.warnings
	Invalid    float64 // share of records that break the contract
	Structured bool    // body as a kvlist map, not a JSON string
}

// Defaults are the benchmark's options: of a hundred calls that tell something,
// seventy succeed with telemetry and thirty fail.
func Defaults() Options {
	return Options{Seed: 1, Payloads: 64, Batch: 512, Success: 0.7, Normalized: 0.3, RateLimit: 0.2, Warnings: 0.05, Invalid: 0.01}
}

// Counts tells what a request (or many) holds. Normalized, RateLimit and
// Warnings count valid records only.
type Counts struct {
	Records    int64 `json:"records"`
	Errors     int64 `json:"errors"`  // valid error envelopes
	Success    int64 `json:"success"` // valid success events
	Invalid    int64 `json:"invalid"`
	Normalized int64 `json:"with_normalized"`
	RateLimit  int64 `json:"with_rate_limit"`
	Warnings   int64 `json:"with_warnings"`
	BodyBytes  int64 `json:"body_bytes"`
	WireBytes  int64 `json:"wire_bytes"`
}

// Add adds o, n times.
func (c *Counts) Add(o Counts, n int64) {
	c.Records += n * o.Records
	c.Errors += n * o.Errors
	c.Success += n * o.Success
	c.Invalid += n * o.Invalid
	c.Normalized += n * o.Normalized
	c.RateLimit += n * o.RateLimit
	c.Warnings += n * o.Warnings
	c.BodyBytes += n * o.BodyBytes
	c.WireBytes += n * o.WireBytes
}

// Payload is one marshalled request.
type Payload struct {
	Wire   []byte
	Counts Counts
	Bodies [][]byte // the JSON of each record
	stamps []stamp
}

// stamp has the offsets of a record's time, trace id and span id in Wire.
type stamp struct{ time, trace, span int }

// Stamp gives each record in wire, a copy of p.Wire, the time now and ids that
// no other (request number, record) pair has.
func (p *Payload) Stamp(wire []byte, request uint64, now time.Time) {
	t := uint64(now.UnixNano())
	for i, s := range p.stamps {
		id := mix(request<<20 | uint64(i))
		binary.LittleEndian.PutUint64(wire[s.time:], t+uint64(i)*1000)
		binary.LittleEndian.PutUint64(wire[s.trace:], id)
		binary.LittleEndian.PutUint64(wire[s.trace+8:], mix(id))
		binary.LittleEndian.PutUint64(wire[s.span:], id^0x5555555555555555)
	}
}

// mix is a bijection (the splitmix64 finaliser), so ids are unique.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

type detail struct {
	Path         string `json:"path"`
	Issue        string `json:"issue"`
	ReceivedType string `json:"received_type"`
}

type envelope struct {
	ErrorKind  string           `json:"error_kind"`
	LegacyKind string           `json:"legacy_error_kind,omitempty"`
	Tool       string           `json:"tool"`
	Summary    string           `json:"summary"`
	Details    []detail         `json:"details"`
	Hints      []string         `json:"hints"`
	Examples   []map[string]any `json:"examples"`
	ErrorCode  string           `json:"error_code"`
	Retryable  bool             `json:"retryable"`
	Version    int              `json:"_envelope_version"`
	Meta       *meta            `json:"_meta,omitempty"`
}

type success struct {
	Tool string `json:"tool"`
	Meta *meta  `json:"_meta"`
}

type meta struct {
	Normalized []any      `json:"normalized,omitempty"`
	RateLimit  *rateLimit `json:"rate_limit,omitempty"`
	RetryAfter float64    `json:"retry_after_seconds,omitempty"`
	Warnings   []warning  `json:"warnings,omitempty"`
}

type rateLimit struct {
	LimitPerSecond any    `json:"limit_per_second,omitempty"`
	Remaining      any    `json:"remaining,omitempty"`
	ResetAt        string `json:"reset_at,omitempty"`
}

type warning struct {
	Kind    string   `json:"kind"`
	Summary string   `json:"summary"`
	Details []string `json:"details"`
	Hints   []string `json:"hints"`
}

type renamed struct {
	Kind   string `json:"kind"`
	From   string `json:"from"`
	To     string `json:"to"`
	Reason string `json:"reason"`
}

type droppedAlias struct {
	Kind      string `json:"kind"`
	From      string `json:"from"`
	Canonical string `json:"canonical"`
}

type coerced struct {
	Kind     string `json:"kind"`
	Field    string `json:"field"`
	FromType string `json:"from_type"`
	ToType   string `json:"to_type"`
}

type unknownField struct {
	Kind  string `json:"kind"`
	Field string `json:"field"`
}

var (
	fields = []string{"marketplaceIds", "orderStatuses", "createdAfter", "nextToken", "granularityType", "reportTypes",
		"campaignIdFilter", "stateFilter", "maxResults", "profileId", "startDate", "includedData"}
	resources = []string{"orders", "order_items", "inventory_summaries", "catalog_items", "listings", "reports", "feeds", "pricing",
		"fees", "shipments", "campaigns", "ad_groups", "keywords", "targets", "budgets", "portfolios", "creatives", "exports", "profiles", "brand_metrics"}
	schemaCodes = []struct{ code, issue string }{
		{"SCHEMA_TYPE_MISMATCH", "Expected an array of strings but a single string was given"},
		{"SCHEMA_REQUIRED", "A required property is missing from the request"},
		{"SCHEMA_ADDITIONAL_PROPERTIES", "Additional properties are not allowed for this operation"},
		{"SCHEMA_ENUM_MISMATCH", "The value is not one of the values that the operation accepts"},
		{"SCHEMA_FORMAT_INVALID", "The value is not a valid ISO-8601 date-time"},
		{"SCHEMA_MAX_ITEMS", "The array holds more items than the limit of 50"},
		{"INPUT_VALIDATION_FAILED", "Input should be a valid integer, unable to parse string as an integer"},
	}
	types = []string{"string", "int", "null", "list", "dict", "missing"}
)

// kindsOf gives each server's kinds with weights that add up to 100.
var kindsOf = map[string][]struct {
	kind   string
	weight int
}{
	"amazon_sp_mcp": {{"mcp_input_validation", 38}, {"sp_api_http", 24}, {"rate_limited", 11}, {"auth_error", 8}, {"tool_not_found", 7},
		{"sp_api_client", 6}, {"internal_error", 4}, {"sandbox_runtime", 2}},
	"amazon_ads_mcp": {{"mcp_input_validation", 40}, {"ads_api_http", 28}, {"rate_limited", 11}, {"auth_error", 9}, {"tool_not_found", 7},
		{"internal_error", 3}, {"sandbox_runtime", 2}},
}

// Generate makes the payloads. Even ones are from amazon_sp_mcp, odd ones from
// amazon_ads_mcp.
func Generate(o Options) ([]*Payload, error) {
	out := make([]*Payload, o.Payloads)
	for i := range out {
		p, err := generate(o, i)
		if err != nil {
			return nil, err
		}
		out[i] = p
	}
	return out, nil
}

func generate(o Options, n int) (*Payload, error) {
	g := &generator{o: o, r: rand.New(rand.NewPCG(o.Seed, uint64(n)))}
	g.service, g.prefix = "amazon_sp_mcp", "sp"
	if n%2 == 1 {
		g.service, g.prefix = "amazon_ads_mcp", "ads"
	}
	logs := plog.NewLogs()
	rl := logs.ResourceLogs().AppendEmpty()
	ra := rl.Resource().Attributes()
	ra.PutStr("service.name", g.service)
	ra.PutStr("service.version", "1.12.0")
	ra.PutStr("service.instance.id", fmt.Sprintf("%s-%d", g.prefix, n%8))
	ra.PutStr("deployment.environment.name", "production")
	ra.PutStr("mcp.deployment.id", g.prefix+"-eu")
	ra.PutBool("mcp.normalization.meta", true)
	sl := rl.ScopeLogs().AppendEmpty()
	sl.Scope().SetName("openbridge.mcp.envelope")
	sl.Scope().SetVersion("1")
	p := &Payload{}
	base := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range o.Batch {
		lr := sl.LogRecords().AppendEmpty()
		lr.SetTimestamp(pcommon.NewTimestampFromTime(base))
		lr.SetObservedTimestamp(pcommon.NewTimestampFromTime(base))
		lr.SetTraceID(pcommon.TraceID{1, byte(i)})
		lr.SetSpanID(pcommon.SpanID{1, byte(i)})
		if err := g.record(lr, p); err != nil {
			return nil, err
		}
	}
	wire, err := plogotlp.NewExportRequestFromLogs(logs).MarshalProto()
	if err != nil {
		return nil, err
	}
	p.Wire = wire
	p.Counts.WireBytes = int64(len(wire))
	if err := p.findStamps(); err != nil {
		return nil, err
	}
	if len(p.stamps) != o.Batch {
		return nil, fmt.Errorf("found %d of %d records in the wire bytes", len(p.stamps), o.Batch)
	}
	return p, nil
}

// findStamps walks the wire bytes: resource_logs (1), scope_logs (2), log_records (2).
func (p *Payload) findStamps() error {
	path := []protowire.Number{1, 2, 2}
	var walk func(lo, hi, depth int) error
	walk = func(lo, hi, depth int) error {
		s := stamp{-1, -1, -1}
		for at := lo; at < hi; {
			num, typ, n := protowire.ConsumeTag(p.Wire[at:hi])
			if n < 0 {
				return protowire.ParseError(n)
			}
			at += n
			size := protowire.ConsumeFieldValue(num, typ, p.Wire[at:hi])
			if size < 0 {
				return protowire.ParseError(size)
			}
			start := at
			if typ == protowire.BytesType {
				v, _ := protowire.ConsumeBytes(p.Wire[at:hi])
				start = at + size - len(v)
			}
			at += size
			switch {
			case depth < len(path):
				if num == path[depth] && typ == protowire.BytesType {
					if err := walk(start, at, depth+1); err != nil {
						return err
					}
				}
			case num == 1:
				s.time = start
			case num == 9:
				s.trace = start
			case num == 10:
				s.span = start
			}
		}
		if depth == len(path) {
			if s.time < 0 || s.trace < 0 || s.span < 0 {
				return fmt.Errorf("a record lacks its time or ids")
			}
			p.stamps = append(p.stamps, s)
		}
		return nil
	}
	return walk(0, len(p.Wire), 0)
}

type generator struct {
	o               Options
	r               *rand.Rand
	service, prefix string
}

func pick[T any](g *generator, s []T) T { return s[g.r.IntN(len(s))] }

func (g *generator) record(lr plog.LogRecord, p *Payload) error {
	// 20 resources and 2 verbs for each server, of which 20 pairs are used: 40 tools in all.
	ti := g.r.IntN(20)
	tool := fmt.Sprintf("%s_%s_%s", g.prefix, []string{"get", "list"}[ti%2], resources[ti])
	isSuccess := g.r.Float64() < g.o.Success
	kind := ""
	if !isSuccess {
		w := g.r.IntN(100)
		for _, k := range kindsOf[g.service] {
			if kind = k.kind; w < k.weight {
				break
			}
			w -= k.weight
		}
	}
	m := g.meta(isSuccess, kind)
	var v any
	var env *envelope
	if isSuccess {
		v = &success{tool, m}
		lr.SetSeverityNumber(plog.SeverityNumberInfo)
		lr.SetSeverityText("INFO")
		lr.SetEventName("mcp.response_meta")
	} else {
		env = g.envelope(kind, tool)
		env.Meta = m
		v = env
		lr.SetSeverityNumber(plog.SeverityNumberError)
		lr.SetSeverityText("ERROR")
		lr.SetEventName("mcp.error_envelope")
	}
	lr.Attributes().PutStr("mcp.tool.name", tool)
	lr.Attributes().PutStr("mcp.session.id", fmt.Sprintf("%016x", g.r.Uint64N(5000)))

	body, err := marshal(v)
	if err != nil {
		return err
	}
	invalid := g.r.Float64() < g.o.Invalid
	if invalid {
		body = g.spoil(body, env)
	}
	p.Bodies = append(p.Bodies, body)
	c := &p.Counts
	c.Records++
	c.BodyBytes += int64(len(body))
	switch {
	case invalid:
		c.Invalid++
	case isSuccess:
		c.Success++
	default:
		c.Errors++
	}
	if m != nil && !invalid {
		if m.Normalized != nil {
			c.Normalized++
		}
		if m.RateLimit != nil {
			c.RateLimit++
		}
		if m.Warnings != nil {
			c.Warnings++
		}
	}
	if g.o.Structured {
		if raw, ok := decode(body); ok {
			return lr.Body().SetEmptyMap().FromRaw(raw)
		}
	}
	lr.Body().SetStr(string(body))
	return nil
}

func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// decode parses a JSON object with integers kept apart from floats.
func decode(body []byte) (map[string]any, bool) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var m map[string]any
	if d.Decode(&m) != nil || m == nil {
		return nil, false
	}
	return numbers(m).(map[string]any), true
}

func numbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = numbers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		f, _ := v.Float64()
		return f
	}
	return v
}

// meta draws the optional telemetry. A success event has at least one part, a
// rate_limited error always has rate_limit; the shares over all records come
// out as the options say (as long as rate_limited errors alone do not exceed
// the rate_limit share).
func (g *generator) meta(isSuccess bool, kind string) *meta {
	o := g.o
	any1 := 1 - (1-o.Normalized)*(1-o.RateLimit)*(1-o.Warnings)
	p := func(share float64) float64 {
		if o.Success >= 1 || any1 == 0 {
			return share
		}
		return max(0, share-o.Success*share/any1) / (1 - o.Success)
	}
	var m meta
	for {
		var n, r, w bool
		if isSuccess {
			n, r, w = g.r.Float64() < o.Normalized, g.r.Float64() < o.RateLimit, g.r.Float64() < o.Warnings
			if !n && !r && !w && any1 > 0 {
				continue
			}
		} else {
			n, w = g.r.Float64() < p(o.Normalized), g.r.Float64() < p(o.Warnings)
			r = kind == "rate_limited" && o.RateLimit > 0 // about 11% of errors
		}
		if n {
			for range 1 + g.r.IntN(3) {
				m.Normalized = append(m.Normalized, g.normalized())
			}
		}
		if r {
			m.RateLimit = &rateLimit{LimitPerSecond: pick(g, []any{0.0167, 0.5, 2.0, "burst"}), Remaining: g.r.IntN(30),
				ResetAt: fmt.Sprintf("2026-04-25T%02d:%02d:%02dZ", g.r.IntN(24), g.r.IntN(60), g.r.IntN(60))}
		}
		if kind == "rate_limited" {
			m.RetryAfter = float64(1+g.r.IntN(600)) / 10
		}
		if w {
			m.Warnings = []warning{{pick(g, []string{"upstream_warning", "cached_or_stale_data", "partial_results"}),
				"199 - 'cached response'", []string{}, []string{"Repeat the call later for fresh data."}}}
		}
		break
	}
	if m.Normalized == nil && m.RateLimit == nil && m.Warnings == nil && m.RetryAfter == 0 {
		return nil
	}
	return &m
}

func (g *generator) normalized() any {
	f := pick(g, fields)
	pascal := string(f[0]-'a'+'A') + f[1:]
	switch g.r.IntN(10) {
	case 0, 1, 2, 3, 4:
		return renamed{"renamed", pascal, f, "schema_canonical_key"}
	case 5:
		return droppedAlias{"dropped_alias", pascal, f}
	case 6, 7:
		return coerced{"coerced", f, "string", "array"}
	case 8:
		return unknownField{"unknown_field_passed_through", f + "Extra"}
	}
	return unknownField{"unknown_field_rejected", f + "Extra"}
}

func (g *generator) envelope(kind, tool string) *envelope {
	e := &envelope{ErrorKind: kind, Tool: tool, Details: []detail{}, Hints: []string{}, Examples: []map[string]any{}, Version: 1}
	f := pick(g, fields)
	upstream := map[string]string{"sp": "SP_API_HTTP_", "ads": "ADS_API_HTTP_"}[g.prefix]
	reqID := fmt.Sprintf("%08x-%04x-%04x-%012x", g.r.Uint32(), g.r.IntN(1<<16), g.r.IntN(1<<16), g.r.Uint64N(1<<48))
	switch kind {
	case "mcp_input_validation":
		c := pick(g, schemaCodes)
		e.ErrorCode = c.code
		e.Summary = fmt.Sprintf("Input validation failed for %s: %d issue(s) were found before any upstream call was made.", tool, 1)
		for range 1 + g.r.IntN(2) {
			e.Details = append(e.Details, detail{fmt.Sprintf("filters.%d.%s", g.r.IntN(4), pick(g, fields)), c.issue, pick(g, types)})
		}
		e.Hints = append(e.Hints, fmt.Sprintf("Use %s instead of %s for this v2 endpoint.", f, string(f[0]-'a'+'A')+f[1:]),
			fmt.Sprintf("Did you mean %s? Got %s.", f, f[:len(f)-1]))
		e.Examples = append(e.Examples, map[string]any{f: []string{"ATVPDKIKX0DER"}, "maxResults": 50})
	case "sp_api_http", "ads_api_http":
		status := pick(g, []int{400, 400, 400, 404, 404, 409, 422, 500, 502, 503})
		e.ErrorCode = fmt.Sprintf("%s%d", upstream, status)
		e.Retryable = status >= 500
		e.Summary = fmt.Sprintf("The upstream API answered HTTP %d to %s (request id %s).", status, tool, reqID)
		e.Details = append(e.Details, detail{"body." + f, "Upstream said: the value of this parameter is not valid for the marketplace that was asked for", pick(g, types)},
			detail{"http.status", fmt.Sprintf("HTTP %d", status), "int"})
		e.Hints = append(e.Hints, "Check the parameter against the operation's reference before trying again.",
			fmt.Sprintf("Required: %s. See schema.", f))
	case "rate_limited":
		e.ErrorCode, e.Retryable = "RATE_LIMITED", true
		e.Summary = fmt.Sprintf("The upstream API limited the rate of %s (request id %s).", tool, reqID)
		e.Details = append(e.Details, detail{"http.status", "HTTP 429 Too Many Requests", "int"})
		e.Hints = append(e.Hints, "Wait for _meta.retry_after_seconds before the next call.", "Ask for fewer pages or a narrower date range.")
		if g.r.IntN(5) == 0 {
			e.LegacyKind = g.prefix + "_api_http"
		}
	case "auth_error":
		e.ErrorCode = upstream + pick(g, []string{"401", "403", "403"})
		if g.r.IntN(4) == 0 {
			e.ErrorCode = "AUTHENTICATION_ERROR"
		}
		e.Summary = fmt.Sprintf("The credentials of the active identity were refused for %s (request id %s).", tool, reqID)
		e.Details = append(e.Details, detail{"identity", "The access token is expired or lacks the role that this operation needs", "string"})
		e.Hints = append(e.Hints, "Re-authorize the active identity if expired.", "Call set_active_identity with an identity that holds the role.")
	case "tool_not_found":
		e.ErrorCode = "TOOL_NOT_FOUND"
		e.Tool = tool + "s"
		e.Summary = fmt.Sprintf("No tool is registered under the name %ss on this server.", tool)
		e.Details = append(e.Details, detail{"tool", "Unknown tool name; search the catalog and use a name that it lists", "string"})
		e.Hints = append(e.Hints, fmt.Sprintf("Did you mean %s? Got %ss.", tool, tool), "Call search_tools to list the catalog.")
	case "sp_api_client":
		e.ErrorCode = pick(g, []string{"TOOL_EXECUTION_FAILED", "BODY_COERCION_INVALID_JSON"})
		e.Summary = fmt.Sprintf("%s failed before the upstream call: the body could not be prepared.", tool)
		e.Details = append(e.Details, detail{"body", "Expecting ',' delimiter: line 1 column 118 (char 117)", "string"})
		e.Hints = append(e.Hints, "Pass the body as an object, not as a JSON string.", fmt.Sprintf("Required: %s. See schema.", f))
	case "sandbox_runtime":
		e.ErrorCode = "CODE_MODE_SANDBOX_LIMITATION"
		e.Summary = "The Code Mode sandbox does not support this operation: the module is blocked."
		e.Details = append(e.Details, detail{"code", "ModuleNotFoundError: No module named 'urllib' in the sandbox", "string"})
		e.Hints = append(e.Hints, "Use call_tool for upstream requests; the sandbox has no network modules.")
	case "internal_error":
		e.ErrorCode = "INTERNAL_ERROR"
		e.Summary = fmt.Sprintf("The server failed while it ran %s (incident %s).", tool, reqID)
		e.Details = append(e.Details, detail{"server", "KeyError: 'payload' in the response mapping of the tool", "null"})
		e.Hints = append(e.Hints, "Report the incident id; the same input will fail again until the server is fixed.")
	}
	return e
}

// spoil breaks a body in one of six ways; a success event is always cut short.
func (g *generator) spoil(body []byte, e *envelope) []byte {
	how := g.r.IntN(6)
	if e == nil || how == 0 {
		return body[:len(body)-1-g.r.IntN(20)]
	}
	m, _ := decode(body)
	switch how {
	case 1:
		m["error_kind"] = "weird_failure"
	case 2:
		delete(m, "error_code")
	case 3:
		m["retryable"] = "no"
	case 4:
		m["_envelope_version"] = "one"
	case 5:
		m["details"] = []any{"a string, not an object"}
	}
	b, _ := marshal(m)
	return b
}
