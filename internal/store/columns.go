package store

import (
	"math"

	"github.com/google/uuid"

	"github.com/soakgate/soakgate/internal/classify"
	"github.com/soakgate/soakgate/internal/store/native"
)

// Columns are the columns of the table records, filled row by row. One Columns
// serves one request at a time and keeps its memory for the next.
type Columns struct {
	native.Block

	observedAt, receivedAt    *native.Moments
	sentMinute                *native.Moments
	recordID, journalID       *native.UUIDs
	seq, arrivalRank          *native.Fixed
	callKey, callAlias        *native.Optional
	replayID, event           *native.Low
	server, serverFamily      *native.Low
	serverVersion             *native.Low
	environment, deployment   *native.Low
	deploymentSource          *native.Low
	instance, contractVersion *native.Low
	option, strict            *native.Enum
	surface, carrier, shape   *native.Low
	tool                      *native.Low
	sessionID, requestID      *native.Text
	isCall                    *native.Fixed
	outcome, errorType        *native.Low
	mistake                   *native.Low
	durationNs                *native.Optional

	errorKind, errorCode, legacyErrorKind *native.OptionalLow
	innerErrorKind, innerErrorCode        *native.OptionalLow
	httpStatus, retryable                 *native.Optional
	envelopeVersion                       *native.Optional
	recognized, opaque, valid             *native.Fixed
	offTaxonomy, hasNormalized            *native.Fixed

	violations, advisories findings
	normalized             normalizations

	limitPerSecond, remaining         *native.Optional
	limitPerSecondText, remainingText *native.OptionalLow
	resetAtText                       *native.OptionalText
	resetAt, retryAfterSeconds        *native.Optional
	warnings                          warnings

	payloadBytes, metaBytes        *native.Fixed
	normalizedBytes, responseBytes *native.Optional
	timeSource                     *native.Enum
	sentTime                       *native.Text
	samplingWeight                 *native.Fixed
	payload                        *native.Text
	traceID, spanID, parentSpanID  *native.Text
	attributes                     *native.Map
}

// The values of the table's Enum8 columns, in the order of their numbers.
var (
	switchNames     = []string{string(classify.SwitchUndeclared), string(classify.SwitchOn), string(classify.SwitchOff)}
	timeSourceNames = []string{string(classify.TimeSourceEvent), string(classify.TimeSourceObserved), string(classify.TimeSourceArrival)}
)

// NewColumns makes empty columns. Blocks of one kind have their columns in one
// order, which the native protocol wants of blocks that it joins.
func NewColumns() *Columns {
	c := &Columns{}
	c.addIdentity()
	c.addSource()
	c.addCall()
	c.addJudgement()
	c.addMeta()
	c.addCarrier()
	c.normalized = newNormalizations(&c.Block)
	return c
}

func (c *Columns) addIdentity() {
	c.observedAt = c.DateTime64("observed_at", 9)
	c.receivedAt = c.DateTime64("received_at", 3)
	c.sentMinute = c.DateTime("sent_minute")
	c.recordID = c.UUID("record_id")
	c.journalID = c.UUID("journal_id")
	c.seq = c.UInt64("seq")
	c.arrivalRank = c.UInt64("arrival_rank")
	c.callKey = c.OptionalUInt64("call_key")
	c.callAlias = c.OptionalUInt64("call_alias")
	c.replayID = c.Low("replay_id")
	c.event = c.Low("event")
}

func (c *Columns) addSource() {
	c.server = c.Low("server")
	c.serverFamily = c.Low("server_family")
	c.serverVersion = c.Low("server_version")
	c.environment = c.Low("environment")
	c.deployment = c.Low("deployment")
	c.deploymentSource = c.Low("deployment_source")
	c.instance = c.Low("instance")
	c.option = c.Enum8("option", switchNames...)
	c.strict = c.Enum8("strict", switchNames...)
	c.contractVersion = c.Low("contract_version")
}

func (c *Columns) addCall() {
	c.surface = c.Low("surface")
	c.carrier = c.Low("carrier")
	c.shape = c.Low("shape")
	c.tool = c.Low("tool")
	c.sessionID = c.Text("session_id")
	c.requestID = c.Text("request_id")
	c.isCall = c.Bool("is_call")
	c.outcome = c.Low("outcome")
	c.errorType = c.Low("error_type")
	c.mistake = c.Low("mistake")
	c.durationNs = c.OptionalUInt64("duration_ns")
}

func (c *Columns) addJudgement() {
	c.errorKind = c.OptionalLow("error_kind")
	c.errorCode = c.OptionalLow("error_code")
	c.legacyErrorKind = c.OptionalLow("legacy_error_kind")
	c.innerErrorKind = c.OptionalLow("inner_error_kind")
	c.innerErrorCode = c.OptionalLow("inner_error_code")
	c.httpStatus = c.OptionalUInt16("http_status")
	c.retryable = c.OptionalBool("retryable")
	c.envelopeVersion = c.OptionalInt64("envelope_version")
	c.recognized = c.Bool("recognized")
	c.opaque = c.Bool("opaque")
	c.valid = c.Bool("valid")
	c.offTaxonomy = c.Bool("off_taxonomy")
	c.hasNormalized = c.Bool("has_normalized")
	c.violations = newFindings(&c.Block, "violations")
	c.advisories = newFindings(&c.Block, "advisories")
}

func (c *Columns) addMeta() {
	c.limitPerSecond = c.OptionalFloat64("limit_per_second")
	c.limitPerSecondText = c.OptionalLow("limit_per_second_text")
	c.remaining = c.OptionalFloat64("remaining")
	c.remainingText = c.OptionalLow("remaining_text")
	c.resetAtText = c.OptionalText("reset_at_text")
	c.resetAt = c.OptionalDateTime64("reset_at")
	c.retryAfterSeconds = c.OptionalFloat64("retry_after_seconds")
	c.warnings = newWarnings(&c.Block)
}

func (c *Columns) addCarrier() {
	c.payloadBytes = c.UInt32("payload_bytes")
	c.metaBytes = c.UInt32("meta_bytes")
	c.normalizedBytes = c.OptionalUInt32("normalized_bytes")
	c.responseBytes = c.OptionalUInt64("response_bytes")
	c.timeSource = c.Enum8("time_source", timeSourceNames...)
	c.sentTime = c.Text("sent_time")
	c.samplingWeight = c.UInt64("sampling_weight")
	c.payload = c.Text("payload")
	c.traceID = c.Text("trace_id")
	c.spanID = c.Text("span_id")
	c.parentSpanID = c.Text("parent_span_id")
	c.attributes = c.Map("attributes")
}

// recordColumns are the columns of a block of KindRecords, and heartbeatColumns
// those of KindHeartbeats. A release that adds columns adds a kind.
var (
	recordColumns    = NewColumns().Columns()
	heartbeatColumns = Heartbeat{}.block().Columns()
)

// Place is where a record stands in its collector's journal.
type Place struct {
	JournalID uuid.UUID
	Seq       uint64 // grows with every record of the journal
}

// Append adds a record. Its dictionary texts are held until the next Reset, and
// the others copied.
func (c *Columns) Append(r *classify.Record, at Place) {
	c.Begin()
	c.setIdentity(r, at)
	c.setSource(r)
	c.setCall(r)
	c.setJudgement(r)
	c.setMeta(r)
	c.setCarrier(r)
}

func (c *Columns) setIdentity(r *classify.Record, at Place) {
	c.observedAt.SetTime(r.ObservedAt)
	c.receivedAt.SetTime(r.ReceivedAt)
	c.sentMinute.SetTime(r.SentMinute)
	c.recordID.Add(r.ID)
	c.journalID.Add(at.JournalID)
	c.seq.Set(at.Seq)
	// Merges keep the greatest rank: the earliest arrival, which is in milliseconds.
	c.arrivalRank.Set(math.MaxUint64 - uint64(r.ReceivedAt.UnixMilli()))
	c.callKey.Set(r.CallKey.Value, r.CallKey.Set)
	c.callAlias.Set(r.CallAlias.Value, r.CallAlias.Set)
	c.event.Set(string(r.Event))
}

func (c *Columns) setSource(r *classify.Record) {
	s := r.Source
	c.replayID.Set(s.ReplayID)
	c.server.Set(s.Server)
	c.serverFamily.Set(string(r.Family))
	c.serverVersion.Set(s.ServerVersion)
	c.environment.Set(s.Environment)
	c.deployment.Set(s.Deployment)
	c.deploymentSource.Set(s.DeploymentSource)
	c.instance.Set(s.Instance)
	c.option.SetName(string(s.Option))
	c.strict.SetName(string(s.Strict))
	c.contractVersion.Set(s.ContractVersion)
}

func (c *Columns) setCall(r *classify.Record) {
	c.surface.Set(r.Surface)
	c.carrier.Set(string(r.Carrier))
	c.shape.Set(string(r.Shape))
	c.tool.Set(r.ToolName())
	c.sessionID.Set(r.SessionID)
	c.requestID.Set(r.RequestID)
	c.isCall.SetBool(r.IsCall())
	c.outcome.Set(string(r.Failed()))
	c.errorType.Set(r.ErrorType)
	c.mistake.Set(string(r.Mistake()))
	c.durationNs.Set(uint64(max(0, r.Duration.Value)), r.Duration.Set)
}

func (c *Columns) setJudgement(r *classify.Record) {
	c.errorKind.Set(r.ErrorKind.Value, r.ErrorKind.Set)
	c.errorCode.Set(r.ErrorCode.Value, r.ErrorCode.Set)
	c.legacyErrorKind.Set(r.LegacyErrorKind.Value, r.LegacyErrorKind.Set)
	c.innerErrorKind.Set(r.InnerErrorKind.Value, r.InnerErrorKind.Set)
	c.innerErrorCode.Set(r.InnerErrorCode.Value, r.InnerErrorCode.Set)
	c.httpStatus.Set(uint64(r.HTTPStatus.Value), r.HTTPStatus.Set)
	c.retryable.SetBool(r.Retryable.Value, r.Retryable.Set)
	c.envelopeVersion.Set(uint64(r.EnvelopeVersion.Value), r.EnvelopeVersion.Set)
	c.recognized.SetBool(r.Recognized)
	c.opaque.SetBool(r.Opaque)
	c.valid.SetBool(r.Valid)
	c.offTaxonomy.SetBool(r.OffTaxonomy)
	c.hasNormalized.SetBool(r.HasNormalized)
	c.violations.add(r.Violations)
	c.advisories.add(r.Advisories)
}

func (c *Columns) setMeta(r *classify.Record) {
	c.setRateLimit(r)
	c.retryAfterSeconds.SetFloat(r.RetryAfterSeconds.Value, r.RetryAfterSeconds.Set)
	c.warnings.add(r.Warnings)
	c.normalized.add(r.Normalized)
}

var noLimit classify.RateLimit

func (c *Columns) setRateLimit(r *classify.Record) {
	limit := &noLimit
	if r.RateLimit.Set {
		limit = &r.RateLimit.Value
	}
	c.limitPerSecond.SetFloat(limit.LimitPerSecond.Value, limit.LimitPerSecond.Set)
	c.limitPerSecondText.Set(limit.LimitPerSecondText.Value, limit.LimitPerSecondText.Set)
	c.remaining.SetFloat(limit.Remaining.Value, limit.Remaining.Set)
	c.remainingText.Set(limit.RemainingText.Value, limit.RemainingText.Set)
	c.resetAtText.Set(limit.ResetAtText.Value, limit.ResetAtText.Set)
	c.resetAt.Set(uint64(limit.ResetAt.Value.UnixMilli()), limit.ResetAt.Set)
}

func (c *Columns) setCarrier(r *classify.Record) {
	c.payloadBytes.Set(uint64(r.PayloadBytes()))
	c.metaBytes.Set(uint64(min(r.MetaBytes, math.MaxUint32)))
	c.normalizedBytes.Set(uint64(r.NormalizedBytes.Value), r.NormalizedBytes.Set)
	c.responseBytes.Set(r.ResponseBytes.Value, r.ResponseBytes.Set)
	c.timeSource.SetName(string(r.TimeSource))
	c.sentTime.Set(r.SentTime)
	c.samplingWeight.Set(r.SamplingWeight)
	c.payload.SetBytes(keptPayload(r.Payload))
	c.traceID.SetHex(r.TraceID[:])
	c.spanID.SetHex(r.SpanID[:])
	c.parentSpanID.SetHex(r.ParentSpanID[:])
	for i := range r.Attributes {
		c.attributes.Add(r.Attributes[i].Key, r.Attributes[i].Value)
	}
}
