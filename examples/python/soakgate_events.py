"""The middleware that sends events: what spans alone cannot carry, such as the
_meta of successful answers. Copy it and add it to your server."""

import json
from contextvars import ContextVar

from fastmcp.exceptions import ToolError
from fastmcp.server.middleware import Middleware
from opentelemetry import trace
from opentelemetry._logs import get_logger
from opentelemetry.sdk.trace import SpanProcessor

last_call: ContextVar = ContextVar("last_call", default=trace.INVALID_SPAN_CONTEXT)


class CallSpans(SpanProcessor):
    """Remembers the span of the call, which ends before the middleware goes on."""

    def on_end(self, span):
        if span.name.startswith("tools/call ") and span.kind is trace.SpanKind.SERVER:
            last_call.set(span.context)


class SoakgateEvents(Middleware):
    async def on_call_tool(self, context, call_next):
        def emit(event, body=None, **attributes):
            span = trace.set_span_in_context(trace.NonRecordingSpan(last_call.get()))
            get_logger("soakgate").emit(event_name=event, body=body, context=span, attributes={
                "gen_ai.tool.name": context.message.name, "mcp.session.id": context.fastmcp_context.session_id,
                "jsonrpc.request.id": str(context.fastmcp_context.request_id), **attributes})
        try:
            result = await call_next(context)
        except ToolError as error:
            emit("mcp.error_envelope", str(error))
            raise
        answer = result.structured_content or {}
        if "_meta" in answer:
            size = len(json.dumps(answer, separators=(",", ":")).encode())
            emit("mcp.response_meta", {"_meta": answer["_meta"]}, **{"mcp.response.size": size})
        else:
            emit("mcp.tool_call")
        return result
