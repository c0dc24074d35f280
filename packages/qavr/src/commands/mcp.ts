import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";
import { MEMORY_ORDERS } from "../reports/memories.js";
import { runModule } from "../run-module.js";
import { createStyle } from "../terminal/terminal.js";
import { versionOf } from "../version.js";
import type { Input, Output } from "./command.js";
import * as doctor from "./doctor.js";
import * as memories from "./memories.js";
import * as runs from "./runs.js";
import * as status from "./status.js";
import * as why from "./why.js";

const PLAIN = createStyle(process.stdout, false);

interface Tool {
  readonly description: string;
  readonly fields?: z.ZodRawShape;
  readonly module: { run(input: Input): Promise<Output> };
}

const limit = z.int().min(1).max(1_000).default(20).describe("How many to list");
const collection = z.string().optional().describe("Only this collection of memories");

/** Tools that answer what the commands of their names print. None of them writes. */
const TOOLS: Readonly<Record<string, Tool>> = {
  status: {
    description:
      "Whether memory ranking learns, whether it helps and how sure that is: success over the runs, lift with its interval, best and worst memories. Ask this first.",
    module: status,
  },
  doctor: {
    description:
      "What keeps memory ranking from learning: findings with a fix for each, such as missing outcomes, ids that change, harmful memories.",
    module: doctor,
  },
  why: {
    description:
      "Why a run was shown its memories, with the terms of each score and the place without learning; or what is known of one memory, and where it was ranked.",
    fields: {
      ref: z.string().describe("Id of a run, of a trace or thread it is known by, or of a memory"),
      collection,
    },
    module: why,
  },
  memories: {
    description: "Memories with their utility, evidence, success of the runs that they were shown in, and votes.",
    fields: { order: z.enum(MEMORY_ORDERS).default("best").describe("worst and best: by utility"), limit, collection },
    module: memories,
  },
  runs: {
    description: "The latest runs: time, outcome, who reported it, how many memories were shown.",
    fields: { limit, before: z.int().min(1).optional().describe("Only runs before this place in the ledger") },
    module: runs,
  },
};

const namespaceField = z.string().optional().describe("Scope of learning; status names the others");

/** Answers over standard input and output until the input ends. The ledger is opened for each call: it may not be there yet. */
export async function run({ options: { store, namespace }, note }: Input): Promise<undefined> {
  const createServer = (): McpServer => {
    const server = new McpServer({ name: "qavr", version: versionOf() });
    for (const [name, { description, fields, module }] of Object.entries(TOOLS)) {
      const inputSchema = z.strictObject({ ...fields, namespace: namespaceField });
      const annotations = { readOnlyHint: true, openWorldHint: false };
      server.registerTool(
        name,
        { description, inputSchema, annotations },
        async (asked: Readonly<Record<string, unknown>>) => {
          const { ref, ...options } = asked;
          const notes: string[] = [];
          const given = {
            args: ref === undefined ? [] : [String(ref)],
            options: { store, namespace, ...options },
            progress: () => () => {},
            note: (message: string) => void notes.push(message),
          };
          const text = await runModule(module, given, (output) => output.text(PLAIN));
          return { content: [{ type: "text", text: [text, ...notes].join("\n") }] };
        },
      );
    }
    return server;
  };
  serveStdio(createServer, { onerror: ({ message }) => note(message) });
}
