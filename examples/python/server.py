"""An MCP server as it is before anyone thought of Soakgate: FastMCP with its own
OpenTelemetry spans, exported over OTLP. Where to and under which name comes from
the OTEL_ variables. Failed calls raise a ToolError that holds the envelope."""

import json

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

tracing = TracerProvider()
tracing.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(tracing)

mcp = FastMCP("amazon_sp_mcp")


def failed(tool: str, kind: str, code: str, summary: str, retryable: bool, **more) -> ToolError:
    envelope = {
        "error_kind": kind, "tool": tool, "summary": summary, "details": [], "hints": [], "examples": [],
        "error_code": code, "retryable": retryable, "_envelope_version": 1, **more,
    }
    return ToolError(json.dumps(envelope))


@mcp.tool
def get_order(order_id: str) -> dict:
    """Read an order."""
    if order_id == "busy":
        raise failed("get_order", "rate_limited", "RATE_LIMITED", "Too many calls.", True, _meta={"retry_after_seconds": 2})
    if order_id == "broken":
        raise failed("get_order", "internal_error", "INTERNAL_ERROR", "It broke.", False)
    renamed = {"kind": "renamed", "from": "orderId", "to": "order_id"}
    return {"order": {"id": order_id}, "_meta": {"normalized": [renamed], "rate_limit": {"limit_per_second": 5.0, "remaining": 4}}}


@mcp.tool
def list_reports() -> dict:
    """List reports; an answer without telemetry."""
    return {"reports": []}


if __name__ == "__main__":
    mcp.run(show_banner=False)
