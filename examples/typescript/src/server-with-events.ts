// The same server with the wrapper, and the OpenTelemetry SDK's log exporter.
import { logs } from "@opentelemetry/api-logs";
import { OTLPLogExporter } from "@opentelemetry/exporter-logs-otlp-proto";
import { BatchLogRecordProcessor, LoggerProvider } from "@opentelemetry/sdk-logs";
import { serve } from "./server.js";
import { withEvents } from "./soakgate-events.js";
import { resource, traced, tracing } from "./tracing.js";

const logging = new LoggerProvider({ resource, processors: [new BatchLogRecordProcessor(new OTLPLogExporter())] });
logs.setGlobalLoggerProvider(logging);

await serve(
  (call, run) => traced(call, () => withEvents(call, run)),
  () => Promise.all([tracing.shutdown(), logging.shutdown()]),
);
