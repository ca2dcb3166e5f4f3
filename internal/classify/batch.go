package classify

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"reflect"
	"time"

	"github.com/zeebo/xxh3"
)

// Batch turns the observations of one request into records. It keeps what a
// request needs: its arrival, the ordinals of equal records, and scratch space
// that the next request reuses. Not safe for concurrent use.
type Batch struct {
	classifier *Classifier
	received   time.Time
	nonce      [16]byte
	serial     uint64
	ordinals   map[ID]uint32
	record     Record
	kept       []object // of this observation
	scratch    []byte
}

// NewBatch makes a batch that judges with c.
func NewBatch(c *Classifier) *Batch {
	return &Batch{classifier: c, ordinals: make(map[ID]uint32, 512)}
}

// Reset begins the next request, which arrived at received. The nonce is unique
// to the request; records that carry no time of their own are told apart by it.
func (b *Batch) Reset(received time.Time, nonce [16]byte) {
	b.received, b.nonce, b.serial = received.UTC(), nonce, 0
	clear(b.ordinals)
}

// Classify judges an observation and hands each record it makes to keep: one,
// or several where a span holds several distinct objects. The record and all
// it points to are valid until keep returns. Nothing is kept, and false
// returned, when nobody named the observation and its content is not ours.
func (b *Batch) Classify(o *Observation, keep func(*Record)) bool {
	r := &b.record
	kept, fallback := 0, -1
	clear(b.kept)
	b.kept = b.kept[:0]
	for i := range o.Candidates {
		c := &o.Candidates[i]
		b.judge(o, c)
		switch {
		case r.Recognized && (len(o.Candidates) == 1 || b.isNew(r.Object)):
		case !r.Recognized && fallback < 0 && (r.Opaque || len(r.Violations) > 0):
			fallback = i
			continue
		default:
			continue
		}
		kept++
		b.finish(keep)
	}
	if kept > 0 {
		return true
	}
	switch {
	case fallback >= 0:
		b.judge(o, &o.Candidates[fallback])
	case o.Call || o.Event != EventUnnamed:
		if len(o.Candidates) > 0 {
			b.judge(o, &o.Candidates[0])
		} else {
			b.judge(o, nil)
		}
	default:
		return false
	}
	b.finish(keep)
	return true
}

// object is an object that was kept; what it says is decoded once another one
// has to be told apart from it.
type object struct {
	text []byte
	said any
}

// isNew tells whether no earlier object of the observation says the same, and
// keeps it. Spaces and the order of members tell no two objects apart.
func (b *Batch) isNew(text []byte) bool {
	for _, k := range b.kept {
		if bytes.Equal(k.text, text) {
			return false
		}
	}
	is := object{text: bytes.Clone(text)}
	if len(b.kept) > 0 {
		is.decode()
	}
	for i := range b.kept {
		b.kept[i].decode()
		if reflect.DeepEqual(b.kept[i].said, is.said) {
			return false
		}
	}
	b.kept = append(b.kept, is)
	return true
}

func (o *object) decode() {
	if o.said != nil {
		return
	}
	d := json.NewDecoder(bytes.NewReader(o.text))
	d.UseNumber()
	if d.Decode(&o.said) != nil {
		o.said = string(o.text)
	}
}

// judge fills the record with the observation and the judgement of one of its
// candidates; a nil candidate is a call of which only attributes tell.
func (b *Batch) judge(o *Observation, c *Candidate) {
	r := &b.record
	r.Observation = o
	if c == nil {
		carrier := CarrierLogRecord
		if o.Event == EventUnnamed {
			carrier = CarrierSpan
		}
		r.Carrier, r.Payload = carrier, nil
		r.Judgement = Judgement{Shape: ShapeUnknown, Family: o.Source.Family}
		return
	}
	r.Carrier, r.Payload = c.Carrier, c.Text
	b.classifier.JudgeInto(&r.Judgement, Payload{Text: c.Text, Family: o.Source.Family, ToolError: c.ToolError, Event: o.Event})
}

func (b *Batch) finish(keep func(*Record)) {
	r := &b.record
	r.ReceivedAt = b.received
	r.eventTime()
	r.ID = b.identify(r)
	r.CallKey, r.CallAlias = b.callKeys(r)
	if !r.CallKey.Set && r.IsCall() {
		r.advise(RuleNoCallKey, "send the trace context, or mcp.session.id with jsonrpc.request.id, so that other records of this call can be joined")
	}
	if r.AttributesCut {
		r.advise(RuleAttributesCut, "the record has more attributes, or longer ones, than are kept beside the payload")
	}
	keep(r)
}

// identify computes the record's id (docs/architecture.md, record identity): a
// hash of what the sender fixed and of the ordinal among equal records of the
// request. A retry repeats the whole request, so the ordinal is stable.
//
// The second half of the hash, by which ClickHouse sorts a UUID, gives way to
// the millisecond at which the record was sent. Rows then lie in their table as
// they came: ClickHouse needs 15 CPU s a million in place of 25, and an id
// compresses to 8 bytes. Of the hash 64 bits are left to tell apart what one
// millisecond brings, and two of a thousand records are taken for one in 4e13
// such milliseconds.
func (b *Batch) identify(r *Record) ID {
	s := r.Source
	k := keyer(b.scratch[:0])
	k.text(s.Server, s.Deployment, s.Instance)
	k = append(append(k, r.TraceID[:]...), r.SpanID[:]...)
	sent := r.TimeUnixNano
	if sent == 0 {
		sent = r.ObservedTimeUnixNano
	}
	k.number(sent)
	k.text(string(r.Carrier), string(r.Event), r.Observation.Tool, r.SessionID, r.RequestID)
	k.number(uint64(len(r.Payload)))
	k = append(k, r.Payload...)
	if sent == 0 {
		k = append(k, b.nonce[:]...)
		k.number(b.serial)
		b.serial++
	}
	id := ID(xxh3.Hash128(k).Bytes())
	different := len(b.ordinals)
	b.ordinals[id]++
	if len(b.ordinals) == different {
		k.number(uint64(b.ordinals[id] - 1))
		id = ID(xxh3.Hash128(k).Bytes())
	}
	if sent != 0 {
		binary.BigEndian.PutUint64(id[8:], sent/uint64(time.Millisecond))
	}
	b.scratch = k
	return id
}

// callKeys join records that tell of the same call: by the span they belong to,
// else by session and request id. The alias is another key that records of the
// call may have: that of a span within the call, else of session and request id.
func (b *Batch) callKeys(r *Record) (key, alias Optional[uint64]) {
	span := r.CallSpanID
	if span == [8]byte{} {
		span = r.SpanID
	}
	bySpan := span != [8]byte{} && r.TraceID != [16]byte{}
	if bySpan {
		key = b.spanKey(r, span)
	}
	switch {
	case bySpan && span != r.SpanID && r.SpanID != [8]byte{}:
		alias = b.spanKey(r, r.SpanID)
	case r.SessionID != "" && r.RequestID != "":
		k := keyer(b.scratch[:0])
		k.text(r.Source.Server, r.Source.Deployment, r.SessionID, r.RequestID)
		b.scratch = k
		alias = Some(xxh3.Hash(k))
	}
	if !bySpan {
		return alias, Optional[uint64]{}
	}
	return key, alias
}

func (b *Batch) spanKey(r *Record, span [8]byte) Optional[uint64] {
	k := keyer(b.scratch[:0])
	k.text(r.Source.Server, r.Source.Deployment)
	k = append(append(k, r.TraceID[:]...), span[:]...)
	b.scratch = k
	return Some(xxh3.Hash(k))
}

// keyer builds the bytes of a key, each text with its length before it, so
// that ("a", "bc") and ("ab", "c") differ.
type keyer []byte

func (k *keyer) text(parts ...string) {
	for _, p := range parts {
		*k = binary.AppendUvarint(*k, uint64(len(p)))
		*k = append(*k, p...)
	}
}

func (k *keyer) number(n uint64) { *k = binary.LittleEndian.AppendUint64(*k, n) }
