import { QavrError } from "@qavr/core";
import { failOpen, type Internals } from "../internals.js";
import { MAX_FETCH_K } from "../memory-options.js";
import type { RecalledMemory, RunEpisode } from "../runs/run-episode.js";
import { storable } from "../runs/storable.js";
import { COLLECTION_BUDGET, COLLECTION_TOP_K, type CollectionHit, type CollectionOptions } from "./collections.js";
import { inOpenEpisode } from "./ranked-query.js";
import { collectionBlock } from "./recalled-block.js";

/** One run's question to the collections. */
export interface CollectionRecall {
  readonly run: RunEpisode;
  readonly text: string;
}

/** Asks every collection and returns their blocks for the prompt, in the order of the options. */
export async function recallCollections(internals: Internals, recall: CollectionRecall): Promise<string[]> {
  const blocks: string[] = [];
  // One after the other: handles are given out in this order.
  for (const options of internals.options.collections ?? []) {
    try {
      const memories = await recallOne(internals, options, recall);
      if (memories.length > 0) blocks.push(collectionBlock(options, memories));
    } catch (error) {
      failOpen(internals, "COLLECTION_FAILED", `The collection ${options.collection.name} could not be recalled.`, {
        error,
      });
    }
  }
  return blocks;
}

async function recallOne(
  internals: Internals,
  { collection, topK = COLLECTION_TOP_K, budget = COLLECTION_BUDGET }: CollectionOptions,
  { run, text }: CollectionRecall,
): Promise<readonly RecalledMemory[]> {
  const { engine } = internals;
  const { namespace, context, threadId, resourceId } = run;
  const limit = Math.min(MAX_FETCH_K, await engine.fetchSize({ namespace, topK }));
  const hits = tellable(await collection.search({ text, limit, threadId, resourceId }));
  if (hits.length === 0) return [];
  const request = {
    namespace,
    context,
    collection: collection.name,
    text,
    candidates: hits,
    topK,
  };
  const ranking = run.recorded
    ? await inOpenEpisode(internals, run, (episode) => engine.rank({ ...request, episode }))
    : await engine.rank({ ...request, record: false });
  const memories = ranking.items.map(
    (item): RecalledMemory => ({
      id: item.id,
      handle: item.handle,
      collection: collection.name,
      text: (hits[item.index] as CollectionHit).text,
      item,
    }),
  );
  const fitting = withinBudget(memories, budget);
  if (run.recorded && fitting.length < memories.length) {
    engine.narrow(
      ranking.episode,
      ranking.exposure,
      fitting.map(({ id }) => id),
    );
  }
  run.memories.push(...fitting);
  return fitting;
}

/** Each memory once, where it stands first, and only those that say something: the others would take places and show nothing. */
function tellable(found: readonly CollectionHit[]): CollectionHit[] {
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

/** The memories whose texts fit, best first; a long one makes room for shorter ones behind it. */
function withinBudget(memories: readonly RecalledMemory[], budget: number): RecalledMemory[] {
  let left = budget;
  return memories.filter(({ text = "" }) => {
    if (text.length > left) return false;
    left -= text.length;
    return true;
  });
}
