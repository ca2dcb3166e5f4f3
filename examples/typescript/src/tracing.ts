// Spans of tool calls by the OpenTelemetry semantic conventions for MCP, exported
// over OTLP. The MCP SDK has none of its own. Where to and under which name comes
// from the OTEL_ variables.
import { SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { defaultResource, detectResources, envDetector } from "@opentelemetry/resources";
import { BatchSpanProcessor, NodeTracerProvider } from "@opentelemetry/sdk-trace-node";

export const resource = defaultResource().merge(detectResources({ detectors: [envDetector] }));
export const tracing = new NodeTracerProvider({ resource, spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())] });
tracing.register();

export interface Call {
  tool: string;
  sessionId?: string;
  requestId: string | number;
}

export function traced<T>(call: Call, run: () => Promise<T>): Promise<T> {
  const attributes = { "mcp.method.name": "tools/call", "gen_ai.tool.name": call.tool, "jsonrpc.request.id": String(call.requestId) };
  return trace.getTracer("mcp").startActiveSpan(`tools/call ${call.tool}`, { kind: SpanKind.SERVER, attributes }, async (span) => {
    try {
      return await run();
    } catch (error) {
      span.recordException(error as Error);
      span.setAttribute("error.type", "tool_error");
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  });
}
