package classify

import "time"

// Event says what an observation is, by the event name its sender gave it.
// The zero value means that no name was given: content alone decides.
type Event string

// The event names of docs/emitting.md.
const (
	EventUnnamed       Event = ""
	EventErrorEnvelope Event = "mcp.error_envelope"
	EventResponseMeta  Event = "mcp.response_meta"
	EventToolCall      Event = "mcp.tool_call"
	EventCapabilities  Event = "mcp.capabilities"
	EventConformance   Event = "mcp.conformance"
)

// Carrier is the place in OTLP where an observation was found.
type Carrier string

// The carriers, as the column records.carrier spells them.
const (
	CarrierLogBodyMap    Carrier = "log_body_map"
	CarrierLogBodyText   Carrier = "log_body_text"
	CarrierLogBodyBytes  Carrier = "log_body_bytes"
	CarrierLogAttribute  Carrier = "log_attribute"
	CarrierLogRecord     Carrier = "log_record" // the record itself: a tool call event without a body
	CarrierSpanException Carrier = "span_exception"
	CarrierSpanStatus    Carrier = "span_status"
	CarrierSpanAttribute Carrier = "span_attribute"
	CarrierSpan          Carrier = "span" // the span itself: a tool call
	CarrierRaw           Carrier = "raw"  // handed over directly, without OTLP
)

// Switch is a boolean that a deployment declares, or does not (R89).
type Switch string

// The values of Switch. Undeclared is never read as on.
const (
	SwitchUndeclared Switch = "undeclared"
	SwitchOn         Switch = "on"
	SwitchOff        Switch = "off"
)

// Family names the kind of server that emitted a payload (R53).
type Family string

// The server families.
const (
	FamilyUnknown    Family = "unknown"
	FamilySP         Family = "sp"
	FamilyAds        Family = "ads"
	FamilyOpenbridge Family = "openbridge"
	FamilyAgentAPI   Family = "agent_api"
)

// Source is what a resource declares about the process that sends. All
// observations of one resource share one Source; nobody writes to it.
type Source struct {
	Server           string // service.name, the known three in their stored spelling
	Family           Family // FamilyUnknown when service.name is none of the known three
	ServerVersion    string
	Environment      string
	Deployment       string
	DeploymentSource string // which attribute named the deployment, "" when none did
	Instance         string
	Option           Switch // is MCP_SCHEMA_KEY_NORMALIZATION_META on here
	Strict           Switch // is MCP_STRICT_UNKNOWN_FIELDS on here
	ReplayID         string
	ContractVersion  string
}

// Attribute is one attribute that a sender set, as text.
type Attribute struct{ Key, Value string }

// Outcome tells how a call ended, as far as its carrier knows.
type Outcome string

// The outcomes. Unknown is a call of which nobody said how it ended.
const (
	OutcomeUnknown Outcome = ""
	OutcomeSuccess Outcome = "success"
	OutcomeError   Outcome = "error"
)

// Candidate is one text of a carrier that may hold something of ours. The
// places of one log record or span are candidates for one observation.
type Candidate struct {
	Carrier Carrier
	// Text is JSON, or text with JSON in it. It may alias the request.
	Text []byte
	// ToolError is true when the carrier itself says that the text is the
	// message of a ToolError (exception.type ends in ToolError). See R161.
	ToolError bool
	// Reserialised is true when the sender sent a structure, not text, so that
	// lengths are those of our own compact JSON.
	Reserialised bool
}

// Observation is what one log record or span tells, not yet judged. Its byte
// slices and strings may alias the request it was found in.
type Observation struct {
	Source *Source
	Event  Event
	// Index is the place of the log record or span in its request, from 0.
	Index int

	// Candidates are the texts to look at, the most telling first. Empty for a
	// call of which only attributes tell.
	Candidates []Candidate
	// Call is true when the carrier itself is a tool call: a SERVER span of
	// tools/call, or an mcp.tool_call event.
	Call bool

	TimeUnixNano         uint64 // as sent, 0 when absent
	ObservedTimeUnixNano uint64 // as sent, 0 when absent

	TraceID      [16]byte // zero when absent
	SpanID       [8]byte
	ParentSpanID [8]byte
	// CallSpanID is the span of the call this belongs to, where the request
	// shows it: the outermost tools/call SERVER span around it. Zero otherwise.
	CallSpanID [8]byte

	Tool      string
	SessionID string
	RequestID string
	Surface   string

	Outcome       Outcome
	ErrorType     string
	StatusCode    string // the code of a JSON-RPC error (rpc.response.status_code), "" for none
	Duration      Optional[time.Duration]
	ResponseBytes Optional[uint64]

	// SamplingWeight is how many calls this one stands for, in millionths:
	// UnsampledWeight when nothing was sampled. It never enters evidence.
	SamplingWeight uint64

	Attributes []Attribute
	// AttributesCut is true when the carrier had more attributes, or longer ones.
	AttributesCut bool
}

// UnsampledWeight is the sampling weight of a call that stands for itself.
const UnsampledWeight = 1_000_000
