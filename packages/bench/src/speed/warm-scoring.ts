import { type Candidate, type Learner, memoryStore, oar, type Scores } from "@qavr/core";
import type { VectorIndex } from "./vector-index.js";
import { FETCHED, warmEngine } from "./warm-engine.js";

type ScoredRequest = Parameters<Learner["score"]>[0];

/** A learner's arithmetic without an engine around it, on the states that an engine has taught it. */
export interface WarmScoring {
  /** Scores the 50 candidates of a query, already looked up. */
  score(query: number): Scores;
  /** Searches and looks the states of what was found up by id. */
  lookUp(query: number): FoundStates;
  /** The same, then scores what was found. */
  lookUpAndScore(query: number): ScoredStates;
}

/** What a search found, and where the states of that lie. */
interface FoundStates {
  readonly candidates: readonly Candidate[];
  readonly rows: Int32Array;
  readonly similarities: Float64Array;
}

interface ScoredStates {
  readonly candidates: readonly Candidate[];
  readonly scores: Scores;
}

/** Takes down the very requests that an engine gave its learner. */
export async function warmScoring(index: VectorIndex): Promise<WarmScoring> {
  const learner = oar() as Learner;
  let last: ScoredRequest | undefined;
  const listening: Learner = {
    ...learner,
    score(request) {
      last = request;
      return learner.score(request);
    },
  };
  const { engine, request } = await warmEngine(index, memoryStore(), listening);
  const requests: ScoredRequest[] = [];
  const rowOf = new Map<string, number>();
  for (let query = 0; query < index.queries.length; query++) {
    const asked = request(query, { record: false });
    await engine.rank(asked);
    const scored = last as ScoredRequest;
    requests.push(scored);
    asked.candidates.forEach(({ id }, place) => {
      rowOf.set(id, scored.rows[place] as number);
    });
  }
  function lookUp(query: number): FoundStates {
    const { candidates } = request(query);
    const rows = new Int32Array(FETCHED);
    const similarities = new Float64Array(FETCHED);
    candidates.forEach(({ id, similarity }, place) => {
      rows[place] = rowOf.get(id) as number;
      similarities[place] = similarity;
    });
    return { candidates, rows, similarities };
  }

  return {
    score: (query) => learner.score(requests[query] as ScoredRequest),
    lookUp,
    lookUpAndScore(query) {
      const { candidates, rows, similarities } = lookUp(query);
      return { candidates, scores: learner.score({ ...(requests[query] as ScoredRequest), rows, similarities }) };
    },
  };
}
