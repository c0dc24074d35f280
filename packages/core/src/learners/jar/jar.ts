import { AdvantageTable } from "../advantage-table.js";
import { type AdvantageVector, advantageVectorCodec, keepAlong } from "../advantage-vector.js";
import type { Learner } from "../learner.js";
import { checkSettings, oneOf, whole } from "../legality.js";
import { observeSpread } from "../running-spread.js";
import { gate, scalarUtility } from "./formulas.js";
import { learn, refit, unlearn } from "./learn.js";
import { JAR, JAR_SETTINGS, type JarSetting } from "./parameters.js";
import { score } from "./score.js";
import { type JarShared, sharedCodec } from "./state.js";

/** More would hold the store for longer than any of them is worth. */
const MOST_REVISITS = 100;

export interface JarOptions {
  /** From most gain to most safety on kinds of request that were never met. Each keeps its own state. @default "balanced" */
  readonly setting?: JarSetting;
  /** Old runs fitted again after each new one, 0 to 100: more fit better and write more states (about five each). @default 20 */
  readonly revisits?: number;
}

/**
 * **Joint advantage replay**, `jar@1`.
 *
 * An additive logistic model of a run: how likely it succeeds is the sum of what its kind of request expects and of what each
 * memory shown adds to such requests. Every run carries one number, its residual; a memory's vector sums the residuals of its
 * runs along their requests. A few old runs are fitted again after each new one, so that the memories of a run share its
 * success and its blame jointly. No learning rate, no random numbers.
 *
 * - **Score**: {@link score}. **Learning**: {@link learn}, {@link refit}. **Numbers**: parameters.ts.
 * - **Settings**: `balanced` gains most; `guard` keeps learning away from requests unlike any it has met; `strict` does so with
 *   a wider margin and protects untried memories for longer.
 * - **State**: 1 KiB + 16 bytes per memory that taught (256 dims), 2 KiB per collection (34 KiB with `guard` and `strict`), and
 *   one short state per remembered run.
 * - **Order**: not order-independent; equal ledgers give equal bytes.
 * - **Wrong choice** when writes are dear: each revisited run writes its episode and some five memories again.
 */
export function jar({
  setting = "balanced",
  revisits = JAR.revisits,
}: JarOptions = {}): Learner<JarShared, AdvantageVector, AdvantageTable> {
  checkSettings(
    "jar",
    { setting, revisits },
    { setting: oneOf(...Object.keys(JAR_SETTINGS)), revisits: whole(0, MOST_REVISITS) },
  );
  const numbers = JAR_SETTINGS[setting];
  return {
    id: setting === "balanced" ? "jar@1" : `jar@1/${setting}`,
    shared: sharedCodec,
    memory: advantageVectorCodec,
    createTable: () => new AdvantageTable(),
    score: (request) => score(request, numbers),
    observe: observeSpread,
    learn: (lesson) => learn(lesson, numbers),
    revisits: { log: JAR.log, count: revisits, fit: refit },
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
