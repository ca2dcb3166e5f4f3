// The wrapper that sends events: what spans alone cannot carry, such as the _meta
// of successful answers. Copy it and put it around your handlers, within the span.
import { type AnyValue, logs } from "@opentelemetry/api-logs";
import type { Call } from "./tracing.js";

export async function withEvents<T extends Record<string, unknown>>(call: Call, run: () => Promise<T>): Promise<T> {
  const attributes = { "gen_ai.tool.name": call.tool, "jsonrpc.request.id": String(call.requestId) };
  const emit = (eventName: string, body?: AnyValue, more = {}) =>
    logs.getLogger("soakgate").emit({ eventName, body, attributes: { ...attributes, ...more } });
  try {
    const answer = await run();
    if ("_meta" in answer) {
      const size = Buffer.byteLength(JSON.stringify(answer));
      emit("mcp.response_meta", { _meta: answer._meta as AnyValue }, { "mcp.response.size": size });
    } else {
      emit("mcp.tool_call");
    }
    return answer;
  } catch (error) {
    emit("mcp.error_envelope", (error as Error).message);
    throw error;
  }
}
