import type { MemoryVectorStore } from "@langchain/classic/vectorstores/memory";
import { type LogFields, memoryStore } from "@qavr/core";
import { type Qavr, type QavrOptions, type QavrRetriever, qavr } from "../../src/index.js";
import { memoryVectorStore, only } from "./corpus.js";

/** One log line. */
export type Line = LogFields & { readonly level: "debug" | "info" | "warn" | "error"; readonly message: string };

/** A memory with everything that a test wants to see of it. */
export interface Bench {
  readonly memory: Qavr;
  readonly vectors: MemoryVectorStore;
  /** Shows two memories of `vectors`. */
  readonly retriever: QavrRetriever;
  /** Shows exactly the named memory. */
  readonly showing: (id: string) => QavrRetriever;
  /** Coded log lines so far. */
  readonly codes: () => string[];
  readonly lines: Line[];
}

export async function bench(options: QavrOptions = {}): Promise<Bench> {
  const lines: Line[] = [];
  const write =
    (level: Line["level"]) =>
    (message: string, fields: LogFields): void => {
      lines.push({ ...fields, level, message });
    };
  const logger = { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
  const memory = qavr({ store: memoryStore(), logger, ...options });
  const vectors = await memoryVectorStore();
  return {
    memory,
    vectors,
    retriever: memory.retriever(vectors, { k: 2 }),
    showing: (id) => memory.retriever(vectors, { k: 1, filter: only(id) }),
    codes: () => lines.map(({ code }) => code),
    lines,
  };
}

/** The memories with evidence in a namespace, for (+1) or against (−1) them. */
export async function credit(memory: Qavr, namespace?: string): Promise<Record<string, 1 | -1>> {
  const { collections } = await memory.status(namespace === undefined ? {} : { namespace });
  const known = collections.flatMap(({ best, worst }) => [...best, ...worst]).filter(({ evidence }) => evidence > 0);
  return Object.fromEntries(known.map(({ id, utility }) => [id, utility > 0 ? 1 : -1]));
}

/** True if no run and no episode is left open. */
export async function nothingOpen(memory: Qavr, namespace?: string): Promise<boolean> {
  const { episodes } = await memory.status(namespace === undefined ? {} : { namespace });
  return memory.handler.openRuns === 0 && episodes.open === 0;
}
