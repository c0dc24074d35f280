import { rename } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { describe, expect, it, onTestFinished } from "vitest";
import { ledgerFile, newPath } from "./support/ledgers.js";
import { qavr } from "./support/run.js";

const program = fileURLToPath(new URL("../dist/main.mjs", import.meta.url));

interface Answer {
  readonly isError?: boolean;
  readonly text: string;
}

type Ask = (tool: string, args?: Record<string, unknown>) => Promise<Answer>;

async function startMcp(...args: string[]): Promise<{ readonly client: Client; readonly ask: Ask }> {
  const client = new Client({ name: "editor", version: "1.0.0" });
  onTestFinished(() => client.close());
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [program, "mcp", ...args] }));
  const ask: Ask = async (name, given = {}) => {
    const { content, isError } = await client.callTool({ name, arguments: given });
    return {
      text: content.map((part) => (part.type === "text" ? part.text : part.type)).join("\n"),
      ...(isError ? { isError } : {}),
    };
  };
  return { client, ask };
}

describe("qavr mcp", () => {
  it("answers what the commands print", async () => {
    const ledger = await ledgerFile({ runs: 60 });
    const { client, ask } = await startMcp("-s", ledger);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["status", "doctor", "why", "memories", "runs"]);
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);

    const asked: [string, Record<string, unknown>, string[]][] = [
      ["status", {}, []],
      ["doctor", {}, []],
      ["why", { ref: "run-7" }, ["run-7"]],
      ["why", { ref: "Note 3", collection: "default" }, ["Note 3", "-c", "default"]],
      ["memories", { order: "worst", limit: 3 }, ["--worst", "--limit", "3"]],
      ["memories", {}, []],
      ["runs", { limit: 2, before: 50 }, ["--limit", "2", "--before", "50"]],
    ];
    for (const [tool, given, args] of asked) {
      const { stdout } = await qavr(tool, ...args, "-s", ledger);
      expect(await ask(tool, given)).toEqual({ text: stdout.trimEnd() });
    }
  });

  it("says what is wrong, and goes on", async () => {
    const ledger = newPath();
    const { ask } = await startMcp("-s", ledger);
    expect(await ask("status")).toEqual({ isError: true, text: expect.stringContaining("There is no ledger") });
    await rename(await ledgerFile({ runs: 5, namespace: "support" }), ledger);
    expect(await ask("status")).toEqual({ text: expect.stringContaining("5 recorded") });
    const refused: [string, Record<string, unknown>, string][] = [
      ["status", { namespace: "sales" }, "The namespace sales has no entries in this ledger. It has: support."],
      ["why", { ref: "run-99" }, "No run and no memory of namespace support is called run-99."],
      ["why", {}, "ref"],
      ["runs", { limit: 0 }, "limit"],
      ["doctor", { fix: true }, "fix"],
    ];
    for (const [tool, given, text] of refused) {
      expect(await ask(tool, given)).toEqual({ isError: true, text: expect.stringContaining(text) });
    }
    expect(await ask("runs", { namespace: "support", limit: 1 })).toEqual({ text: expect.stringContaining("older: ") });
  });
});
