import { join } from "node:path";
import { Agent } from "@mastra/core/agent";
import { noopLogger } from "@mastra/core/logger";
import { LibSQLStore, LibSQLVector } from "@mastra/libsql";
import { Memory } from "@mastra/memory";
import { type LearningOptions, QavrMemory } from "@qavr/mastra";
import type { Desk } from "./desk.js";
import { hashedEmbedder } from "./hashed-embedder.js";
import { scriptedModel } from "./scripted-model.js";

/** How a memory is wired up. */
export interface Wiring {
  /** Undefined for Mastra's own memory. */
  readonly qavr: LearningOptions | undefined;
  /** Messages before and after each that is recalled. @default 1, as in Mastra */
  readonly messageRange?: number;
  /** How many messages are recalled. @default 4, as in Mastra */
  readonly topK?: number;
}

const DESK = "desk";
const DAY = 86_400_000;

/** An agent at a desk, with a memory of its own. */
export interface DeskAgent {
  /** Works on a ticket on a thread of its own. True when that went well. */
  work(run: number): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * Sits an agent down and tells it the desk's notes.
 *
 * @param folder where its storage and vectors are kept: LibSQL files
 */
export async function createDeskAgent(
  desk: Desk,
  folder: string,
  { qavr, messageRange = 1, topK = 4 }: Wiring,
): Promise<DeskAgent> {
  const fields = {
    storage: new LibSQLStore({ id: "storage", url: `file:${join(folder, "storage.db")}` }),
    vector: new LibSQLVector({ id: "vectors", url: `file:${join(folder, "vectors.db")}` }),
    embedder: hashedEmbedder(),
    options: { lastMessages: 2, semanticRecall: { topK, messageRange } },
  };
  const memory = qavr ? new QavrMemory({ ...fields, qavr }) : new Memory(fields);
  let current: number | undefined;
  const model = scriptedModel((prompt) => {
    const text = current === undefined ? "Noted." : desk.ticket(current).answer(prompt);
    return text === undefined ? { error: new Error("the fix did not help") } : { text };
  });
  const agent = new Agent({ id: DESK, name: DESK, instructions: "Solve tickets.", model, memory, maxRetries: 0 });
  agent.__setLogger(noopLogger as never);
  const say = async (text: string, thread: string): Promise<boolean> => {
    try {
      const output = await agent.stream(text, { memory: { thread, resource: DESK } });
      await output.consumeStream();
      return output.status === "success";
    } catch {
      return false;
    }
  };
  for (const [place, { text, age }] of desk.notes.entries()) {
    const threadId = `note-${place}`;
    if (age === 0) await say(text, threadId);
    else {
      await memory.createThread({ threadId, resourceId: DESK });
      const content = { format: 2 as const, parts: [{ type: "text" as const, text }] };
      const createdAt = new Date(Date.now() - age * DAY);
      const note = { id: threadId, role: "user" as const, threadId, resourceId: DESK, createdAt, content };
      await memory.saveMessages({ messages: [note] });
    }
  }
  return {
    work(run) {
      current = run;
      return say(desk.ticket(run).text, `ticket-${run}`);
    },
    async close() {
      if (memory instanceof QavrMemory) await memory.close();
    },
  };
}
