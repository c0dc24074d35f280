import { createEngine, type Engine, type Learner, QavrError, type Store } from "@qavr/core";
import { type SearchRequest, searchRequest } from "./search-request.js";
import type { VectorIndex } from "./vector-index.js";

/** Candidates that are fetched and results that are shown, as in the demo's proportions. */
export const FETCHED = 50;
export const SHOWN = 10;
/** Memories that an outcome teaches in the third part of the bench. */
export const TAUGHT = 5;

/** An engine whose store knows every candidate of every query, with requests to rank for. */
export interface WarmEngine {
  readonly engine: Engine;
  readonly request: SearchRequest;
}

/**
 * Shows all candidates of each query once, then a usual short list, and lets every other run succeed: no candidate is cold
 * afterwards and the collection's spread is known.
 *
 * @throws INVALID_STATE when a candidate stayed cold: the bench would then time an easier job than it says.
 */
export async function warmEngine(index: VectorIndex, store: Store, learner?: Learner): Promise<WarmEngine> {
  // Outcomes do not depend on the memories: controls would become the rule.
  const engine = createEngine({ store, holdout: 0, ...(learner ? { learner } : {}) });
  const request = searchRequest(index, { fetched: FETCHED, shown: SHOWN });
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
