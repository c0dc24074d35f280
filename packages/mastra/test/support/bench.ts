import { randomUUID } from "node:crypto";
import { Agent, type AgentConfig } from "@mastra/core/agent";
import { noopLogger } from "@mastra/core/logger";
import type { Memory } from "@mastra/memory";
import type { Store } from "@qavr/core";
import { memoryStore } from "@qavr/core";
import { type LearningOptions, QavrMemory, type QavrMemoryFields, type RunView } from "@qavr/mastra";
import { type Script, scriptedModel } from "./scripted-model.js";
import { libsql } from "./stores.js";
import { wordEmbedder } from "./word-embedder.js";

/** The user whose memories the tests share. */
export const USER = "user";

/** A note of the users, and a request that finds it. */
export const NOTE = "deploy the service with helm upgrade";
export const QUESTION = "how is the service deployed";

export const THREAD = "task";
export const on: { thread: string; resource: string } = { thread: THREAD, resource: USER };

/** A memory with LibSQL files of its own, recalling one message without its neighbours. */
export function bench(qavr: LearningOptions = {}, fields: Partial<QavrMemoryFields> = {}): Bench {
  const { storage, vector } = libsql();
  const ledger = memoryStore();
  const hasLedger = qavr.store !== undefined || "rank" in (qavr.engine ?? {});
  const memory = new QavrMemory({
    storage,
    vector,
    embedder: wordEmbedder(),
    options: { lastMessages: 2, semanticRecall: { topK: 1, messageRange: 0 } },
    ...fields,
    // A busy machine may take longer than a ranking waits.
    qavr: hasLedger ? qavr : { store: ledger, ...qavr, engine: { readTimeout: 60_000, ...qavr.engine } },
  });
  return { memory, storage, vector, ledger };
}

export interface Bench extends ReturnType<typeof libsql> {
  readonly memory: QavrMemory;
  readonly ledger: Store;
}

/** A silent agent that follows a script. */
export function scriptedAgent(
  memory: Memory,
  script: Script,
  config: Partial<AgentConfig> & { readonly id?: string } = {},
): Agent & Pick<ReturnType<typeof scriptedModel>, "prompts" | "offered"> {
  const { model, prompts, offered } = scriptedModel(script);
  const { id = "agent" } = config;
  const agent = new Agent({
    name: id,
    instructions: "Answer.",
    model,
    memory,
    maxRetries: 0,
    ...config,
    id,
  } as AgentConfig);
  agent.__setLogger(noopLogger as never);
  return Object.assign(agent, { prompts, offered });
}

/** Puts a text into the user's memory, as a turn that went well on a thread of its own. Returns the id of its message. */
export async function remember(
  memory: Memory,
  text: string,
  { thread = randomUUID(), resource = USER }: { readonly thread?: string; readonly resource?: string } = {},
): Promise<string> {
  await scriptedAgent(memory, [{ text: "noted" }]).generate(text, { memory: { thread, resource } });
  const store = await memory.storage.getStore("memory");
  const stored = await store?.listMessages({ threadId: thread, perPage: false });
  return stored?.messages.find(({ role }) => role === "user")?.id ?? "";
}

/** The ledger's record of the thread's latest run. */
export function latest(memory: QavrMemory, threadId: string): Promise<RunView | undefined> {
  return memory.explain({ threadId });
}
