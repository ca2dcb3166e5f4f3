package soakgatereceiver

import (
	"context"

	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"go.opentelemetry.io/collector/receiver/receiverhelper"
)

// signal is one kind of data as the receiver serves it, so that gRPC and HTTP
// are written once for both.
type signal struct {
	things  string // what a request holds, in answers
	service string // its gRPC service
	path    func(*HTTPConfig) string
	// request makes an empty request to decode into.
	request func() request
	// probe sends nothing through the pipeline, in the form of an empty request.
	probe func(context.Context) error
}

// request is one request to export, decoded by pdata.
type request interface {
	UnmarshalProto([]byte) error
	UnmarshalJSON([]byte) error
	// count is the number of log records or spans.
	count() int
	// consume hands the data to the pipeline and tells the Collector's own
	// telemetry of it.
	consume(ctx context.Context, obs *receiverhelper.ObsReport, format string) error
	// answer makes the answer that carries a message.
	answer(rejected int, message string) answer
}

// answer is an export response, encoded by pdata.
type answer interface {
	MarshalProto() ([]byte, error)
	MarshalJSON() ([]byte, error)
}

func logsSignal(next consumer.Logs) signal {
	return signal{
		things:  "log records",
		service: "opentelemetry.proto.collector.logs.v1.LogsService",
		path:    func(c *HTTPConfig) string { return c.LogsURLPath },
		request: func() request { return logsRequest{plogotlp.NewExportRequest(), next} },
		probe:   func(ctx context.Context) error { return next.ConsumeLogs(ctx, plog.NewLogs()) },
	}
}

type logsRequest struct {
	plogotlp.ExportRequest
	next consumer.Logs
}

func (r logsRequest) count() int { return r.Logs().LogRecordCount() }

func (r logsRequest) consume(ctx context.Context, obs *receiverhelper.ObsReport, format string) error {
	n := r.count()
	ctx = obs.StartLogsOp(ctx)
	err := r.next.ConsumeLogs(ctx, r.Logs())
	obs.EndLogsOp(ctx, format, n, err)
	return err
}

func (logsRequest) answer(rejected int, message string) answer {
	a := plogotlp.NewExportResponse()
	a.PartialSuccess().SetRejectedLogRecords(int64(rejected))
	a.PartialSuccess().SetErrorMessage(message)
	return a
}

func tracesSignal(next consumer.Traces) signal {
	return signal{
		things:  "spans",
		service: "opentelemetry.proto.collector.trace.v1.TraceService",
		path:    func(c *HTTPConfig) string { return c.TracesURLPath },
		request: func() request { return tracesRequest{ptraceotlp.NewExportRequest(), next} },
		probe:   func(ctx context.Context) error { return next.ConsumeTraces(ctx, ptrace.NewTraces()) },
	}
}

type tracesRequest struct {
	ptraceotlp.ExportRequest
	next consumer.Traces
}

func (r tracesRequest) count() int { return r.Traces().SpanCount() }

func (r tracesRequest) consume(ctx context.Context, obs *receiverhelper.ObsReport, format string) error {
	n := r.count()
	ctx = obs.StartTracesOp(ctx)
	err := r.next.ConsumeTraces(ctx, r.Traces())
	obs.EndTracesOp(ctx, format, n, err)
	return err
}

func (tracesRequest) answer(rejected int, message string) answer {
	a := ptraceotlp.NewExportResponse()
	a.PartialSuccess().SetRejectedSpans(int64(rejected))
	a.PartialSuccess().SetErrorMessage(message)
	return a
}

// nothing is the answer without anything to say: an empty message, in which not
// even partial_success is present.
type nothing struct{}

// MarshalProto is the empty protobuf message.
func (nothing) MarshalProto() ([]byte, error) { return nil, nil }

// MarshalJSON is the empty JSON object.
func (nothing) MarshalJSON() ([]byte, error) { return []byte("{}"), nil }
