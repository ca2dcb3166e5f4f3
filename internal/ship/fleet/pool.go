package fleet

import (
	"fmt"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"

	"github.com/soakgate/soakgate/internal/ship/payload"
)

// variant is one ready payload. Everything about it is fixed but its time and
// ids, so that it is rendered once however often it is sent.
type variant struct {
	payload.Truth
	body     attribute.Value
	attrs    []attribute.KeyValue
	severity log.Severity
	carrier  string // text, map or none
	// named tells where the event's name stands: in its field, in the older
	// attribute, or nowhere, so that the content must tell.
	named naming
}

type naming int

const (
	namedField naming = iota
	namedAttribute
	unnamed
)

// class is one weighted choice of variants.
type class struct {
	variants []int // indexes into pool.variants
	upTo     []int // cumulative weights
}

func (c *class) add(v, weight int) {
	total := 0
	if n := len(c.upTo); n > 0 {
		total = c.upTo[n-1]
	}
	c.variants, c.upTo = append(c.variants, v), append(c.upTo, total+weight)
}

// pick gives the variant at a point of [0, the sum of weights).
func (c *class) pick(intN func(int) int) int {
	i, _ := slices.BinarySearch(c.upTo, intN(c.upTo[len(c.upTo)-1])+1)
	return c.variants[i]
}

// pool is all that a deployment can send.
type pool struct {
	variants []variant
	on, off  class // of classes, by the state of the option
	classes  []class
	specials map[string]int
	twin     map[string]int // tool → the tool call that repeats a failed call
}

// forms are the ways in which an error travels, used in turn.
type form struct {
	prefix  string
	spacing payload.Spacing
	asMap   bool
	jsonRPC bool
	named   naming
}

var forms = []form{
	{spacing: payload.Compact},
	{asMap: true},
	{spacing: payload.Compact, prefix: "ToolError: "},
	{spacing: payload.Spaced},
	{asMap: true, named: namedAttribute},
	{spacing: payload.Compact, prefix: "RuntimeError: ToolError: "},
	{spacing: payload.Spaced, named: unnamed},
	{spacing: payload.Compact, jsonRPC: true},
	{spacing: payload.Compact, prefix: "Error calling tool 'x': "},
}

// usualBlock is about the normalized bytes of a call with one event.
const usualBlock = 110

// plainForms are those in which the bytes of a block are beyond dispute.
var plainForms = forms[:3]

// newPool renders what a deployment of the server can send.
func newPool(f *Fleet, s *Server, d *Deployment) *pool {
	p := &pool{specials: map[string]int{}, twin: map[string]int{}}
	tools := d.Tools
	if len(tools) == 0 {
		tools = payload.ToolsOf[s.Prefix]
	}
	b := builder{pool: p, fleet: f}
	var call, failed, block, meta, errs, errBlock, opaques, noises class
	for i, tool := range tools {
		call.add(b.call(tool, payload.OutcomeSuccess, "", i), 1)
		failed.add(b.call(tool, payload.OutcomeError, []string{"tool_error", "-32603"}[i%2], i), 1)
		b.blocks(&block, s, d, tool, payload.Fields[i%len(payload.Fields)])
		b.metas(&meta, s, tool, i)
	}
	for i, e := range payload.ErrorsOf(s.Prefix) {
		for j := range 3 {
			tool := tools[(i*3+j)%len(tools)]
			if e.Tool != "" && len(d.Tools) == 0 {
				tool = e.Tool
			}
			errs.add(b.render(payload.Envelope(e, tool), forms[(i+4*j)%len(forms)], e.Surface), e.Weight)
			withBlock := payload.Envelope(e, tool)
			withBlock.Normalize(payload.Block(d.kinds(s, i+j), payload.Fields[i%len(payload.Fields)]))
			errBlock.add(b.render(withBlock, plainForms[(i+j)%len(plainForms)], e.Surface), e.Weight)
		}
	}
	for i, t := range payload.Opaque {
		opaques.add(b.opaque(t, tools[i%len(tools)]), 1)
	}
	for _, n := range payload.Noise {
		noises.add(b.noise(n), 1)
	}
	p.classes = []class{call, failed, block, meta, errs, errBlock, opaques, noises}
	m := d.Mix
	for i, w := range []int{m.Call, m.CallFailed, m.Block, m.Meta, m.Error, m.ErrorBlock, m.Opaque, m.Noise} {
		p.on.add(i, w)
	}
	// Without the option the same calls carry no block (R89).
	for i, w := range []int{m.Call + m.Block, m.CallFailed, 0, m.Meta, m.Error + m.ErrorBlock, 0, m.Opaque, m.Noise} {
		p.off.add(i, w)
	}
	b.specials(s, tools)
	return p
}

// builder puts variants into a pool.
type builder struct {
	pool  *pool
	fleet *Fleet
	n     int // payloads rendered, to vary size and its absence evenly
}

func (b *builder) add(v variant) int {
	b.pool.variants = append(b.pool.variants, v)
	return len(b.pool.variants) - 1
}

// render finishes a payload and gives it its form.
func (b *builder) render(p *payload.Payload, f form, surface string) int {
	if p.Doc != nil {
		p.Settle()
	}
	v := variant{Truth: p.Truth, severity: log.SeverityInfo, carrier: "text", named: f.named}
	if p.Event == payload.EventEnvelope {
		v.severity = log.SeverityError
	}
	size := len(payload.Text(p.Doc, payload.Compact))
	if p.Event == payload.EventMeta && len(p.Doc) == 1 { // the bare block stands for an answer of usual size
		usual := b.fleet.AnswerBytes/2 + b.n%7*b.fleet.AnswerBytes/6
		size = usual * max(1, int(p.NormalizedBytes)/usualBlock) // many events belong to a long answer
	}
	if f.asMap && p.Tail == "" && payload.Mappable(p.Doc) {
		v.body, v.carrier = payload.Structure(p.Doc), "map"
	} else {
		s := f.spacing
		if s == (payload.Spacing{}) {
			s = payload.Compact
		}
		t := p.Tail
		if p.Doc != nil {
			t = payload.Text(p.Doc, s) + p.Tail
		}
		t = f.prefix + t
		if f.jsonRPC {
			t = payload.JSONRPC(t, s)
		}
		v.body = attribute.StringValue(t)
	}
	b.n++
	if b.n*37%1000 >= b.fleet.SizeUnknown && p.Doc != nil {
		v.AnswerBytes = int64(size)
		v.attrs = append(v.attrs, attribute.Int("mcp.response.size", size))
	}
	v.attrs = append(v.attrs, common(p.Tool, surface, b.n)...)
	return b.add(v)
}

// common are the attributes of every record that tells of a call.
func common(tool, surface string, n int) []attribute.KeyValue {
	if surface == "" {
		surface = "direct"
	}
	key := attribute.Key("gen_ai.tool.name")
	if n%5 == 0 {
		key = "mcp.tool.name"
	}
	return []attribute.KeyValue{key.String(tool), attribute.String("mcp.surface", surface)}
}

func (b *builder) call(tool, outcome, errorType string, i int) int {
	size := b.fleet.AnswerBytes/2 + i*500
	v := variant{
		Truth:    payload.Truth{Event: payload.EventCall, Tool: tool, Outcome: outcome, Ours: true, RetryAfter: -1, AnswerBytes: int64(size)},
		severity: log.SeverityInfo, carrier: "none",
		attrs: append(common(tool, "", i), attribute.Int("mcp.response.size", size)),
	}
	if errorType != "" {
		v.severity = log.SeverityError
		v.attrs = append(v.attrs, attribute.String("error.type", errorType))
		twin := v
		twin.Twin = true
		b.pool.twin[tool] = b.add(twin)
	}
	return b.add(v)
}

// kinds are those of one call's events: in turn each kind alone, and a rename
// that also wraps (R87).
func (d *Deployment) kinds(s *Server, i int) []string {
	all := d.combinations(s)
	return all[i%len(all)]
}

func (d *Deployment) combinations(s *Server) [][]string {
	all := [][]string{{payload.KindRenamed}, {payload.KindDropped}, {payload.KindCoerced}, {payload.KindRenamed, payload.KindCoerced}}
	if d.Strict || d.Mixed {
		all = append(all, []string{payload.KindRejected})
	}
	if !d.Strict || d.Mixed {
		all = append(all, []string{payload.KindPassed})
	}
	return slices.DeleteFunc(all, func(ks []string) bool {
		return slices.ContainsFunc(ks, func(k string) bool { return slices.Contains(s.Without, k) })
	})
}

func (b *builder) blocks(c *class, s *Server, d *Deployment, tool, field string) {
	for i := range d.combinations(s) {
		items := 0
		if i%4 == 3 {
			items = 24
		}
		p := payload.MetaAnswer(tool, payload.Block(d.kinds(s, i), field), items)
		c.add(b.render(p, form{asMap: items == 0 && b.n%2 == 0, spacing: payload.Compact}, ""), 1)
	}
}

func (b *builder) metas(c *class, s *Server, tool string, i int) {
	for j, m := range payload.Telemetry(s.Prefix, i) {
		c.add(b.render(payload.MetaAnswer(tool, m, (i+j)%3), form{asMap: (i+j)%2 == 0, spacing: payload.Spaced}, ""), 1)
	}
}

func (b *builder) opaque(t, tool string) int {
	p := &payload.Payload{Tail: t}
	p.Event, p.Tool, p.Outcome = payload.EventEnvelope, tool, payload.OutcomeError
	p.Ours, p.Opaque, p.RetryAfter, p.AnswerBytes = true, true, -1, -1
	return b.render(p, forms[0], "")
}

func (b *builder) noise(n any) int {
	v := variant{Truth: payload.Truth{RetryAfter: -1, AnswerBytes: -1}, severity: log.SeverityInfo, carrier: "text", named: unnamed}
	if o, ok := n.(payload.Object); ok {
		v.body, v.carrier = payload.Structure(o), "map"
	} else {
		v.body = attribute.StringValue(n.(string))
	}
	return b.add(v)
}

// specials renders what injections name.
func (b *builder) specials(s *Server, tools []string) {
	for _, sp := range []struct {
		name  string
		block payload.Object
	}{
		{specialDropped, payload.Block([]string{payload.KindDropped}, "limit")},
		{specialLarge, payload.LongBlock(28)},
		{specialHuge, payload.LongBlock(210)},
	} {
		b.pool.specials[sp.name] = b.render(payload.MetaAnswer(tools[0], sp.block, 0), form{spacing: payload.Compact}, "")
	}
	if s.Prefix == "" {
		return
	}
	for i, br := range payload.Breakages() {
		f := form{spacing: payload.Compact}
		if i%2 == 0 {
			f = form{asMap: true}
		}
		b.pool.specials[br.Name] = b.render(br.Broken(s.Prefix, tools[i%len(tools)]), f, "")
	}
}

// report renders what tells of a server and of no call.
func (b *builder) report(event string, doc payload.Object, attrs ...attribute.KeyValue) int {
	return b.add(variant{
		Truth: payload.Truth{Event: event, Ours: true, RetryAfter: -1, AnswerBytes: -1},
		body:  payload.Structure(doc), carrier: "map", severity: log.SeverityInfo, attrs: attrs,
	})
}

// special finds what an injection names.
func (p *pool) special(name string) (int, error) {
	v, ok := p.specials[name]
	if !ok {
		return 0, fmt.Errorf("inject %q: no such payload", name)
	}
	return v, nil
}
