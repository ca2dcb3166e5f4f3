"""Calls a server's tools as an agent does, and prints how each call ended."""

import asyncio
import json
import os
import sys
from collections import Counter
from pathlib import Path

from fastmcp import Client
from fastmcp.client.transports import PythonStdioTransport

CALLS = [("get_order", {"order_id": "1"})] * 6 + [("get_order", {"order_id": "busy"})] * 3 + \
    [("get_order", {"order_id": "broken"})] * 2 + [("list_reports", {})] * 4


async def main(script: str) -> None:
    ended, errors = Counter(), Counter()
    transport = PythonStdioTransport(Path(__file__).with_name(script), env=dict(os.environ))
    async with Client(transport) as client:
        for tool, arguments in CALLS:
            result = await client.call_tool(tool, arguments, raise_on_error=False)
            ended[f"{tool} {'error' if result.is_error else 'success'}"] += 1
            if result.is_error:
                envelope = json.loads(result.content[0].text)
                errors[f"{envelope['error_kind']} {envelope['error_code']}"] += 1
        await asyncio.sleep(1)  # the server's exporters send in the background
    print(json.dumps({"calls": ended, "errors": errors}))


asyncio.run(main(sys.argv[1]))
