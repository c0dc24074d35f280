import type { VectorStoreInterface } from "@langchain/core/vectorstores";
import type { RankingOptions } from "./ranking-options.js";

/**
 * Names the space of a store's query vectors by embedding model (where it tells) and length, so that a change of model ranks
 * on without the old vectors instead of failing.
 */
export function spaceOf(store: VectorStoreInterface, vector: readonly number[], { space }: RankingOptions): string {
  if (space !== undefined) return space;
  const { model, modelName } = (store.embeddings ?? {}) as { model?: unknown; modelName?: unknown };
  const named = model ?? modelName;
  return `${typeof named === "string" && named !== "" ? named : "host"}/${vector.length}`;
}
