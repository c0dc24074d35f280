import { AdvantageTable } from "../advantage-table.js";
import { advantageVectorCodec, keepAlong } from "../advantage-vector.js";
import type { Learner } from "../learner.js";
import { observeSpread } from "../running-spread.js";
import { gate, scalarUtility } from "./formulas.js";
import { learn, unlearn } from "./learn.js";
import { score } from "./score.js";
import { type CavMemory, type CavShared, sharedCodec } from "./state.js";

/**
 * **Context advantage vectors**, `cav@1`.
 *
 * Per memory one small vector that sums how much better than expected runs went when the memory was shown, in which direction
 * of request space. A memory is good *for* something; what was to be expected anyway is subtracted; little evidence moves
 * little; fillers at the bottom of a list earn little; learning gates itself by whether its predictions come true.
 * Deterministic: no random numbers, no exploration.
 *
 * - **Score**: {@link score}. **Learning**: {@link learn}. **Numbers**: parameters.ts.
 * - **State**: 1 KiB + 16 bytes per memory that taught (256 dims); one shared state of 2 KiB per collection.
 * - **Order**: vectors are not order-independent; equal ledgers give equal bytes.
 * - **Wrong choice** when outcomes lie (no ranker can notice: accept verified ones only), when every need occurs once, or when
 *   similarity is near-perfect and no memory misleads: then it costs up to 0.02 of success.
 */
export function cav(): Learner<CavShared, CavMemory, AdvantageTable> {
  return {
    id: "cav@1",
    shared: sharedCodec,
    memory: advantageVectorCodec,
    createTable: () => new AdvantageTable(),
    score,
    observe: observeSpread,
    learn,
    unlearn,
    discount: keepAlong,
    describe: (memory) => ({ utility: scalarUtility(memory.advantage, memory.evidence), evidence: memory.evidence }),
    summarize: (shared) => ({
      lessons: shared.lessons,
      gate: gate(shared),
      spread: shared.spread,
      dims: shared.mean.length,
    }),
  };
}
