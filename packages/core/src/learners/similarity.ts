import { contribute } from "./contribution.js";
import type { Learner } from "./learner.js";
import { DecodedTable, noState } from "./one-by-one.js";

/** The learner that `similarity` returns, named for the declarations of other packages. */
export interface SimilarityLearner extends Learner<null, null, DecodedTable<null>> {}

/**
 * **No learning**, `similarity@1`: the host's order; exposures and outcomes are recorded. It is the baseline of every benchmark.
 * With it an application fills a ledger first and decides about learning later (replay the ledger with another learner).
 *
 * Wrong choice when outcomes are known: it learns nothing from them.
 */
export function similarity(): SimilarityLearner {
  return {
    id: "similarity@1",
    fetchK: (topK) => topK,
    shared: noState,
    memory: noState,
    createTable: () => new DecodedTable(noState),
    score: ({ similarities }) => ({
      score: similarities,
      utility: new Float64Array(similarities.length),
      evidence: new Float64Array(similarities.length),
      gate: 0,
      unchanged: true,
    }),
    observe() {},
    learn: (lesson) => contribute(lesson, {}),
    unlearn() {},
    discount() {},
    describe: () => ({ utility: 0, evidence: 0 }),
    summarize: () => ({}),
  };
}
