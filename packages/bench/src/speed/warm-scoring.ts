import { type Learner, memoryStore, oar } from "@qavr/core";
import type { Scores } from "@qavr/core/learner";
import type { VectorIndex } from "./vector-index.js";
import { warmEngine } from "./warm-engine.js";

type ScoredRequest = Parameters<Learner["score"]>[0];

/** The default learner's arithmetic alone, on the states that an engine has taught it: scores the 50 candidates of a query. */
export async function warmScoring(index: VectorIndex): Promise<(query: number) => Scores> {
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
  for (let query = 0; query < index.queries.length; query++) {
    await engine.rank(request(query, { record: false }));
    requests.push(last as ScoredRequest);
  }
  return (query) => learner.score(requests[query] as ScoredRequest);
}
