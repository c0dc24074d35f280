import { contribute } from "../contribution.js";
import { DecodedTable } from "../decoded-table.js";
import type { Learner } from "../learner.js";
import { noState } from "../no-state.js";

/**
 * **No learning**, `similarity@1`: the host's order, with exposures and outcomes recorded all the same. The baseline of every
 * benchmark, and the way to fill a ledger first and decide about learning later (replay it with another learner).
 *
 * Wrong choice whenever outcomes are known: it forgets nothing because it learns nothing.
 */
export function similarity(): Learner<null, null, DecodedTable<null>> {
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
