import type { MemoryVectorStore } from "@langchain/classic/vectorstores/memory";
import { type LogFields, type MemoryView, memoryStore } from "@qavr/core";
import { type Qavr, type QavrOptions, type QavrRetriever, qavr } from "../../src/index.js";
import { memoryVectorStore, only } from "./corpus.js";

/** A request that three memories of the corpus are about. */
export const QUESTION = "payment queue stuck";

export const RUN_ID = "99999999-9999-4999-8999-999999999991";
export const NEXT_RUN_ID = "99999999-9999-4999-8999-999999999992";

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

/** Memories with evidence for (+1) or against (−1) them, by their runs in a namespace or by votes. */
export async function credit(memory: Qavr, namespace: string = "default"): Promise<Record<string, 1 | -1>> {
  const { collections } = await memory.status({ namespace });
  const views = await Promise.all(
    collections.map(({ collection }) => memory.engine.memories({ namespace, collection })),
  );
  const judged = views.flatMap(({ memories }) => memories).map(({ id, ...known }) => [id, verdictOn(known)] as const);
  return Object.fromEntries(judged.filter(([, verdict]) => verdict !== 0)) as Record<string, 1 | -1>;
}

/** A vote decides before the ends of runs. */
function verdictOn({ successes, failures, helpful, harmful }: Omit<MemoryView, "id">): number {
  return Math.sign(helpful - harmful) || Math.sign(successes - failures);
}

/** True if no run and no episode is left open. */
export async function nothingOpen(memory: Qavr): Promise<boolean> {
  const { episodes } = await memory.status();
  return memory.handler.openRuns === 0 && episodes.open === 0;
}
