// An MCP server as it is before anyone thought of Soakgate: spans only. Failed
// calls throw a ToolError that holds the envelope.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";
import { type Call, traced, tracing } from "./tracing.js";

export class ToolError extends Error {
  override name = "ToolError";
}

function failed(tool: string, kind: string, code: string, summary: string, retryable: boolean, more = {}): ToolError {
  return new ToolError(JSON.stringify({
    error_kind: kind, tool, summary, details: [], hints: [], examples: [],
    error_code: code, retryable, _envelope_version: 1, ...more,
  }));
}

export type Answer = Record<string, unknown>;

function getOrder({ order_id }: { order_id: string }): Answer {
  if (order_id === "busy") {
    throw failed("get_order", "rate_limited", "RATE_LIMITED", "Too many calls.", true, { _meta: { retry_after_seconds: 2 } });
  }
  if (order_id === "broken") {
    throw failed("get_order", "internal_error", "INTERNAL_ERROR", "It broke.", false);
  }
  const renamed = { kind: "renamed", from: "orderId", to: "order_id" };
  return { order: { id: order_id }, _meta: { normalized: [renamed], rate_limit: { limit_per_second: 5, remaining: 4 } } };
}

// wrap goes around every call; see server-with-events.ts.
export type Wrap = (call: Call, run: () => Promise<Answer>) => Promise<Answer>;

export async function serve(wrap: Wrap, flush: () => Promise<unknown>): Promise<void> {
  const server = new McpServer({ name: "amazon_ads_mcp", version: "1.0.0" });
  const answer = async (call: Call, run: () => Answer) => {
    const structuredContent = await wrap(call, async () => run());
    return { structuredContent, content: [{ type: "text" as const, text: JSON.stringify(structuredContent) }] };
  };
  server.registerTool("get_order", { inputSchema: { order_id: z.string() } }, (args, extra) =>
    answer({ tool: "get_order", requestId: extra.requestId }, () => getOrder(args)));
  server.registerTool("list_reports", { inputSchema: {} }, (_, extra) =>
    answer({ tool: "list_reports", requestId: extra.requestId }, () => ({ reports: [] })));
  process.stdin.on("end", () => void flush().finally(() => process.exit(0)));
  await server.connect(new StdioServerTransport());
}

if (process.argv[1]?.endsWith("/server.js")) {
  await serve(traced, () => tracing.shutdown());
}
