package store

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/google/uuid"

	"github.com/soakgate/soakgate/internal/classify"
)

var errWriteOnly = errors.New("this column is only written")

type maybe[T any] = *proto.ColNullable[T]

// Columns are the columns of the table records, filled row by row. One Columns
// serves one request at a time and keeps its memory for the next.
type Columns struct {
	rows  int
	input []proto.InputColumn

	observedAt, receivedAt    *proto.ColDateTime64
	sentMinute                *proto.ColDateTime
	recordID, journalID       *proto.ColUUID
	seq, arrivalRank          *proto.ColUInt64
	callKey, callAlias        maybe[uint64]
	replayID, event           *lowText
	server, serverFamily      *lowText
	serverVersion             *lowText
	environment, deployment   *lowText
	deploymentSource          *lowText
	instance, contractVersion *lowText
	option, strict            *enumColumn
	surface, carrier, shape   *lowText
	tool                      *lowText
	sessionID, requestID      *proto.ColStr
	isCall                    *proto.ColBool
	outcome, errorType        *lowText
	mistake                   *lowText
	durationNs                maybe[uint64]

	errorKind, errorCode, legacyErrorKind *optionalText
	innerErrorKind, innerErrorCode        *optionalText
	httpStatus                            maybe[uint16]
	retryable                             maybe[bool]
	envelopeVersion                       maybe[int64]
	recognized, opaque, valid             *proto.ColBool
	offTaxonomy, hasNormalized            *proto.ColBool

	violations, advisories *findings
	normalized             *normalizations

	limitPerSecond, remaining         maybe[float64]
	limitPerSecondText, remainingText *optionalText
	resetAtText                       maybe[string]
	resetAt                           maybe[time.Time]
	retryAfterSeconds                 maybe[float64]
	warnings                          *warnings

	payloadBytes, metaBytes       *proto.ColUInt32
	normalizedBytes               maybe[uint32]
	responseBytes                 maybe[uint64]
	timeSource                    *enumColumn
	sentTime                      *proto.ColStr
	samplingWeight                *proto.ColUInt64
	payload                       *proto.ColStr
	traceID, spanID, parentSpanID *proto.ColStr
	attributes                    *proto.ColMap[string, string]

	pairs []proto.KV[string, string]
	hex   [32]byte
}

// NewColumns makes empty columns.
func NewColumns() *Columns {
	low := newLowText
	text := func() *proto.ColStr { return new(proto.ColStr) }
	flag := func() *proto.ColBool { return new(proto.ColBool) }
	c := &Columns{
		observedAt: new(proto.ColDateTime64).WithPrecision(proto.PrecisionNano).WithLocation(time.UTC),
		receivedAt: new(proto.ColDateTime64).WithPrecision(proto.PrecisionMilli).WithLocation(time.UTC),
		sentMinute: &proto.ColDateTime{Location: time.UTC},
		recordID:   new(proto.ColUUID), journalID: new(proto.ColUUID),
		seq: new(proto.ColUInt64), arrivalRank: new(proto.ColUInt64),
		callKey:   proto.NewColNullable[uint64](new(proto.ColUInt64)),
		callAlias: proto.NewColNullable[uint64](new(proto.ColUInt64)),
		replayID:  low(), event: low(), server: low(), serverFamily: low(), serverVersion: low(),
		environment: low(), deployment: low(), deploymentSource: low(), instance: low(), contractVersion: low(),
		option: newEnum(switchNames...), strict: newEnum(switchNames...),
		surface: low(), carrier: low(), shape: low(), tool: low(),
		sessionID: text(), requestID: text(),
		isCall: flag(), outcome: low(), errorType: low(), mistake: low(),
		durationNs: proto.NewColNullable[uint64](new(proto.ColUInt64)),
		errorKind:  newOptionalText(), errorCode: newOptionalText(), legacyErrorKind: newOptionalText(),
		innerErrorKind: newOptionalText(), innerErrorCode: newOptionalText(),
		httpStatus:      proto.NewColNullable[uint16](new(proto.ColUInt16)),
		retryable:       proto.NewColNullable[bool](new(proto.ColBool)),
		envelopeVersion: proto.NewColNullable[int64](new(proto.ColInt64)),
		recognized:      flag(), opaque: flag(), valid: flag(), offTaxonomy: flag(), hasNormalized: flag(),
		violations: newFindings(), advisories: newFindings(), normalized: newNormalizations(), warnings: newWarnings(),
		limitPerSecond:     proto.NewColNullable[float64](new(proto.ColFloat64)),
		remaining:          proto.NewColNullable[float64](new(proto.ColFloat64)),
		limitPerSecondText: newOptionalText(), remainingText: newOptionalText(),
		resetAtText:       proto.NewColNullable[string](new(proto.ColStr)),
		resetAt:           proto.NewColNullable[time.Time](new(proto.ColDateTime64).WithPrecision(proto.PrecisionMilli).WithLocation(time.UTC)),
		retryAfterSeconds: proto.NewColNullable[float64](new(proto.ColFloat64)),
		payloadBytes:      new(proto.ColUInt32), metaBytes: new(proto.ColUInt32),
		normalizedBytes: proto.NewColNullable[uint32](new(proto.ColUInt32)),
		responseBytes:   proto.NewColNullable[uint64](new(proto.ColUInt64)),
		timeSource:      newEnum(timeSourceNames...),
		sentTime:        text(), samplingWeight: new(proto.ColUInt64), payload: text(),
		traceID: text(), spanID: text(), parentSpanID: text(),
		attributes: proto.NewMap[string, string](low(), new(proto.ColStr)),
	}
	c.name()
	return c
}

// name lists the columns by their names in the table.
func (c *Columns) name() {
	c.input = []proto.InputColumn{
		{Name: "observed_at", Data: c.observedAt},
		{Name: "received_at", Data: c.receivedAt},
		{Name: "sent_minute", Data: c.sentMinute},
		{Name: "record_id", Data: c.recordID},
		{Name: "journal_id", Data: c.journalID},
		{Name: "seq", Data: c.seq},
		{Name: "arrival_rank", Data: c.arrivalRank},
		{Name: "call_key", Data: c.callKey},
		{Name: "call_alias", Data: c.callAlias},
		{Name: "replay_id", Data: c.replayID},
		{Name: "event", Data: c.event},
		{Name: "server", Data: c.server},
		{Name: "server_family", Data: c.serverFamily},
		{Name: "server_version", Data: c.serverVersion},
		{Name: "environment", Data: c.environment},
		{Name: "deployment", Data: c.deployment},
		{Name: "deployment_source", Data: c.deploymentSource},
		{Name: "instance", Data: c.instance},
		{Name: "option", Data: c.option},
		{Name: "strict", Data: c.strict},
		{Name: "contract_version", Data: c.contractVersion},
		{Name: "surface", Data: c.surface},
		{Name: "carrier", Data: c.carrier},
		{Name: "shape", Data: c.shape},
		{Name: "tool", Data: c.tool},
		{Name: "session_id", Data: c.sessionID},
		{Name: "request_id", Data: c.requestID},
		{Name: "is_call", Data: c.isCall},
		{Name: "outcome", Data: c.outcome},
		{Name: "error_type", Data: c.errorType},
		{Name: "mistake", Data: c.mistake},
		{Name: "duration_ns", Data: c.durationNs},
		{Name: "error_kind", Data: c.errorKind},
		{Name: "error_code", Data: c.errorCode},
		{Name: "legacy_error_kind", Data: c.legacyErrorKind},
		{Name: "inner_error_kind", Data: c.innerErrorKind},
		{Name: "inner_error_code", Data: c.innerErrorCode},
		{Name: "http_status", Data: c.httpStatus},
		{Name: "retryable", Data: c.retryable},
		{Name: "envelope_version", Data: c.envelopeVersion},
		{Name: "recognized", Data: c.recognized},
		{Name: "opaque", Data: c.opaque},
		{Name: "valid", Data: c.valid},
		{Name: "off_taxonomy", Data: c.offTaxonomy},
		{Name: "has_normalized", Data: c.hasNormalized},
		{Name: "violations.rule", Data: &c.violations.rule},
		{Name: "violations.path", Data: &c.violations.path},
		{Name: "violations.message", Data: &c.violations.message},
		{Name: "advisories.rule", Data: &c.advisories.rule},
		{Name: "advisories.path", Data: &c.advisories.path},
		{Name: "advisories.message", Data: &c.advisories.message},
		{Name: "limit_per_second", Data: c.limitPerSecond},
		{Name: "limit_per_second_text", Data: c.limitPerSecondText},
		{Name: "remaining", Data: c.remaining},
		{Name: "remaining_text", Data: c.remainingText},
		{Name: "reset_at_text", Data: c.resetAtText},
		{Name: "reset_at", Data: c.resetAt},
		{Name: "retry_after_seconds", Data: c.retryAfterSeconds},
		{Name: "warnings.kind", Data: &c.warnings.kind},
		{Name: "warnings.summary", Data: &c.warnings.summary},
		{Name: "payload_bytes", Data: c.payloadBytes},
		{Name: "meta_bytes", Data: c.metaBytes},
		{Name: "normalized_bytes", Data: c.normalizedBytes},
		{Name: "response_bytes", Data: c.responseBytes},
		{Name: "time_source", Data: c.timeSource},
		{Name: "sent_time", Data: c.sentTime},
		{Name: "sampling_weight", Data: c.samplingWeight},
		{Name: "payload", Data: c.payload},
		{Name: "trace_id", Data: c.traceID},
		{Name: "span_id", Data: c.spanID},
		{Name: "parent_span_id", Data: c.parentSpanID},
		{Name: "attributes", Data: c.attributes},
	}
	for i, member := range []string{"kind", "from", "to", "field", "canonical", "from_type", "to_type", "reason"} {
		c.input = append(c.input, proto.InputColumn{Name: "normalized." + member, Data: &c.normalized.columns[i]})
	}
}

// recordColumns are the columns of a block of KindRecords, and heartbeatColumns
// those of KindHeartbeats. A release that adds columns adds a kind.
var (
	recordColumns    = columnList(NewColumns().input)
	heartbeatColumns = columnList(Heartbeat{}.columns())
)

func columnList(input []proto.InputColumn) string {
	names := make([]string, len(input))
	for i, c := range input {
		names[i] = "`" + c.Name + "`"
	}
	return strings.Join(names, ", ")
}

// Rows is the number of records appended since the last Reset.
func (c *Columns) Rows() int { return c.rows }

// Reset empties the columns.
func (c *Columns) Reset() {
	proto.Input(c.input).Reset()
	c.eachNested((*nested).reset)
	c.rows = 0
}

// AppendBlock writes the rows as one ClickHouse Native block of revision 0,
// which carries names and types.
func (c *Columns) AppendBlock(dst []byte) ([]byte, error) {
	c.eachNested((*nested).share)
	buffer := proto.Buffer{Buf: dst}
	block := proto.Block{Columns: len(c.input), Rows: c.rows}
	if err := block.EncodeRawBlock(&buffer, 0, c.input); err != nil {
		return dst, fmt.Errorf("encode %d records as a Native block: %w", c.rows, err)
	}
	return buffer.Buf, nil
}

// Place is where a record stands in its collector's journal.
type Place struct {
	JournalID uuid.UUID
	Seq       uint64 // grows with every record of the journal
}

// Append adds a record. Its texts are copied.
func (c *Columns) Append(r *classify.Record, at Place) {
	c.rows++
	c.appendIdentity(r, at)
	c.appendSource(r)
	c.appendCall(r)
	c.appendJudgement(r)
	c.appendMeta(r)
	c.appendCarrier(r)
}

func (c *Columns) appendIdentity(r *classify.Record, at Place) {
	c.observedAt.Append(r.ObservedAt)
	c.receivedAt.Append(r.ReceivedAt)
	c.sentMinute.Append(r.SentMinute)
	c.recordID.Append(uuid.UUID(r.ID))
	c.journalID.Append(at.JournalID)
	c.seq.Append(at.Seq)
	// Merges keep the greatest rank: the earliest arrival, which is in milliseconds.
	c.arrivalRank.Append(math.MaxUint64 - uint64(r.ReceivedAt.UnixMilli()))
	c.callKey.Append(nullable(r.CallKey))
	c.callAlias.Append(nullable(r.CallAlias))
	c.timeSource.append(string(r.TimeSource))
	c.sentTime.Append(r.SentTime)
}

func (c *Columns) appendSource(r *classify.Record) {
	s := r.Source
	c.server.Append(s.Server)
	c.serverFamily.Append(string(r.Family))
	c.serverVersion.Append(s.ServerVersion)
	c.environment.Append(s.Environment)
	c.deployment.Append(s.Deployment)
	c.deploymentSource.Append(s.DeploymentSource)
	c.instance.Append(s.Instance)
	c.option.append(string(s.Option))
	c.strict.append(string(s.Strict))
	c.replayID.Append(s.ReplayID)
	c.contractVersion.Append(s.ContractVersion)
}

func (c *Columns) appendCall(r *classify.Record) {
	c.event.Append(string(r.Event))
	c.surface.Append(r.Surface)
	c.carrier.Append(string(r.Carrier))
	c.tool.Append(r.ToolName())
	c.sessionID.Append(r.SessionID)
	c.requestID.Append(r.RequestID)
	c.isCall.Append(r.IsCall())
	c.outcome.Append(string(r.Failed()))
	c.errorType.Append(r.ErrorType)
	c.mistake.Append(string(r.Mistake()))
	duration := proto.Nullable[uint64]{Set: r.Duration.Set}
	if r.Duration.Set {
		duration.Value = uint64(max(0, r.Duration.Value))
	}
	c.durationNs.Append(duration)
	c.responseBytes.Append(nullable(r.ResponseBytes))
	c.samplingWeight.Append(r.SamplingWeight)
}

func (c *Columns) appendJudgement(r *classify.Record) {
	c.shape.Append(string(r.Shape))
	c.errorKind.Append(nullable(r.ErrorKind))
	c.errorCode.Append(nullable(r.ErrorCode))
	c.legacyErrorKind.Append(nullable(r.LegacyErrorKind))
	c.innerErrorKind.Append(nullable(r.InnerErrorKind))
	c.innerErrorCode.Append(nullable(r.InnerErrorCode))
	c.httpStatus.Append(nullable(r.HTTPStatus))
	c.retryable.Append(nullable(r.Retryable))
	c.envelopeVersion.Append(nullable(r.EnvelopeVersion))
	c.recognized.Append(r.Recognized)
	c.opaque.Append(r.Opaque)
	c.valid.Append(r.Valid)
	c.offTaxonomy.Append(r.OffTaxonomy)
	c.violations.append(r.Violations)
	c.advisories.append(r.Advisories)
}

func (c *Columns) appendMeta(r *classify.Record) {
	c.hasNormalized.Append(r.HasNormalized)
	c.normalized.append(r.Normalized)
	limit := r.RateLimit.Value
	if !r.RateLimit.Set {
		limit = classify.RateLimit{}
	}
	c.limitPerSecond.Append(nullable(limit.LimitPerSecond))
	c.limitPerSecondText.Append(nullable(limit.LimitPerSecondText))
	c.remaining.Append(nullable(limit.Remaining))
	c.remainingText.Append(nullable(limit.RemainingText))
	c.resetAtText.Append(nullable(limit.ResetAtText))
	c.resetAt.Append(nullable(limit.ResetAt))
	c.retryAfterSeconds.Append(nullable(r.RetryAfterSeconds))
	c.warnings.append(r.Warnings)
	c.metaBytes.Append(uint32(min(r.MetaBytes, math.MaxUint32)))
	c.normalizedBytes.Append(nullable(r.NormalizedBytes))
}

func (c *Columns) appendCarrier(r *classify.Record) {
	c.payloadBytes.Append(r.PayloadBytes())
	c.payload.AppendBytes(keptPayload(r.Payload))
	c.traceID.AppendBytes(c.hexID(r.TraceID[:]))
	c.spanID.AppendBytes(c.hexID(r.SpanID[:]))
	c.parentSpanID.AppendBytes(c.hexID(r.ParentSpanID[:]))
	c.pairs = c.pairs[:0]
	for _, a := range r.Attributes {
		c.pairs = append(c.pairs, proto.KV[string, string]{Key: a.Key, Value: a.Value})
	}
	c.attributes.AppendKV(c.pairs)
}

// hexID is an id as lower case hex, nothing for a zero id. The result is valid
// until the next call.
func (c *Columns) hexID(id []byte) []byte {
	for _, b := range id {
		if b != 0 {
			return c.hex[:hex.Encode(c.hex[:], id)]
		}
	}
	return nil
}
