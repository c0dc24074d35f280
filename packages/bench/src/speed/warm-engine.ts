import {
  type Candidate,
  createEngine,
  type Engine,
  type Learner,
  QavrError,
  type RankRequest,
  type Store,
} from "@qavr/core";
import type { VectorIndex } from "./vector-index.js";

/** Candidates that are fetched and results that are shown, as in the demo's proportions. */
export const FETCHED = 50;
export const SHOWN = 10;
/** Memories that an outcome teaches in the third part of the bench. */
export const TAUGHT = 5;

/** Text of about the length of a short lesson. */
const TEXT =
  "When the card has not arrived after two weeks, check the address first, then offer a new one at no cost. ".repeat(2);

/** An engine whose store knows every candidate of every query, with requests to rank for. */
export interface WarmEngine {
  readonly engine: Engine;
  /** Searches and maps the hits to candidates: what an adapter does before it calls the engine. */
  request(
    query: number,
    options?: { readonly topK?: number; readonly texts?: boolean; readonly record?: boolean },
  ): RankRequest;
}

/**
 * Shows all candidates of each query once, then a usual short list, and lets every other run succeed: no candidate is cold
 * afterwards and the collection's spread is known.
 *
 * @throws INVALID_STATE when a candidate stayed cold: the bench would then time an easier job than it says.
 */
export async function warmEngine(index: VectorIndex, store: Store, learner?: Learner): Promise<WarmEngine> {
  const engine = createEngine({ store, ...(learner ? { learner } : {}) });
  // A store in this process hands out the ids that its documents carry: the same strings every time.
  const ids = Array.from({ length: index.count }, (_, label) => `m${label}`);
  const request: WarmEngine["request"] = (query, { topK = SHOWN, texts = false, record = true } = {}) => {
    const { neighbors, distances } = index.search(query, FETCHED);
    const candidates = neighbors.map((label, place): Candidate => {
      const similarity = 1 - (distances[place] as number);
      const id = ids[label] as string;
      return texts ? { id, similarity, text: `${label} ${TEXT}` } : { id, similarity };
    });
    return { vector: index.queries[query] as Float32Array, candidates, topK, record };
  };
  for (let query = 0; query < index.queries.length; query++) {
    for (const topK of [FETCHED, TAUGHT]) {
      const { episode } = await engine.rank(request(query, { topK }));
      await engine.end(episode, { reward: query % 2 === 0, tier: "verified" });
    }
  }
  for (let query = 0; query < index.queries.length; query++) {
    const { order, items } = await engine.rank(request(query, { topK: FETCHED, record: false }));
    if (order !== "learned" || items.some((item) => item.evidence === 0)) {
      throw new QavrError(
        "INVALID_STATE",
        `Candidates of query ${query} stayed cold; the bench would not measure ranking.`,
      );
    }
  }
  return { engine, request };
}
