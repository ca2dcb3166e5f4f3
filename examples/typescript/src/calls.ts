// Calls a server's tools as an agent does, and prints how each call ended.
import { setTimeout } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const times = <T>(n: number, value: T): T[] => Array.from({ length: n }, () => value);
const calls: { name: string; arguments: Record<string, unknown> }[] = [
  ...times(6, { name: "get_order", arguments: { order_id: "1" } }),
  ...times(3, { name: "get_order", arguments: { order_id: "busy" } }),
  ...times(2, { name: "get_order", arguments: { order_id: "broken" } }),
  ...times(4, { name: "list_reports", arguments: {} }),
];

const client = new Client({ name: "example", version: "1.0.0" });
const script = new URL(process.argv[2] ?? "server.js", import.meta.url).pathname;
await client.connect(new StdioClientTransport({ command: process.execPath, args: [script], env: process.env as Record<string, string> }));
const ended: Record<string, number> = {};
const errors: Record<string, number> = {};
const count = (into: Record<string, number>, key: string) => { into[key] = (into[key] ?? 0) + 1; };
for (const call of calls) {
  const result = await client.callTool(call);
  count(ended, `${call.name} ${result.isError ? "error" : "success"}`);
  if (result.isError) {
    const envelope = JSON.parse((result.content as { text: string }[])[0]!.text) as { error_kind: string; error_code: string };
    count(errors, `${envelope.error_kind} ${envelope.error_code}`);
  }
}
await setTimeout(1000); // the server's exporters send in the background
await client.close();
console.log(JSON.stringify({ calls: ended, errors }));
