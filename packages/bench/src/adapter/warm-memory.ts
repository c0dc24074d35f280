import { memoryStore, QavrError } from "@qavr/core";
import { type Qavr, type QavrRetriever, qavr } from "@qavr/langchain";
import type { DocumentIndex } from "./document-index.js";

/** Candidates that are asked for, and how many are returned. */
export const FETCHED = 50;
export const RETURNED = 5;

/** A memory that knows every candidate of every question, in memory: what is timed is not the disk. */
export interface WarmMemory {
  readonly memory: Qavr;
  readonly retriever: QavrRetriever;
}

/**
 * Shows all candidates of each question once, then the usual few, and lets every other one succeed.
 *
 * @throws INVALID_STATE when a candidate stayed cold: the bench would then time an easier job than it says.
 */
export async function warmMemory({ store, question, queries }: DocumentIndex): Promise<WarmMemory> {
  const memory = qavr({ store: memoryStore(), logger: {} });
  const retriever = memory.retriever(store, { k: RETURNED, fetchK: FETCHED });
  const all = memory.retriever(store, { k: FETCHED, fetchK: FETCHED });
  for (let query = 0; query < queries; query++) {
    for (const one of [all, retriever]) {
      const [first] = await one.invoke(question(query));
      if (first) await memory.report(first, { success: query % 2 === 0, tier: "verified" });
    }
  }
  for (let query = 0; query < queries; query++) {
    for (const document of await all.invoke(question(query))) {
      if (((await memory.explain(document))?.evidence ?? 0) > 0) continue;
      const message = `A candidate of query ${query} stayed cold; the bench would not measure ranking.`;
      throw new QavrError("INVALID_STATE", message);
    }
  }
  return { memory, retriever };
}
