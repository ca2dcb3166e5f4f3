"""The same server with the middleware, and the OpenTelemetry SDK's log exporter."""

from opentelemetry._logs import set_logger_provider
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor

from server import mcp, tracing
from soakgate_events import CallSpans, SoakgateEvents

logs = LoggerProvider()
logs.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
set_logger_provider(logs)
tracing.add_span_processor(CallSpans())
mcp.add_middleware(SoakgateEvents())

if __name__ == "__main__":
    mcp.run(show_banner=False)
