import { QavrError } from "@qavr/core";
import { withinBudget } from "@qavr/core/adapter";
import type { MemoryParts } from "../memory-parts.js";
import type { AgentRun } from "../runs/agent-run.js";
import { storable } from "../runs/aliases.js";
import { COLLECTION_BUDGET, COLLECTION_TOP_K, type CollectionHit, type CollectionOptions } from "./collections.js";
import { rankHits } from "./rank-hits.js";
import { type BlockEntry, collectionBlock } from "./recalled-block.js";

/** Asks every collection for a run's request and returns their blocks for the prompt, in the order of the options. */
export async function recallCollections(
  parts: Pick<MemoryParts, "kit" | "options">,
  run: AgentRun,
  text: string,
): Promise<string[]> {
  const { kit, options } = parts;
  const blocks: string[] = [];
  // One after the other, since handles are numbered in this order.
  for (const collection of options.collections ?? []) {
    try {
      const memories = await recallOne(parts, collection, run, text);
      if (memories.length > 0) blocks.push(collectionBlock(collection, memories));
    } catch (error) {
      const { name } = collection.collection;
      kit.failOpen("COLLECTION_FAILED", `The collection ${name} could not be recalled.`, { error });
    }
  }
  return blocks;
}

async function recallOne(
  parts: Pick<MemoryParts, "kit" | "options">,
  { collection, topK = COLLECTION_TOP_K, budget = COLLECTION_BUDGET, minWorth }: CollectionOptions,
  run: AgentRun,
  text: string,
): Promise<readonly BlockEntry[]> {
  const { namespace, threadId, resourceId, runId } = run;
  const limit = (await parts.kit.fetchSize({ namespace, topK }, runId)) ?? topK;
  const hits = withText(await collection.search({ text, limit, threadId, resourceId }));
  if (hits.length === 0) return [];
  const choose = (places: readonly number[]): number[] =>
    withinBudget(places, budget, (place) => (hits[place] as CollectionHit).text.length);
  const ranked = await rankHits(parts, run, { collection: collection.name, text, hits, topK, choose, minWorth });
  return ranked ?? withinBudget(hits.slice(0, topK), budget, (hit) => hit.text.length);
}

/** Each memory once, at its first place; memories without text are left out, since they would take places and show nothing. */
function withText(found: readonly CollectionHit[]): CollectionHit[] {
  const hits = new Map<string, CollectionHit>();
  for (const hit of found) {
    const id = storable(hit.id);
    if (typeof hit.text === "string" && hit.text.trim() !== "" && !hits.has(id)) hits.set(id, { ...hit, id });
  }
  if (hits.size === 0 && found.length > 0) {
    throw new QavrError(
      "INVALID_ARGUMENT",
      "The collection found memories without a text. Return { id, text, similarity }.",
    );
  }
  return [...hits.values()];
}
